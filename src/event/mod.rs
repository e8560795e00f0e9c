//! The native events: generated types, the tracker and the fold.

mod number;
#[allow(missing_docs, clippy::all, clippy::pedantic)]
#[rustfmt::skip]
mod stub;

pub use number::Number;
pub use stub::*;
