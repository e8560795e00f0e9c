//! The ends that a stream is missing.

use std::time::{SystemTime, UNIX_EPOCH};

use super::totals::nothing;
use super::{Place, Stage, Tracker};
use crate::event::{
    AgentEndEvent, AgentMessage, AssistantMessage, AutoRetryEndEvent, AutoRetryStartEvent,
    BackgroundAgentEndEvent, CompactionEndEvent, HookPhase, HookStatus, MessageEndEvent,
    MessageStartEvent, QuipuEvent, StopReason, SummarizationRetryFinishedEvent, TextContent,
    ToolExecutionEndEvent, ToolHookStatusEvent, ToolResult, ToolResultMessage, TurnEndEvent,
};

/// Why a stream is closed early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloseReason {
    /// `Aborted` or `Error`: how an open answer ends.
    pub stop_reason: StopReason,
    /// What the open answer, the open tools and the open retry say of it.
    pub message: String,
}

impl Tracker {
    /// The ends of everything that is open, in the order in which they have to be written, up to
    /// `stream_end`, which is not one of them.
    ///
    /// The tracker takes them as seen: they must not be given to [`Tracker::observe`] again. A
    /// stream without a header, or with its terminal line, needs nothing.
    pub fn close(&mut self, reason: &CloseReason) -> Vec<QuipuEvent> {
        let mut ends = Vec::new();
        while let Some(end) = self.next_end(reason) {
            let legal = self.observe(&end);
            debug_assert_eq!(legal, Ok(()), "{end:?}");
            ends.push(end);
            if legal.is_err() {
                // The next one would be the same again.
                break;
            }
        }
        ends
    }

    /// The first of those ends; nothing is taken as seen.
    pub(crate) fn next_end(&self, reason: &CloseReason) -> Option<QuipuEvent> {
        if let Some(message) = self.message.clone() {
            return Some(MessageEndEvent { message }.into());
        }
        if self.summary_retry {
            return Some(SummarizationRetryFinishedEvent {}.into());
        }
        if let Some(start) = &self.compaction {
            let end = CompactionEndEvent {
                reason: start.reason,
                result: None,
                aborted: true,
                will_retry: false,
                request_id: start.request_id.clone(),
                accepted: None,
                rejection_cause: None,
                error_message: None,
                usage: None,
            };
            return Some(end.into());
        }
        match self.base {
            // A message or a compaction lies on top of a base and is ended above.
            Place::Start | Place::End | Place::Message | Place::Compaction => None,
            Place::BetweenRuns if self.retry.is_none() => self.missing_background_end(),
            Place::BetweenRuns | Place::RetryWait => Some(self.retry_given_up(reason)),
            Place::RetryAnnounced => Some(self.announced_retry().into()),
            Place::Run | Place::BetweenTurns | Place::Pausing | Place::BrokenTurn => {
                let messages = self.messages.clone();
                let end = AgentEndEvent {
                    messages,
                    will_retry: false,
                    abort_cause: None,
                };
                Some(end.into())
            }
            Place::Turn => {
                let message = self.missing_answer(reason).into();
                Some(MessageStartEvent { message }.into())
            }
            Place::Answer | Place::FailedRequest => {
                let message = self.cut_answer(reason)?.into();
                Some(MessageEndEvent { message }.into())
            }
            Place::Answered if self.retry.is_some() => Some(self.retry_succeeded().into()),
            Place::Answered | Place::Tools | Place::Results => self
                .missing_hook_end(reason)
                .or_else(|| self.missing_tool_end(reason))
                .or_else(|| self.missing_result_start())
                .or_else(|| self.missing_turn_end()),
            Place::Broken => self.missing_turn_end(),
        }
    }

    /// The message of the answer that was being written.
    fn cut_answer(&self, reason: &CloseReason) -> Option<AssistantMessage> {
        let start = self.answer.start.clone()?;
        if self.base == Place::FailedRequest {
            return Some(start);
        }
        let usage = self.answer.usage.clone().unwrap_or(start.usage);
        Some(AssistantMessage {
            content: self.answer.fold.content(),
            usage,
            stop_reason: broken(reason),
            error_message: Some(reason.message.clone()),
            ..start
        })
    }

