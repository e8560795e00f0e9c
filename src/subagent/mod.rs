//! Background agents: children of this process that work on a task of their own.
//!
//! A child is a `quipu` that speaks the native wire. The [`Manager`] starts it, passes its lines on as
//! events and keeps its result until the agent takes it. Children have their own session, no more
//! rights than their parent, and end with it.

mod arbiter;
mod child;
mod definition;
mod handover;
mod lines;
mod manager;
mod message;
mod process;
mod report;
mod step;
#[cfg(test)]
mod tests;
mod tool;

pub use arbiter::{
    Arbiter, Decided, Decision, Judge, ModelArbiter, Proposal, Refusal, Resolve, Scope,
};
pub use definition::{Definition, Definitions};
pub use handover::Handover;
pub use manager::{AtWork, Config, Manager, Parent, Task, Work};
pub use message::{lost, without_result};
pub use process::{AGENT_VARIABLE, KEY_VARIABLE};
pub use tool::{Subagent, Wait};
