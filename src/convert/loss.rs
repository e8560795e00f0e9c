//! What the target wire has no place for, event by event.

use std::collections::BTreeMap;

use super::report::{Loss, Report};
use crate::contract::Wire;
use crate::event::{CompactionEndEvent, CompactionReason, CompactionStartEvent, QuipuEvent};

/// Lists what a projection leaves out of a stream, and of the streams of its background agents.
#[derive(Debug)]
pub(super) struct Losses {
    to: Wire,
    /// Whether a run has begun; the dreb wire shows the first begin and the last end only.
    begun: bool,
    children: BTreeMap<String, Losses>,
}

impl Losses {
    pub(super) fn new(to: Wire) -> Self {
        Self {
            to,
            begun: false,
            children: BTreeMap::new(),
        }
    }

    /// Whether a run has begun.
    pub(super) fn is_begun(&self) -> bool {
        self.begun
    }

    /// Notes the next native event of the stream.
    pub(super) fn note(&mut self, event: &QuipuEvent, report: &mut Report) {
        self.note_within("", event, report);
    }

    #[expect(clippy::too_many_lines, reason = "one arm an event")]
    fn note_within(&mut self, within: &str, event: &QuipuEvent, report: &mut Report) {
        if self.to == Wire::Quipu {
            return;
        }
        let kind = event.kind();
        let mut say = |loss: Loss, field: &str, there: bool| {
            if there {
                report.add(loss, format!("{within}{kind}{field}"));
            }
        };
        let dreb = self.to == Wire::Dreb;
        match event {
            QuipuEvent::Session(header) => {
                // Of a background agent it is no line of the dreb wire.
                say(Loss::Event, "", !within.is_empty());
                say(Loss::Field, "/stream", within.is_empty());
                say(
                    Loss::Field,
                    "/agentType",
                    !dreb && header.agent_type.is_some(),
                );
            }
            QuipuEvent::AgentStart(start) => {
                say(Loss::Event, "", dreb && self.begun);
                say(Loss::Field, "/model", !dreb && start.model.is_some());
                say(
                    Loss::Field,
                    "/thinkingLevel",
                    !dreb && start.thinking_level.is_some(),
                );
                if dreb && self.begun {
                    report.add(Loss::Event, format!("{within}agent_end"));
                }
                self.begun = true;
            }
            QuipuEvent::AgentEnd(end) => {
                say(Loss::Field, "/willRetry", dreb);
                say(
                    Loss::Field,
                    "/abortCause",
                    dreb && end.abort_cause.is_some(),
                );
            }
            QuipuEvent::MessageUpdate(update) => {
                say(
                    Loss::Field,
                    "/resolvedToolName",
                    dreb && update.resolved_tool_name.is_some(),
                );
            }
            QuipuEvent::CompactionStart(CompactionStartEvent { reason, request_id }) => {
                let manual = dreb && *reason == CompactionReason::Manual;
                say(Loss::Event, "", manual);
                say(Loss::Field, "/requestId", !manual && request_id.is_some());
            }
            QuipuEvent::CompactionEnd(end) if !dreb => {
                say(Loss::Field, "/usage", end.usage.is_some());
            }
            QuipuEvent::CompactionEnd(end) => compaction_end(end, &mut say),
            QuipuEvent::SessionInfoChanged(info) => {
                say(Loss::Changed, "/name", dreb && info.name.is_none());
            }
            QuipuEvent::SubagentArbitration(decision) if dreb => {
                say(Loss::Field, "/usage", decision.usage.is_some());
            }
            QuipuEvent::BackgroundAgentEvent(relayed) if dreb => {
                let child = self.children.entry(relayed.agent_id.clone());
                let child = child.or_insert_with(|| Self::new(Wire::Dreb));
                let over = matches!(*relayed.event, QuipuEvent::StreamEnd(_));
                let within = format!("{within}{kind}/event: ");
                child.note_within(&within, &relayed.event, report);
                if over {
                    self.children.remove(&relayed.agent_id);
                }
            }
            QuipuEvent::BackgroundAgentEnd(end) if dreb => {
                self.children.remove(&end.agent_id);
            }
            QuipuEvent::StreamEnd(_) => say(Loss::Event, "", true),
            QuipuEvent::TasksUpdate(_)
            | QuipuEvent::SuggestNext(_)
            | QuipuEvent::BackgroundAgentStart(_)
            | QuipuEvent::SubagentArbitration(_)
            | QuipuEvent::BackgroundAgentEvent(_)
            | QuipuEvent::BackgroundAgentEnd(_)
            | QuipuEvent::ParentPausedForBackgroundAgents(_) => say(Loss::Event, "", !dreb),
            QuipuEvent::ToolHookStatus(_)
            | QuipuEvent::CompactionProgress(_)
            | QuipuEvent::SummarizationRetryScheduled(_)
            | QuipuEvent::SummarizationRetryAttemptStartBranchSummary(_)
            | QuipuEvent::SummarizationRetryAttemptStartCompaction(_)
            | QuipuEvent::SummarizationRetryFinished(_)
            | QuipuEvent::QueueUpdate(_)
            | QuipuEvent::ThinkingLevelChanged(_)
            | QuipuEvent::ThinkingLevelClamped(_)
            | QuipuEvent::SystemPromptChange(_) => say(Loss::Event, "", dreb),
            QuipuEvent::TurnStart(_)
            | QuipuEvent::MessageStart(_)
            | QuipuEvent::MessageEnd(_)
            | QuipuEvent::ToolExecutionStart(_)
            | QuipuEvent::ToolExecutionUpdate(_)
            | QuipuEvent::ToolExecutionEnd(_)
            | QuipuEvent::TurnEnd(_)
            | QuipuEvent::AutoRetryStart(_)
            | QuipuEvent::AutoRetryEnd(_) => {}
        }
    }
}

/// The end of a compaction on the dreb wire.
fn compaction_end(end: &CompactionEndEvent, say: &mut impl FnMut(Loss, &str, bool)) {
    if end.reason == CompactionReason::Manual {
        say(Loss::Event, "", true);
        return;
    }
    say(Loss::Field, "/reason", true);
    say(Loss::Field, "/requestId", end.request_id.is_some());
    say(Loss::Field, "/accepted", end.accepted.is_some());
    say(
        Loss::Field,
        "/rejectionCause",
        end.rejection_cause.is_some(),
    );
    say(Loss::Field, "/usage", end.usage.is_some());
    if let Some(result) = &end.result {
        say(Loss::Field, "/result/usage", result.usage.is_some());
        let estimate = result.estimated_tokens_after.is_some();
        say(Loss::Field, "/result/estimatedTokensAfter", estimate);
    }
}
