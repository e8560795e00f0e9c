//! The dreb wire: runs are made again from its one run, and deltas from the messages that grow.
//!
//! What its lines do not tell, and a native stream has: `agent_end.willRetry` and where a run ends
//! (shown by the next event), the model of every run but the first, the reason of a compaction's
//! end, `resolvedToolName` (the requested name stands in), manual compactions, and all that only the
//! native wire has. A native stream that became one of this wire and is lifted again has all that
//! the fold determines, and gives the same lines once more, but for:
//!
//! - the `agent_end` of a background agent that was stopped within a turn, if its `messages` held any;
//! - messages of `agent_end` that no line of their own tells (`bashExecution`, `branchSummary`,
//!   `compactionSummary`), if they belong to another run than the last.

use std::collections::BTreeMap;

use crate::convert::mend::{Mender, agent_header, is_state, stream_info};
use crate::convert::report::{Loss, Report};
use crate::event::tracker::Place;
use crate::event::{
    AgentMessage, AgentStartEvent, AssistantContent, AssistantMessage, AssistantMessageEvent,
    CompactionEndEvent, CompactionReason, CompactionResult, CompactionStartEvent,
    DrebAssistantMessageEvent, DrebAutoCompactionEndEvent, DrebBackgroundAgentEvent,
    DrebCompactionReason, DrebEvent, DrebMessageUpdateEvent, DrebSessionHeader,
    DrebSubagentArbitrationEvent, DrebToolcallStart, MessageStartEvent, MessageUpdateEvent,
    QuipuEvent, SessionHeader, SessionHeaderVersion, SessionInfoChangedEvent, StopReason,
    SubagentArbitrationEvent, TextDelta, TextEnd, TextStart, ThinkingDelta, ThinkingEnd,
    ThinkingStart, ToolcallDelta, ToolcallEnd, ToolcallStart,
};

/// The lines of one stream.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one thing that the lines so far have told"
)]
pub(in crate::convert) struct Dreb {
    /// Whether the target has lines of background agents, and more than a type in `agent_start`.
    relays: bool,
    header: Option<SessionHeader>,
    /// The begin of the run, until something of it is told: custom messages come before it.
    start: Option<AgentStartEvent>,
    /// Whether an `agent_end` was told.
    ended: bool,
    /// Whether it was the last line of the order of runs so far, so that the native one is due.
    ending: bool,
    /// The messages of that native one, if it has some that only it tells.
    last_messages: Option<Vec<AgentMessage>>,
    /// Whether the last turn was one after which a run ends.
    last_turn: bool,
    /// Whether a tool of the turn asked for its end.
    ends_turn: bool,
    /// The reason of the open compaction.
    reason: Option<CompactionReason>,
    /// The types of background agents, by `agentId`.
    agents: BTreeMap<String, String>,
    children: BTreeMap<String, Child>,
}

/// The stream of a background agent.
#[derive(Debug)]
struct Child {
    lift: Box<Dreb>,
    mender: Mender,
    lines: u64,
}

impl Dreb {
    /// At the begin of a stream. `relays`: whether the target has lines of background agents.
    pub(in crate::convert) fn new(relays: bool) -> Self {
        Self {
            relays,
            ..Self::default()
        }
    }

