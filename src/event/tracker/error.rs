//! What can be wrong with the place of an event.

use std::fmt;

use super::super::fold::{Disagreement, FoldError};

/// An event that the grammar does not allow where it stands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("event {number} ({event}): {fault}")]
pub struct OrderError {
    /// Which event of the stream it is; the header is 1.
    pub number: u64,
    /// Its type.
    pub event: &'static str,
    /// What is wrong with it.
    pub fault: OrderFault,
}

/// Why an event is not allowed where it stands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OrderFault {
    /// Another event has to come here.
    #[error("not allowed {place}; expected {}", place.expected())]
    Place {
        /// Where the stream is.
        place: Place,
    },
    /// Something has to end before this event.
    #[error("not allowed before the end of the {what} {id}")]
    Open {
        /// What is open: `tool`, `compaction` …
        what: &'static str,
        /// Its id or index; empty if there is only one at a time.
        id: String,
    },
    /// What this event continues or ends is not open.
    #[error("no open {what} {id}; {open}")]
    NotOpen {
        /// What it would belong to: `tool`, `compaction` …
        what: &'static str,
        /// The id that the event names; empty if there is only one at a time.
        id: String,
        /// The ids that are open.
        open: OpenIds,
    },
    /// An id or index that was used before.
    #[error("the {what} {id} was started before")]
    Reused {
        /// What was to start.
        what: &'static str,
        /// Its id.
        id: String,
    },
    /// The event says something else than the events before it.
    #[error("its {what} differs from {from}")]
    Differs {
        /// The field.
        what: &'static str,
        /// Where the other value stands.
        from: &'static str,
    },
    /// A field that an event of its kind does not have there.
    #[error("it has a {what}, which only the start and the end of a tool call have")]
    Extra {
        /// The field.
        what: &'static str,
    },
    /// A delta that does not fit the ones before it.
    #[error(transparent)]
    Fold(#[from] FoldError),
    /// A message that its deltas contradict.
    #[error(transparent)]
    Message(#[from] Disagreement),
}

/// The ids that are open at some place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenIds(pub Vec<String>);

impl fmt::Display for OpenIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            f.write_str("none is open")
        } else {
            write!(f, "open: {}", self.0.join(", "))
        }
    }
}

/// Where a stream is: the states of the native grammar, those of an open message or compaction
/// taken together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// Nothing is written.
    #[default]
    Start,
    /// The header is written and no run is open.
    BetweenRuns,
    /// A run has ended with `willRetry: true`.
    RetryAnnounced,
    /// The wait before a retry.
    RetryWait,
    /// A run has begun and has had no turn.
    Run,
    /// A turn has begun and has no answer.
    Turn,
    /// The answer is being written.
    Answer,
    /// The `message_start` of a request that failed before it was accepted is written.
    FailedRequest,
    /// A good answer has ended.
    Answered,
    /// The tools of an answer run.
    Tools,
    /// The tool-result messages of a turn are being written.
    Results,
    /// A turn with a good answer is over.
    BetweenTurns,
    /// The run gives way to background agents.
    Pausing,
    /// A failed or aborted answer has ended.
    Broken,
    /// The turn of a failed or aborted answer is over.
    BrokenTurn,
    /// A message other than an answer is open.
    Message,
    /// A compaction runs.
    Compaction,
    /// The terminal line is written.
    End,
}

impl Place {
    /// The place in words, to follow "not allowed".
    fn name(self) -> &'static str {
        match self {
            Self::Start => "before the header",
            Self::BetweenRuns => "outside a run",
            Self::RetryAnnounced => "after a run that announced a retry",
            Self::RetryWait => "in the wait before a retry",
            Self::Run => "at the begin of a run",
            Self::Turn => "before the answer of a turn",
            Self::Answer => "inside an answer",
            Self::FailedRequest => "inside an answer that failed from the start",
            Self::Answered => "after an answer",
            Self::Tools => "while tools run",
            Self::Results => "among the tool results of a turn",
            Self::BetweenTurns => "between two turns",
            Self::Pausing => "in a run that gives way to background agents",
            Self::Broken => "after a broken answer",
            Self::BrokenTurn => "after the turn of a broken answer",
            Self::Message => "inside a message",
            Self::Compaction => "inside a compaction",
            Self::End => "after stream_end",
        }
    }

    /// What may come here, beside the events that are allowed in many places.
    fn expected(self) -> &'static str {
        match self {
            Self::Start => "session",
            Self::BetweenRuns => {
                "agent_start, compaction_start, the end of a series of retries, a custom message \
                 or stream_end"
            }
            Self::RetryAnnounced => "auto_retry_start",
            Self::RetryWait => "agent_start, or auto_retry_end without success",
            Self::Run => "turn_start, a threshold compaction or agent_end",
            Self::Turn => "message_start of a user, custom or assistant message",
            Self::Answer => "message_update, or message_end with a final stop reason",
            Self::Answered => {
                "auto_retry_end with success if retries led here, tool_execution_start or turn_end"
            }
            Self::Tools => "an event of a tool, a message_start of a tool result or turn_end",
            Self::Results => "message_start of a tool result or turn_end",
            Self::BetweenTurns => {
                "turn_start, a threshold compaction, parent_paused_for_background_agents or \
                 agent_end"
            }
            Self::Pausing => "agent_end without a retry",
            Self::Broken => "turn_end",
            Self::BrokenTurn => "agent_end",
            Self::FailedRequest | Self::Message => "its message_end",
            Self::Compaction => "compaction_progress, summarization_retry_* or compaction_end",
            Self::End => "nothing",
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
