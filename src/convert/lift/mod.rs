//! From the lines of a wire to native events.

mod dreb;
mod quipu;
mod senpi;

pub(super) use dreb::Dreb;
pub(super) use quipu::Native;
pub(super) use senpi::Senpi;