    /// Takes the next line.
    pub(in crate::convert) fn line(
        &mut self,
        line: DrebEvent,
        mender: &mut Mender,
        report: &mut Report,
    ) {
        use DrebEvent as Line;
        self.decide(&line, mender, report);
        let event: QuipuEvent = match line {
            Line::Session(header) => {
                let header = self::header(header);
                self.header = Some(header.clone());
                return mender.header(header, report);
            }
            Line::AgentStart(start) => {
                if self.relays {
                    mender.run = start.clone();
                }
                self.start = Some(start);
                self.last_turn = false;
                return;
            }
            Line::AgentEnd(end) => {
                self.ended = true;
                self.ending = true;
                self.last_messages = tail(mender, end.messages, report);
                return;
            }
            Line::TurnStart(event) => {
                if self.last_turn && mender.place() == Place::BetweenTurns {
                    mender.list(Loss::Invented, "agent_end", report);
                    mender.end_run(None, report);
                }
                self.last_turn = false;
                self.ends_turn = false;
                event.into()
            }
            Line::MessageStart(event) => message_start(event).into(),
            Line::MessageUpdate(event) => match update(event, mender, report) {
                Some(event) => event.into(),
                None => return,
            },
            Line::MessageEnd(event) => event.into(),
            Line::ToolExecutionStart(event) => event.into(),
            Line::ToolExecutionUpdate(event) => event.into(),
            Line::ToolExecutionEnd(event) => {
                self.ends_turn |= event.result.end_turn == Some(true);
                event.into()
            }
            Line::TurnEnd(event) => {
                self.last_turn = self.ends_turn || event.tool_results.is_empty();
                event.into()
            }
            Line::AutoRetryStart(event) => event.into(),
            Line::AutoRetryEnd(event) => event.into(),
            Line::AutoCompactionStart(event) => {
                let reason = match event.reason {
                    DrebCompactionReason::Threshold => CompactionReason::Threshold,
                    DrebCompactionReason::Overflow => CompactionReason::Overflow,
                };
                if mender.place() != Place::Compaction {
                    self.reason = Some(reason);
                }
                let request_id = None;
                CompactionStartEvent { reason, request_id }.into()
            }
            Line::AutoCompactionEnd(event) => {
                // Only that of an overflow has no begin.
                let begun = self.reason.filter(|_| mender.place() == Place::Compaction);
                let reason = begun.unwrap_or(CompactionReason::Overflow);
                compaction_end(event, reason).into()
            }
            Line::SessionNameChanged(event) => SessionInfoChangedEvent {
                name: Some(event.name).filter(|name| !name.is_empty()),
            }
            .into(),
            Line::TasksUpdate(event) => event.into(),
            Line::SuggestNext(event) => event.into(),
            Line::BackgroundAgentStart(event) => {
                let (id, kind) = (event.agent_id.clone(), event.agent_type.clone());
                self.agents.insert(id, kind);
                event.into()
            }
            Line::SubagentArbitration(event) => arbitration(event).into(),
            Line::BackgroundAgentEvent(event) => return self.child(event, mender, report),
            Line::BackgroundAgentEnd(event) => {
                if let Some(mut child) = self.children.remove(&event.agent_id) {
                    child.leave(report);
                    child.relay(&event.agent_id, mender, report);
                }
                self.agents.remove(&event.agent_id);
                event.into()
            }
            Line::ParentPausedForBackgroundAgents(event) => event.into(),
        };
        mender.push(event, report);
    }

    /// Begins or ends a run as far as this line shows that it is time.
    fn decide(&mut self, line: &DrebEvent, mender: &mut Mender, report: &mut Report) {
        use DrebEvent as Line;
        let custom = |message: &AgentMessage| matches!(message, AgentMessage::Custom(_));
        let before_a_run = match line {
            Line::MessageStart(event) => custom(&event.message),
            Line::MessageEnd(event) => custom(&event.message),
            Line::SessionNameChanged(_) | Line::Session(_) => true,
            _ => false,
        };
        if !before_a_run && !self.ending {
            self.begin(mender, report);
        }
        if self.ending {
            match line {
                Line::SessionNameChanged(_)
                | Line::BackgroundAgentStart(_)
                | Line::SubagentArbitration(_)
                | Line::BackgroundAgentEvent(_)
                | Line::BackgroundAgentEnd(_) => {}
                // It ends the run as one that goes on.
                Line::AutoRetryStart(_) => self.ending = false,
                _ => self.finish_run(mender, report),
            }
        }
    }

    fn begin(&mut self, mender: &mut Mender, report: &mut Report) {
        if let Some(start) = self.start.take() {
            mender.push(start.into(), report);
        }
    }

