//! What has to end or begin before an event fits.

use super::Mender;
use crate::event::tracker::Place as P;
use crate::event::{
    AgentEndEvent, AgentMessage, AutoRetryEndEvent, CompactionReason, MessageStartEvent,
    QuipuEvent, StopReason, TurnStartEvent,
};

/// The next thing to do for an event that does not fit.
pub(super) enum Step {
    /// End what is open, innermost first.
    End,
    Begin(Box<QuipuEvent>),
}

impl Mender {
    /// The next step towards a place where an event fits; `None` if no step leads there that leaves
    /// the rest of the stream as it is.
    pub(super) fn step_towards(&self, event: &QuipuEvent) -> Option<Step> {
        use QuipuEvent as E;
        let place = self.place();
        if matches!(place, P::Start | P::End) {
            return None;
        }
        match event {
            E::AgentStart(_) => match place {
                P::BetweenRuns if !self.tracker.retries() => None,
                _ => Some(Step::End),
            },
            E::TurnStart(_) => match place {
                P::BetweenRuns | P::RetryWait => Some(self.run_start()),
                _ => Some(Step::End),
            },
            E::MessageStart(start) => self.for_message(&start.message, place),
            E::MessageEnd(end) => match (&end.message, place) {
                (_, P::Message) => Some(Step::End),
                (_, P::Answer | P::FailedRequest) => None,
                (AgentMessage::User(_) | AgentMessage::Custom(_), _) => {
                    Some(begin(MessageStartEvent {
                        message: end.message.clone(),
                    }))
                }
                _ => None,
            },
            E::TurnEnd(_) => match place {
                P::Turn
                | P::Message
                | P::Answer
                | P::FailedRequest
                | P::Answered
                | P::Tools
                | P::Results
                | P::Compaction => Some(Step::End),
                _ => None,
            },
            E::AgentEnd(_) => match place {
                P::BetweenRuns | P::RetryWait | P::RetryAnnounced => None,
                _ => Some(Step::End),
            },
            E::AutoRetryStart(_) => match place {
                P::BrokenTurn => Some(begin(AgentEndEvent {
                    messages: self.tracker.messages().to_vec(),
                    will_retry: true,
                    abort_cause: None,
                })),
                P::Broken => Some(Step::End),
                _ => None,
            },
            E::AutoRetryEnd(AutoRetryEndEvent { success: false, .. }) if self.tracker.retries() => {
                match place {
                    P::Run
                    | P::BetweenTurns
                    | P::Pausing
                    | P::Broken
                    | P::BrokenTurn
                    | P::RetryAnnounced => Some(Step::End),
                    _ => None,
                }
            }
            E::CompactionStart(start) => match place {
                P::BrokenTurn | P::Pausing => Some(Step::End),
                P::RetryWait if start.reason == CompactionReason::Threshold => {
                    Some(self.run_start())
                }
                P::Run | P::BetweenTurns if start.reason != CompactionReason::Threshold => {
                    Some(Step::End)
                }
                _ => None,
            },
            E::CompactionEnd(end) => match place {
                P::Compaction => Some(Step::End),
                P::Run | P::BetweenTurns | P::Pausing | P::BrokenTurn
                    if end.reason == CompactionReason::Overflow =>
                {
                    Some(Step::End)
                }
                _ => None,
            },
            E::ToolExecutionStart(_) if place == P::Answered && self.tracker.retries() => {
                Some(Step::End)
            }
            E::StreamEnd(_) => Some(Step::End),
            _ => None,
        }
    }

    fn for_message(&self, message: &AgentMessage, place: P) -> Option<Step> {
        match (message, place) {
            (_, P::Message)
            | (
                AgentMessage::Custom(_),
                P::Run
                | P::BetweenTurns
                | P::Pausing
                | P::BrokenTurn
                | P::RetryAnnounced
                | P::Compaction,
            ) => Some(Step::End),
            (AgentMessage::User(_) | AgentMessage::Assistant(_), place) => match place {
                P::Run | P::BetweenTurns => Some(begin(TurnStartEvent {})),
                P::BetweenRuns | P::RetryWait => Some(self.run_start()),
                P::Pausing | P::Broken | P::BrokenTurn | P::RetryAnnounced | P::Compaction => {
                    Some(Step::End)
                }
                // Another answer in place of this one; a prompt leaves it alone.
                P::Answer | P::FailedRequest | P::Answered | P::Tools | P::Results
                    if matches!(message, AgentMessage::Assistant(_)) =>
                {
                    Some(Step::End)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// A run that begins without having been told.
    fn run_start(&self) -> Step {
        if self.tracker.retries() && self.place() == P::BetweenRuns {
            // The series of retries has to end first.
            return Step::End;
        }
        begin(self.run.clone())
    }
}

fn begin(event: impl Into<QuipuEvent>) -> Step {
    Step::Begin(Box::new(event.into()))
}

/// Whether a message broke off.
pub(super) fn is_broken(stop_reason: StopReason) -> bool {
    matches!(stop_reason, StopReason::Error | StopReason::Aborted)
}
