//! The senpi wire: nearly the native one, without its terminal line.

use crate::event::{
    CompactionEndEvent, QuipuEvent, SenpiAgentStartEvent, SenpiCompactionEndEvent,
    SenpiCompactionStartEvent, SenpiEvent, SenpiSessionHeader, SenpiSessionHeaderVersion,
    SessionHeader,
};

/// The line of an event; nothing for an event that the wire has not.
pub(super) fn project(event: QuipuEvent) -> Option<SenpiEvent> {
    use QuipuEvent as Event;
    let line = match event {
        Event::Session(header) => self::header(header).into(),
        Event::AgentStart(_) => SenpiAgentStartEvent {}.into(),
        Event::TurnStart(event) => event.into(),
        Event::MessageStart(event) => event.into(),
        Event::MessageUpdate(event) => event.into(),
        Event::MessageEnd(event) => event.into(),
        Event::ToolExecutionStart(event) => event.into(),
        Event::ToolExecutionUpdate(event) => event.into(),
        Event::ToolExecutionEnd(event) => event.into(),
        Event::ToolHookStatus(event) => event.into(),
        Event::TurnEnd(event) => event.into(),
        Event::AgentEnd(event) => event.into(),
        Event::AutoRetryStart(event) => event.into(),
        Event::AutoRetryEnd(event) => event.into(),
        Event::CompactionStart(event) => SenpiCompactionStartEvent {
            reason: event.reason,
        }
        .into(),
        Event::CompactionProgress(event) => event.into(),
        Event::CompactionEnd(event) => compaction_end(event).into(),
        Event::SummarizationRetryScheduled(event) => event.into(),
        Event::SummarizationRetryAttemptStartBranchSummary(event) => event.into(),
        Event::SummarizationRetryAttemptStartCompaction(event) => event.into(),
        Event::SummarizationRetryFinished(event) => event.into(),
        Event::QueueUpdate(event) => event.into(),
        Event::SessionInfoChanged(event) => event.into(),
        Event::ThinkingLevelChanged(event) => event.into(),
        Event::ThinkingLevelClamped(event) => event.into(),
        Event::SystemPromptChange(event) => event.into(),
        Event::TasksUpdate(_)
        | Event::SuggestNext(_)
        | Event::BackgroundAgentStart(_)
        | Event::SubagentArbitration(_)
        | Event::BackgroundAgentEvent(_)
        | Event::BackgroundAgentEnd(_)
        | Event::ParentPausedForBackgroundAgents(_)
        | Event::StreamEnd(_) => return None,
    };
    Some(line)
}

fn header(header: SessionHeader) -> SenpiSessionHeader {
    SenpiSessionHeader {
        version: SenpiSessionHeaderVersion,
        id: header.id,
        timestamp: header.timestamp,
        cwd: header.cwd,
        parent_session: header.parent_session,
    }
}

/// The document knows no usage beside that of a result.
fn compaction_end(event: CompactionEndEvent) -> SenpiCompactionEndEvent {
    SenpiCompactionEndEvent {
        reason: event.reason,
        result: event.result,
        aborted: event.aborted,
        will_retry: event.will_retry,
        request_id: event.request_id,
        accepted: event.accepted,
        rejection_cause: event.rejection_cause,
        error_message: event.error_message,
    }
}