    fn finish_run(&mut self, mender: &mut Mender, report: &mut Report) {
        self.ending = false;
        self.begin(mender, report);
        mender.end_run(self.last_messages.take(), report);
    }

    /// Takes the end of the lines, and says whether the stream ends there by itself.
    pub(in crate::convert) fn end(&mut self, mender: &mut Mender, report: &mut Report) -> bool {
        if self.ending {
            self.finish_run(mender, report);
        }
        self.begin(mender, report);
        self.ended && mender.place() == Place::BetweenRuns
    }

    /// A line of a background agent.
    fn child(&mut self, event: DrebBackgroundAgentEvent, mender: &mut Mender, report: &mut Report) {
        if !self.relays {
            mender.list(Loss::Event, "background_agent_event", report);
            return;
        }
        let DrebBackgroundAgentEvent { agent_id, event } = event;
        if matches!(*event, DrebEvent::Session(_)) {
            mender.list(Loss::Misplaced, "background_agent_event", report);
            return;
        }
        let kind = self.agents.get(&agent_id).cloned();
        let header = self.header.as_ref();
        let child = self.children.entry(agent_id.clone()).or_insert_with(|| {
            let mut mender = Mender::within_agent();
            let header = agent_header(&agent_id, kind.clone(), header);
            mender.list(Loss::Invented, "session", report);
            mender.push(header.clone().into(), report);
            let lift = Box::new(Self {
                header: Some(header),
                ..Self::new(true)
            });
            let lines = 0;
            Child {
                lift,
                mender,
                lines,
            }
        });
        let over = matches!(*event, DrebEvent::AgentEnd(_));
        child.lift.line(*event, &mut child.mender, report);
        // Lines of others come between its own, so none of them can wait.
        child.lift.begin(&mut child.mender, report);
        if over {
            child.leave(report);
        }
        child.relay(&agent_id, mender, report);
        if over {
            // What comes after it is the next step of a chain.
            self.children.remove(&agent_id);
        }
    }
}

impl Child {
    /// Takes the end of the agent's stream, if it is a place where it can end.
    fn leave(&mut self, report: &mut Report) {
        if matches!(
            self.mender.place(),
            Place::BetweenRuns
                | Place::Run
                | Place::BetweenTurns
                | Place::Pausing
                | Place::BrokenTurn
        ) {
            let whole = self.lift.end(&mut self.mender, report);
            let lines = self.lines;
            self.mender.finish(!whole, lines, report);
        }
    }

    /// Gives what is ready to the stream of the agent's parent.
    fn relay(&mut self, agent: &str, parent: &mut Mender, report: &mut Report) {
        self.lines += self.mender.relay(agent, parent, report);
    }
}

/// The messages of the last run of a stream, if some of them were told in no line of their own.
fn tail(mender: &Mender, all: Vec<AgentMessage>, report: &mut Report) -> Option<Vec<AgentMessage>> {
    if !all.iter().any(is_state) {
        return None;
    }
    // Back over as many told messages as the run has.
    let mut left = mender.messages().len();
    let begin = all.iter().rposition(|message| {
        if is_state(message) {
            return false;
        }
        if left == 0 {
            return true;
        }
        left -= 1;
        false
    });
    let begin = begin.map_or(0, |at| at + 1);
    for message in all.iter().take(begin).filter(|message| is_state(message)) {
        let name = format!("agent_end/messages ({})", message.kind());
        mender.list(Loss::Field, &name, report);
    }
    let tail: Vec<_> = all.into_iter().skip(begin).collect();
    tail.iter().any(is_state).then_some(tail)
}

fn header(header: DrebSessionHeader) -> SessionHeader {
    SessionHeader {
        version: SessionHeaderVersion,
        id: header.id,
        timestamp: header.timestamp,
        cwd: header.cwd,
        parent_session: header.parent_session,
        agent_type: header.agent_type,
        stream: stream_info(),
    }
}

