//! Who is asked before a background agent starts.

use futures_util::future::BoxFuture;

use crate::event::DispatchRoute;

/// A background agent, or a step of a chain, that is about to start.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// Its `agentId`.
    pub agent_id: String,
    /// The step of a chain, from 1.
    pub step: Option<u64>,
    /// What was asked for, defaults filled in.
    pub route: DispatchRoute,
    /// What it is to do.
    pub task: String,
}

/// What becomes of a proposal.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// It starts on this route.
    Start(DispatchRoute),
    /// It does not start.
    Refuse,
}

/// Decides on the route of each background agent, after its `background_agent_start` and before it
/// starts. Whoever decides also tells of it (`subagent_arbitration`) before the decision is given.
pub trait Arbiter: Send + Sync {
    /// Decides. Dropped when the agents are stopped meanwhile.
    fn decide(&self, proposal: Proposal) -> BoxFuture<'_, Decision>;
}
