//! The native events: generated types, the tracker and the fold.

mod fold;
mod number;
mod partial_json;
#[cfg(test)]
pub(crate) mod sample;
mod tag;
pub mod tracker;
#[allow(
    clippy::all,
    clippy::pedantic,
    reason = "generated; names and sizes are the schema's"
)]
#[rustfmt::skip]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/quipu.rs"));
}

pub use fold::*;
pub use generated::*;
pub use number::Number;
pub use partial_json::{JsonFault, MAX_DEPTH, PartialJson};