    /// The message of an answer that never began.
    fn missing_answer(&self, reason: &CloseReason) -> AssistantMessage {
        let unknown = || "unknown".to_owned();
        let model = self.model.as_ref();
        AssistantMessage {
            content: Vec::new(),
            api: self.api.clone().unwrap_or_else(unknown),
            provider: model.map_or_else(unknown, |model| model.provider.clone()),
            model: model.map_or_else(unknown, |model| model.id.clone()),
            usage: nothing(),
            stop_reason: broken(reason),
            timestamp: now(),
            response_id: None,
            response_model: None,
            error_message: Some(reason.message.clone()),
            duration_ms: None,
        }
    }

    fn missing_hook_end(&self, reason: &CloseReason) -> Option<QuipuEvent> {
        let hook = self.hooks.last()?.clone();
        let end = ToolHookStatusEvent {
            phase: HookPhase::End,
            completed_at: Some(now()),
            status: Some(HookStatus::Failed),
            error_message: Some(reason.message.clone()),
            ..hook
        };
        Some(end.into())
    }

    fn missing_tool_end(&self, reason: &CloseReason) -> Option<QuipuEvent> {
        let tool = self
            .tools
            .iter()
            .find(|tool| tool.stage == Stage::Running)?;
        let text = TextContent {
            text: reason.message.clone(),
            text_signature: None,
        };
        let result = ToolResult {
            content: vec![text.into()],
            details: Some(serde_json::json!({})),
            end_turn: None,
        };
        let end = ToolExecutionEndEvent {
            tool_call_id: tool.id.clone(),
            tool_name: tool.name.clone(),
            result,
            is_error: true,
        };
        Some(end.into())
    }

    fn missing_result_start(&self) -> Option<QuipuEvent> {
        let tool = self.tools.iter().find(|tool| tool.stage == Stage::Over)?;
        let (result, is_error) = tool.outcome.clone()?;
        let message = ToolResultMessage {
            tool_call_id: tool.id.clone(),
            tool_name: tool.name.clone(),
            content: result.content,
            details: result.details,
            is_error,
            timestamp: now(),
        };
        Some(
            MessageStartEvent {
                message: message.into(),
            }
            .into(),
        )
    }

    /// The end of the current turn, as its messages tell it.
    pub(crate) fn missing_turn_end(&self) -> Option<QuipuEvent> {
        let mut turn = self.messages.get(self.answer_at..)?.iter();
        let Some(AgentMessage::Assistant(message)) = turn.next() else {
            return None;
        };
        let results = turn.filter_map(|message| match message {
            AgentMessage::ToolResult(result) => Some(result.clone()),
            _ => None,
        });
        let end = TurnEndEvent {
            message: message.clone(),
            tool_results: results.collect(),
        };
        Some(end.into())
    }

    /// The retry that the last run announced and that will not come.
    fn announced_retry(&self) -> AutoRetryStartEvent {
        let attempt = self
            .retry
            .map_or(1, |retry| retry.attempt.saturating_add(1));
        AutoRetryStartEvent {
            attempt,
            max_attempts: self.retry.map_or(attempt, |retry| retry.max_attempts),
            delay_ms: 0,
            error_message: self.last_error.clone().unwrap_or_default(),
        }
    }

    fn retry_given_up(&self, reason: &CloseReason) -> QuipuEvent {
        let end = AutoRetryEndEvent {
            success: false,
            attempt: self.retry.map_or(1, |retry| retry.attempt),
            final_error: Some(reason.message.clone()),
        };
        end.into()
    }

    fn retry_succeeded(&self) -> AutoRetryEndEvent {
        AutoRetryEndEvent {
            success: true,
            attempt: self.retry.map_or(1, |retry| retry.attempt),
            final_error: None,
        }
    }

    fn missing_background_end(&self) -> Option<QuipuEvent> {
        let agent = self.agents.iter().find(|agent| !agent.ended)?;
        let end = BackgroundAgentEndEvent {
            agent_id: agent.start.agent_id.clone(),
            agent_type: agent.start.agent_type.clone(),
            success: false,
            model: None,
            thinking: None,
            steps: None,
            session_file: None,
        };
        Some(end.into())
    }
}

fn broken(reason: &CloseReason) -> StopReason {
    match reason.stop_reason {
        StopReason::Aborted => StopReason::Aborted,
        _ => StopReason::Error,
    }
}

/// Milliseconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
