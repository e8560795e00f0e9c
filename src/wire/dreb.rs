//! The dreb wire: the whole stream is one run, and each update shows the whole message so far.

mod snapshot;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::line;
use crate::event::{
    AgentMessage, AgentStartEvent, BackgroundAgentEvent, CompactionEndEvent, CompactionReason,
    CompactionResult, DrebAgentEndEvent, DrebAutoCompactionEndEvent, DrebAutoCompactionStartEvent,
    DrebCompactionReason, DrebCompactionResult, DrebEvent, DrebSessionHeader,
    DrebSessionHeaderVersion, DrebSessionNameChangedEvent, DrebSubagentArbitrationEvent,
    MessageStartEvent, MessageUpdateEvent, ModelRef, Outcome, QuipuEvent, SessionHeader,
    StopReason, SubagentArbitrationEvent,
};
use snapshot::Snapshot;

/// From native events to the lines of one stream.
#[derive(Debug, Default)]
pub(super) struct Dreb {
    /// Whether the `agent_start` of the stream has been written.
    begun: bool,
    /// Lines that came before it and have to follow it.
    held: Vec<DrebEvent>,
    /// The model that was chosen, if it is known before any run begins.
    pub(super) model: Option<ModelRef>,
    /// Whether a native run is open.
    running: bool,
    /// The messages of the stream so far, but for those of the open run.
    messages: Vec<AgentMessage>,
    /// The answer that is being written.
    answer: Option<Snapshot>,
    /// The streams of background agents, by `agentId`.
    children: BTreeMap<String, Self>,
}

/// One line.
#[expect(
    clippy::large_enum_variant,
    reason = "it lives for one call; a box would cost each line an allocation"
)]
pub(super) enum DrebLine<'a> {
    /// An event as it is.
    Event(DrebEvent),
    /// A `message_update`.
    Update(&'a Snapshot),
    /// A `background_agent_event` with a line of that agent.
    Child {
        /// `agentId`.
        agent: &'a str,
        /// The line of the agent's own stream.
        line: &'a DrebLine<'a>,
    },
}

impl DrebLine<'_> {
    /// The `type`.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Event(event) => event.kind(),
            Self::Update(_) => "message_update",
            Self::Child { .. } => "background_agent_event",
        }
    }

    /// The `type` of what a background agent has written, else its own.
    pub(super) fn innermost_kind(&self) -> &'static str {
        match self {
            Self::Child { line, .. } => line.innermost_kind(),
            line => line.kind(),
        }
    }

    /// Appends the object, without an end of line.
    pub(super) fn json(&self, out: &mut Vec<u8>) -> std::io::Result<()> {
        match self {
            Self::Event(event) => line::json(out, event),
            Self::Update(snapshot) => {
                snapshot.append(out);
                Ok(())
            }
            Self::Child { agent, line } => {
                out.extend_from_slice(br#"{"type":"background_agent_event","agentId":"#);
                line::json(out, agent)?;
                out.extend_from_slice(br#","event":"#);
                line.json(out)?;
                out.push(b'}');
                Ok(())
            }
        }
    }
}

/// Where lines go.
type Write<'w> = dyn FnMut(DrebLine<'_>) + 'w;

impl Dreb {
    /// Takes the next event and gives the lines that it makes.
    pub(super) fn project(&mut self, event: QuipuEvent, write: &mut Write<'_>) {
        use QuipuEvent as Event;
        match event {
            Event::Session(header) => write(DrebLine::Event(self::header(header).into())),
            Event::AgentStart(event) => {
                self.running = true;
                self.begin(event, write);
            }
            Event::TurnStart(event) => self.line(event, write),
            Event::MessageStart(event) => self.message_start(event, write),
            Event::MessageUpdate(event) => self.update(&event, write),
            Event::MessageEnd(event) => {
                self.answer = None;
                if !self.running {
                    self.messages.push(event.message.clone());
                }
                self.line(event, write);
            }
            Event::ToolExecutionStart(event) => self.line(event, write),
            Event::ToolExecutionUpdate(event) => self.line(event, write),
            Event::ToolExecutionEnd(event) => self.line(event, write),
            Event::TurnEnd(event) => self.line(event, write),
            // The last one of the stream comes with its end.
            Event::AgentEnd(event) => {
                self.running = false;
                self.messages.extend(event.messages);
            }
            Event::AutoRetryStart(event) => self.line(event, write),
            Event::AutoRetryEnd(event) => self.line(event, write),
            Event::CompactionStart(event) => {
                if let Some(reason) = reason(event.reason) {
                    self.line(DrebAutoCompactionStartEvent { reason }, write);
                }
            }
            Event::CompactionEnd(event) => {
                if reason(event.reason).is_some() {
                    self.line(compaction_end(event), write);
                }
            }
            Event::SessionInfoChanged(event) => {
                let name = event.name.unwrap_or_default();
                self.line(DrebSessionNameChangedEvent { name }, write);
            }
            Event::TasksUpdate(event) => self.line(event, write),
            Event::SuggestNext(event) => self.line(event, write),
            Event::BackgroundAgentStart(event) => self.line(event, write),
            Event::SubagentArbitration(event) => self.line(arbitration(event), write),
            Event::BackgroundAgentEvent(event) => self.child(event, write),
            Event::BackgroundAgentEnd(event) => {
                if let Some(mut child) = self.children.remove(&event.agent_id) {
                    child.cut_off(&mut within(&event.agent_id, write));
                }
                self.line(event, write);
            }
            Event::ParentPausedForBackgroundAgents(event) => self.line(event, write),
            Event::StreamEnd(event) if event.outcome == Outcome::Interrupted => self.cut_off(write),
            Event::StreamEnd(_) => {
                self.begin_without_run(write);
                self.end(write);
            }
            Event::ToolHookStatus(_)
            | Event::CompactionProgress(_)
            | Event::SummarizationRetryScheduled(_)
            | Event::SummarizationRetryAttemptStartBranchSummary(_)
            | Event::SummarizationRetryAttemptStartCompaction(_)
            | Event::SummarizationRetryFinished(_)
            | Event::QueueUpdate(_)
            | Event::ThinkingLevelChanged(_)
            | Event::ThinkingLevelClamped(_)
            | Event::SystemPromptChange(_) => {}
        }
    }

