//! The tracker: where a native stream is, whether an event may come there, and what is missing to
//! end it.

mod around;
mod close;
mod error;
mod order;
#[cfg(test)]
mod tests;
mod totals;

pub use close::CloseReason;
pub use error::{OpenIds, OrderError, OrderFault, Place};
pub use totals::Totals;

use super::fold::MessageFold;
use super::{
    AgentMessage, AssistantMessage, BackgroundAgentStartEvent, CompactionStartEvent, ModelRef,
    QuipuEvent, ToolHookStatusEvent, ToolResult, Usage,
};

/// Follows a native stream event by event.
///
/// It keeps what is open and the messages of the current run, nothing of earlier runs.
#[derive(Clone, Debug, Default)]
pub struct Tracker {
    seen: u64,
    /// Never [`Place::Message`] or [`Place::Compaction`]: those lie on top of the place that the
    /// stream comes back to.
    base: Place,
    /// The open message other than an answer.
    message: Option<AgentMessage>,
    compaction: Option<CompactionStartEvent>,
    /// Whether a series of retries of a summary request is open.
    summary_retry: bool,
    /// The open series of retries.
    retry: Option<Retry>,
    /// Messages that ended in the current run.
    messages: Vec<AgentMessage>,
    /// Index of the current turn's answer in `messages`.
    answer_at: usize,
    answer: Answer,
    /// Tools that started in the current turn, in their order.
    tools: Vec<Tool>,
    /// The last event of each hook that runs, in the order of their starts.
    hooks: Vec<ToolHookStatusEvent>,
    /// Background agents of the stream, in the order of their starts.
    agents: Vec<Background>,
    totals: Totals,
    /// What a closing message says of its model.
    model: Option<ModelRef>,
    api: Option<String>,
    /// The error of the last answer that failed.
    last_error: Option<String>,
}

/// The answer of the current turn.
#[derive(Clone, Debug, Default)]
struct Answer {
    start: Option<AssistantMessage>,
    fold: MessageFold,
    /// As the latest `message_update` has it.
    usage: Option<Usage>,
}

#[derive(Clone, Copy, Debug)]
struct Retry {
    attempt: u64,
    max_attempts: u64,
}

#[derive(Clone, Debug)]
struct Tool {
    id: String,
    name: String,
    /// The result and whether it is an error, from the tool's end to its result message.
    outcome: Option<(ToolResult, bool)>,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Running,
    /// Over; its result message is due.
    Over,
    Answered,
}

#[derive(Clone, Debug)]
struct Background {
    start: BackgroundAgentStartEvent,
    /// Whether a line of it has been relayed.
    relayed: bool,
    /// Whether an arbitration refused it.
    refused: bool,
    ended: bool,
}

impl Tracker {
    /// Takes the next event.
    ///
    /// An event in a wrong place changes nothing. One in the right place that contradicts earlier
    /// ones counts, so that the rest of the stream is judged by where it really is.
    pub fn observe(&mut self, event: &QuipuEvent) -> Result<(), OrderError> {
        self.seen += 1;
        self.step(event).map_err(|fault| OrderError {
            number: self.seen,
            event: event.kind(),
            fault,
        })
    }

    /// Where the stream is.
    #[must_use]
    pub fn place(&self) -> Place {
        if self.message.is_some() {
            Place::Message
        } else if self.compaction.is_some() {
            Place::Compaction
        } else {
            self.base
        }
    }

    /// The blocks of the answer that is open, or of the last one.
    pub(crate) fn answer(&self) -> &MessageFold {
        &self.answer.fold
    }

    /// The messages that ended in the open run.
    pub(crate) fn messages(&self) -> &[AgentMessage] {
        &self.messages
    }

    /// Whether a series of retries is open.
    pub(crate) fn retries(&self) -> bool {
        self.retry.is_some()
    }

    /// Whether a tool runs.
    pub(crate) fn has_running_tool(&self) -> bool {
        self.tools.iter().any(|tool| tool.stage == Stage::Running)
    }

    /// The call whose result message is the next one.
    pub(crate) fn due_result(&self) -> Option<&str> {
        let due = self.tools.iter().find(|tool| tool.stage == Stage::Over);
        due.map(|tool| tool.id.as_str())
    }

    /// The sums for `stream_end`.
    #[must_use]
    pub fn totals(&self) -> &Totals {
        &self.totals
    }
}
