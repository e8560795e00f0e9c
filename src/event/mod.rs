//! The native events: generated types, the tracker and the fold.

mod number;
mod partial_json;
#[allow(missing_docs, clippy::all, clippy::pedantic)]
#[rustfmt::skip]
mod stub;

pub use number::Number;
pub use partial_json::{JsonFault, MAX_DEPTH, PartialJson};
pub use stub::*;
