//! The senpi wire: nearly the native one, without its terminal line.

use crate::convert::mend::{Mender, stream_info};
use crate::convert::report::{Loss, Report};
use crate::event::tracker::Place;
use crate::event::{
    AgentEndEvent, AgentStartEvent, AssistantMessageEvent, CompactionEndEvent,
    CompactionStartEvent, MessageUpdateEvent, QuipuEvent, SenpiCompactionEndEvent, SenpiEvent,
    SenpiSessionHeader, SessionHeader, SessionHeaderVersion,
};

/// The lines of one stream.
#[derive(Debug, Default)]
pub(in crate::convert) struct Senpi {
    /// The end of a run, until the next event shows whether it goes on.
    ended: Option<AgentEndEvent>,
}

impl Senpi {
    /// Takes the next line.
    pub(in crate::convert) fn line(
        &mut self,
        line: SenpiEvent,
        mender: &mut Mender,
        report: &mut Report,
    ) {
        use SenpiEvent as Line;
        if let Some(mut end) = self.ended.take() {
            // Events that may stand anywhere decide nothing.
            let retry = match &line {
                Line::AutoRetryStart(_) => true,
                Line::QueueUpdate(_)
                | Line::SessionInfoChanged(_)
                | Line::ThinkingLevelChanged(_)
                | Line::ThinkingLevelClamped(_)
                | Line::SystemPromptChange(_) => end.will_retry,
                _ => false,
            };
            if end.will_retry != retry {
                report.add(Loss::Changed, "agent_end/willRetry");
                end.will_retry = retry;
            }
            mender.push(end.into(), report);
        }
        let event: QuipuEvent = match line {
            Line::Session(header) => return mender.header(self::header(header), report),
            Line::AgentEnd(end) => {
                self.ended = Some(end);
                return;
            }
            Line::AgentStart(_) => AgentStartEvent::default().into(),
            Line::TurnStart(event) => event.into(),
            Line::MessageStart(event) => event.into(),
            Line::MessageUpdate(event) => resolved(event, report).into(),
            Line::MessageEnd(event) => event.into(),
            Line::ToolExecutionStart(event) => event.into(),
            Line::ToolExecutionUpdate(event) => event.into(),
            Line::ToolExecutionEnd(event) => event.into(),
            Line::ToolHookStatus(event) => event.into(),
            Line::TurnEnd(event) => event.into(),
            Line::AutoRetryStart(event) => event.into(),
            Line::AutoRetryEnd(event) => event.into(),
            Line::CompactionStart(event) => CompactionStartEvent {
                reason: event.reason,
                request_id: None,
            }
            .into(),
            Line::CompactionProgress(event) => event.into(),
            Line::CompactionEnd(event) => compaction_end(event).into(),
            Line::SummarizationRetryScheduled(event) => event.into(),
            Line::SummarizationRetryAttemptStartBranchSummary(event) => event.into(),
            Line::SummarizationRetryAttemptStartCompaction(event) => event.into(),
            Line::SummarizationRetryFinished(event) => event.into(),
            Line::QueueUpdate(event) => event.into(),
            Line::SessionInfoChanged(event) => event.into(),
            Line::ThinkingLevelChanged(event) => event.into(),
            Line::ThinkingLevelClamped(event) => event.into(),
            Line::SystemPromptChange(event) => event.into(),
        };
        mender.push(event, report);
    }

    /// Takes the end of the lines, and says whether the stream ends there by itself.
    pub(in crate::convert) fn end(&mut self, mender: &mut Mender, report: &mut Report) -> bool {
        if let Some(end) = self.ended.take() {
            mender.push(end.into(), report);
        }
        mender.place() == Place::BetweenRuns
    }
}

/// Names the tool that a call asks for where an older producer does not say which one runs.
fn resolved(mut event: MessageUpdateEvent, report: &mut Report) -> MessageUpdateEvent {
    let name = match &event.assistant_message_event {
        AssistantMessageEvent::ToolcallStart(start) => &start.tool_name,
        AssistantMessageEvent::ToolcallEnd(end) => &end.tool_call.name,
        _ => return event,
    };
    if event.resolved_tool_name.is_none() {
        event.resolved_tool_name = Some(name.clone());
        report.add(Loss::Invented, "message_update/resolvedToolName");
    }
    event
}

fn header(header: SenpiSessionHeader) -> SessionHeader {
    SessionHeader {
        version: SessionHeaderVersion,
        id: header.id,
        timestamp: header.timestamp,
        cwd: header.cwd,
        parent_session: header.parent_session,
        agent_type: None,
        stream: stream_info(),
    }
}

fn compaction_end(event: SenpiCompactionEndEvent) -> CompactionEndEvent {
    CompactionEndEvent {
        reason: event.reason,
        result: event.result,
        aborted: event.aborted,
        will_retry: event.will_retry,
        request_id: event.request_id,
        accepted: event.accepted,
        rejection_cause: event.rejection_cause,
        error_message: event.error_message,
        usage: None,
    }
}