/// A fresh answer is one that nothing has been added to.
fn message_start(mut event: MessageStartEvent) -> MessageStartEvent {
    if let AgentMessage::Assistant(answer) = &mut event.message
        && answer.stop_reason == StopReason::Stop
        && answer.content.is_empty()
    {
        answer.stop_reason = StopReason::Pending;
    }
    event
}

/// The delta of an update, without the message so far.
fn update(
    event: DrebMessageUpdateEvent,
    mender: &Mender,
    report: &mut Report,
) -> Option<MessageUpdateEvent> {
    use DrebAssistantMessageEvent as Shown;
    let mut resolved_tool_name = None;
    let delta: AssistantMessageEvent = match event.assistant_message_event {
        Shown::TextStart(delta) => TextStart {
            content_index: delta.content_index,
        }
        .into(),
        Shown::TextDelta(delta) => TextDelta {
            content_index: delta.content_index,
            delta: delta.delta,
        }
        .into(),
        Shown::TextEnd(delta) => TextEnd {
            content_index: delta.content_index,
            content: delta.content,
        }
        .into(),
        Shown::ThinkingStart(delta) => ThinkingStart {
            content_index: delta.content_index,
        }
        .into(),
        Shown::ThinkingDelta(delta) => ThinkingDelta {
            content_index: delta.content_index,
            delta: delta.delta,
        }
        .into(),
        Shown::ThinkingEnd(delta) => ThinkingEnd {
            content_index: delta.content_index,
            content: delta.content,
        }
        .into(),
        Shown::ToolcallStart(delta) => {
            let start = call(&delta, &event.message);
            let Some(start) = start else {
                // Without the block nobody knows what is called.
                mender.list(Loss::Misplaced, "message_update", report);
                return None;
            };
            resolved_tool_name = Some(start.tool_name.clone());
            start.into()
        }
        Shown::ToolcallDelta(delta) => ToolcallDelta {
            content_index: delta.content_index,
            delta: delta.delta,
        }
        .into(),
        Shown::ToolcallEnd(delta) => {
            resolved_tool_name = Some(delta.tool_call.name.clone());
            ToolcallEnd {
                content_index: delta.content_index,
                tool_call: delta.tool_call,
            }
            .into()
        }
    };
    if resolved_tool_name.is_some() {
        mender.list(Loss::Invented, "message_update/resolvedToolName", report);
    }
    Some(MessageUpdateEvent {
        usage: event.message.usage,
        assistant_message_event: delta,
        resolved_tool_name,
    })
}

/// The begin of a call, whose id and name stand in its block alone.
fn call(delta: &DrebToolcallStart, message: &AssistantMessage) -> Option<ToolcallStart> {
    let at = usize::try_from(delta.content_index).ok()?;
    let block = [&delta.partial, message].into_iter().find_map(|message| {
        match message.content.get(at) {
            Some(AssistantContent::ToolCall(call)) => Some(call),
            _ => None,
        }
    })?;
    Some(ToolcallStart {
        content_index: delta.content_index,
        id: block.id.clone(),
        tool_name: block.name.clone(),
    })
}

fn compaction_end(
    event: DrebAutoCompactionEndEvent,
    reason: CompactionReason,
) -> CompactionEndEvent {
    CompactionEndEvent {
        reason,
        result: event.result.map(|result| CompactionResult {
            summary: result.summary,
            first_kept_entry_id: result.first_kept_entry_id,
            tokens_before: result.tokens_before,
            usage: None,
            details: result.details,
            estimated_tokens_after: None,
        }),
        aborted: event.aborted,
        will_retry: event.will_retry,
        request_id: None,
        accepted: None,
        rejection_cause: None,
        error_message: event.error_message,
        usage: None,
    }
}

fn arbitration(event: DrebSubagentArbitrationEvent) -> SubagentArbitrationEvent {
    SubagentArbitrationEvent {
        agent_id: event.agent_id,
        status: event.status,
        proposed: event.proposed,
        final_: event.final_,
        changed: event.changed,
        step: event.step,
        error_code: event.error_code,
        error_message: event.error_message,
        usage: None,
    }
}
