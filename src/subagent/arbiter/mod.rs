//! Who is asked before a background agent starts.

mod answer;
mod ask;
mod judge;
mod prompt;
mod refusal;
mod scope;
#[cfg(test)]
mod tests;

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::event::{DispatchRoute, ThinkingLevel};

pub use judge::{Judge, ModelArbiter};
pub use refusal::Refusal;
pub use scope::{Resolve, Scope};

/// A background agent, or a step of a chain, that is about to start.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// Its `agentId`.
    pub agent_id: String,
    /// The step of a chain, from 1.
    pub step: Option<u64>,
    /// The definition that was asked for, which need not be there.
    pub agent: String,
    /// Names of models, the first that can be used counts.
    pub models: Vec<String>,
    /// The thinking level, which the model need not have.
    pub thinking: ThinkingLevel,
    /// What it is to do.
    pub task: String,
}

/// What becomes of a proposal.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// It starts on this route.
    Start(DispatchRoute),
    /// It does not start; why, for the parent's model.
    Refuse(String),
}

/// A decision and its price.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided {
    /// What becomes of the proposal.
    pub decision: Decision,
    /// What it has cost to decide, in US dollars.
    pub cost: f64,
}

/// Decides on the route of each background agent, after its `background_agent_start` and before it
/// starts. Whoever decides also tells of it (`subagent_arbitration`) before the decision is given.
pub trait Arbiter: Send + Sync {
    /// Decides; at once, by a refusal, when `stop` is cancelled.
    fn decide<'a>(
        &'a self,
        proposal: Proposal,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Decided>;
}
