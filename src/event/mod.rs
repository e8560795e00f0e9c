//! The native events: generated types, the tracker and the fold.

mod number;
mod tag;
#[allow(
    clippy::all,
    clippy::pedantic,
    reason = "generated; names and sizes are the schema's"
)]
#[rustfmt::skip]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/quipu.rs"));
}

pub use generated::*;
pub use number::Number;