    /// Begins the run of the stream, once.
    fn begin(&mut self, event: AgentStartEvent, write: &mut Write<'_>) {
        if self.begun {
            return;
        }
        self.begun = true;
        write(DrebLine::Event(event.into()));
        for line in std::mem::take(&mut self.held) {
            write(DrebLine::Event(line));
        }
    }

    /// The same for a stream that has no run of its own.
    fn begin_without_run(&mut self, write: &mut Write<'_>) {
        let start = AgentStartEvent {
            model: self.model.take(),
            thinking_level: None,
        };
        self.begin(start, write);
    }

    /// Ends the run of the stream, if there is anything of it.
    fn end(&mut self, write: &mut Write<'_>) {
        if self.begun || !self.held.is_empty() {
            self.begin_without_run(write);
            let messages = std::mem::take(&mut self.messages);
            write(DrebLine::Event(DrebAgentEndEvent { messages }.into()));
        }
    }

    /// The stream stops here. A missing `agent_end` is how this wire tells of a signal.
    fn cut_off(&mut self, write: &mut Write<'_>) {
        if !self.held.is_empty() {
            self.begin_without_run(write);
        }
    }

    fn line(&mut self, event: impl Into<DrebEvent>, write: &mut Write<'_>) {
        if self.begun {
            write(DrebLine::Event(event.into()));
        } else {
            self.held.push(event.into());
        }
    }

    fn message_start(&mut self, mut event: MessageStartEvent, write: &mut Write<'_>) {
        if let AgentMessage::Assistant(answer) = &mut event.message
            && answer.stop_reason == StopReason::Pending
        {
            answer.stop_reason = StopReason::Stop;
            self.answer = Some(Snapshot::new(answer));
        }
        self.line(event, write);
    }

    fn update(&mut self, event: &MessageUpdateEvent, write: &mut Write<'_>) {
        if let Some(answer) = &mut self.answer {
            answer.apply(&event.usage, &event.assistant_message_event);
            write(DrebLine::Update(answer));
        }
    }

    /// A line of a background agent, whose stream is one of its own.
    fn child(&mut self, event: BackgroundAgentEvent, write: &mut Write<'_>) {
        let BackgroundAgentEvent { agent_id, event } = event;
        // Before any run nothing is relayed in practice; if it is, it must not be kept.
        self.begin_without_run(write);
        match *event {
            QuipuEvent::Session(_) => {
                // The next step of a chain.
                if let Some(mut child) = self.children.remove(&agent_id) {
                    child.cut_off(&mut within(&agent_id, write));
                }
            }
            event => {
                let over = matches!(event, QuipuEvent::StreamEnd(_));
                let mut write = within(&agent_id, write);
                let child = self.children.entry(agent_id.clone()).or_default();
                child.project(event, &mut write);
                if over {
                    self.children.remove(&agent_id);
                }
            }
        }
    }
}

/// Wraps the lines of a background agent.
fn within<'w>(agent: &'w str, write: &'w mut Write<'_>) -> impl FnMut(DrebLine<'_>) + 'w {
    move |line| write(DrebLine::Child { agent, line: &line })
}

fn header(header: SessionHeader) -> DrebSessionHeader {
    DrebSessionHeader {
        version: DrebSessionHeaderVersion,
        id: header.id,
        timestamp: header.timestamp,
        cwd: header.cwd,
        parent_session: header.parent_session,
        agent_type: header.agent_type,
    }
}

/// The wire tells only of compactions that nobody asked for.
fn reason(reason: CompactionReason) -> Option<DrebCompactionReason> {
    match reason {
        CompactionReason::Manual => None,
        CompactionReason::Threshold => Some(DrebCompactionReason::Threshold),
        CompactionReason::Overflow => Some(DrebCompactionReason::Overflow),
    }
}

fn arbitration(event: SubagentArbitrationEvent) -> DrebSubagentArbitrationEvent {
    DrebSubagentArbitrationEvent {
        agent_id: event.agent_id,
        status: event.status,
        proposed: event.proposed,
        final_: event.final_,
        changed: event.changed,
        step: event.step,
        error_code: event.error_code,
        error_message: event.error_message,
    }
}

fn compaction_end(event: CompactionEndEvent) -> DrebAutoCompactionEndEvent {
    let result = |result: CompactionResult| DrebCompactionResult {
        summary: result.summary,
        first_kept_entry_id: result.first_kept_entry_id,
        tokens_before: result.tokens_before,
        details: result.details,
    };
    DrebAutoCompactionEndEvent {
        result: event.result.map(result),
        aborted: event.aborted,
        will_retry: event.will_retry,
        error_message: event.error_message,
    }
}
