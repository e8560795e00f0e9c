//! From the lines of a wire to native events.

mod dreb;
mod senpi;

pub(super) use dreb::Dreb;
pub(super) use senpi::Senpi;
