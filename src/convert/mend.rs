//! Native events in an order that the native grammar allows.
//!
//! Events that are in order pass as they are. Where one is not, the ends and begins that it needs
//! are put before it; what fits nowhere is left out. Both are listed. The judge is the tracker.

mod answer;
mod bridge;
mod results;

use super::report::{Loss, Report};
use crate::contract::{SCHEMA_HASH, SCHEMA_VERSION};
use crate::event::tracker::{CloseReason, OrderFault, Place, Tracker};
use crate::event::{
    AgentEndEvent, AgentMessage, AgentStartEvent, AssistantMessage, AssistantMessageEvent,
    BackgroundAgentEvent, CompactionReason, ErrorCode, FoldError, MessageUpdateEvent, Outcome,
    QuipuEvent, SessionHeader, SessionHeaderVersion, StopReason, StreamEndEvent, StreamError,
    StreamInfo, ToolResultMessage, Usage, WireName,
};
use bridge::Step;

/// The one that puts events in order.
#[derive(Debug, Default)]
pub(super) struct Mender {
    tracker: Tracker,
    /// Events in order that nobody has taken yet.
    pub(super) ready: Vec<QuipuEvent>,
    /// What goes before the names of events in the report.
    within: &'static str,
    /// What a run says that is begun here.
    pub(super) run: AgentStartEvent,
    /// Whether the message that is open was left out, so that its end is too.
    left_out: bool,
    /// The same for a compaction.
    compaction_left_out: bool,
    /// Result messages that came while tools ran.
    held: Vec<ToolResultMessage>,
    /// The id of the held one whose end is due.
    holding: Option<String>,
    /// Blank thinking that the end of its block may take back.
    blank: Option<MessageUpdateEvent>,
    /// The begin of the open answer, without its content.
    begin: Option<AssistantMessage>,
    /// What the updates of the open answer said of its tokens last.
    usage: Option<Usage>,
    ends: Ends,
}

/// How the runs ended.
#[derive(Debug, Default)]
struct Ends {
    /// Whether there was an answer at all.
    answered: bool,
    /// The last answer of the open run.
    last: Option<(StopReason, Option<String>)>,
    /// The end of the last run, which a compaction may still undo.
    run: Option<(Outcome, Option<String>)>,
    worst: Option<(Outcome, Option<String>)>,
}

impl Mender {
    /// For the stream of a background agent; `header` stands for its first line.
    pub(super) fn within_agent() -> Self {
        Self {
            within: "background_agent_event/event: ",
            ..Self::default()
        }
    }

    /// Gives what is ready to the stream of the agent's parent, and says how many events that was.
    pub(super) fn relay(&mut self, agent: &str, parent: &mut Self, report: &mut Report) -> u64 {
        let ready = std::mem::take(&mut self.ready);
        let count = ready.len() as u64;
        for event in ready {
            let event = BackgroundAgentEvent {
                agent_id: agent.to_owned(),
                event: Box::new(event),
            };
            parent.push(event.into(), report);
        }
        count
    }

    /// Where the stream is.
    pub(super) fn place(&self) -> Place {
        self.tracker.place()
    }

    /// The messages that ended in the open run.
    pub(super) fn messages(&self) -> &[AgentMessage] {
        self.tracker.messages()
    }

    pub(super) fn list(&self, loss: Loss, name: &str, report: &mut Report) {
        report.add(loss, format!("{}{name}", self.within));
    }

    /// Takes the next event.
    pub(super) fn push(&mut self, event: QuipuEvent, report: &mut Report) {
        self.pass_blank(Some(&event), report);
        match event {
            QuipuEvent::MessageStart(start) => self.message_start(start, report),
            QuipuEvent::MessageEnd(end) => self.message_end(end, report),
            QuipuEvent::MessageUpdate(update) if !self.left_out => {
                self.message_update(update, report);
            }
            QuipuEvent::MessageUpdate(_) => self.list(Loss::Misplaced, "message_update", report),
            QuipuEvent::CompactionStart(_) => {
                self.compaction_left_out = !self.place_event(event, report);
            }
            QuipuEvent::CompactionEnd(_) if self.compaction_left_out => {
                self.compaction_left_out = false;
                self.list(Loss::Misplaced, "compaction_end", report);
            }
            QuipuEvent::AgentEnd(end) => self.agent_end(end, report),
            QuipuEvent::TurnEnd(_) => {
                self.release_all(report);
                self.place_event(event, report);
            }
            QuipuEvent::ToolExecutionEnd(_) => {
                self.place_event(event, report);
                self.release(report);
            }
            event => {
                self.place_event(event, report);
            }
        }
    }

    /// Ends the open run, if it is at a place where it can end.
    pub(super) fn end_run(&mut self, messages: Option<Vec<AgentMessage>>, report: &mut Report) {
        let can_end = matches!(
            self.place(),
            Place::Run | Place::BetweenTurns | Place::Pausing | Place::BrokenTurn
        );
        if can_end {
            let messages = messages.unwrap_or_else(|| self.tracker.messages().to_vec());
            let end = AgentEndEvent {
                messages,
                will_retry: false,
                abort_cause: None,
            };
            self.agent_end(end, report);
        }
    }

    fn agent_end(&mut self, mut end: AgentEndEvent, report: &mut Report) {
        if end.will_retry && !matches!(self.place(), Place::Broken | Place::BrokenTurn) {
            end.will_retry = false;
            self.list(Loss::Changed, "agent_end/willRetry", report);
        }
        // Messages of some roles are told nowhere else.
        let told = end.messages.iter().filter(|message| !is_state(message));
        if self.can_end_now() && !told.eq(self.tracker.messages()) {
            end.messages = self.tracker.messages().to_vec();
            self.list(Loss::Changed, "agent_end/messages", report);
        }
        self.place_event(end.into(), report);
    }

    fn can_end_now(&self) -> bool {
        matches!(
            self.place(),
            Place::Run | Place::BetweenTurns | Place::Pausing | Place::BrokenTurn
        )
    }

    /// Puts an event where it fits: at once, after ends and begins that make room for it, or not at
    /// all.
    fn place_event(&mut self, mut event: QuipuEvent, report: &mut Report) -> bool {
        let mut begun = false;
        loop {
            let fault = match self.tracker.observe(&event) {
                Ok(()) => {
                    self.ready(event);
                    return true;
                }
                Err(error) => error.fault,
            };
            match fault {
                OrderFault::Differs { .. } if matches!(event, QuipuEvent::TurnEnd(_)) => {
                    if let Some(end) = self.tracker.missing_turn_end() {
                        self.list(Loss::Changed, event.kind(), report);
                        event = end;
                    }
                    self.ready(event);
                    return true;
                }
                // It counts all the same.
                OrderFault::Differs { .. } | OrderFault::Extra { .. } | OrderFault::Message(_) => {
                    self.list(Loss::Contradiction, event.kind(), report);
                    self.ready(event);
                    return true;
                }
                OrderFault::Fold(FoldError::End { .. }) => {
                    if let QuipuEvent::MessageUpdate(update) = &mut event
                        && self.agree(&mut update.assistant_message_event)
                    {
                        let name = "message_update/assistantMessageEvent";
                        self.list(Loss::Changed, name, report);
                        continue;
                    }
                }
                OrderFault::Place { .. }
                | OrderFault::Open { .. }
                | OrderFault::NotOpen { .. }
                | OrderFault::Reused { .. }
                | OrderFault::Fold(_) => {}
            }
            let step = match self.step_towards(&event) {
                // What was begun for it is not what it needs.
                Some(Step::End) if begun => None,
                Some(Step::End) => self.tracker.next_end(&unknown_end()),
                Some(Step::Begin(step)) => {
                    begun = true;
                    Some(*step)
                }
                None => None,
            };
            let took = step.is_some_and(|step| {
                let taken = self.tracker.observe(&step).is_ok();
                if taken {
                    self.list(Loss::Invented, step.kind(), report);
                    self.ready(step);
                }
                taken
            });
            if !took {
                self.list(Loss::Misplaced, event.kind(), report);
                return false;
            }
        }
    }

    /// Hands out an event that the tracker has seen.
    fn ready(&mut self, event: QuipuEvent) {
        self.ends.note(&event);
        self.ready.push(event);
    }

    /// Writes the native header that stands for this one.
    pub(super) fn header(&mut self, header: SessionHeader, report: &mut Report) {
        self.list(Loss::Invented, "session/stream", report);
        self.push(header.into(), report);
    }

    /// Closes what is open and ends the stream. `lines` is how many lines of it were written.
    pub(super) fn finish(&mut self, interrupted: bool, lines: u64, report: &mut Report) {
        self.pass_blank(None, report);
        if matches!(self.place(), Place::Start | Place::End) {
            return;
        }
        self.release_all(report);
        let reason = CloseReason {
            stop_reason: StopReason::Aborted,
            message: "The recording ends here.".to_owned(),
        };
        for end in self.tracker.close(&reason) {
            self.list(Loss::Invented, end.kind(), report);
            self.ready(end);
        }
        let (outcome, exit_code, error) = if interrupted {
            let error = error_of(ErrorCode::Interrupted, reason.message);
            (Outcome::Interrupted, 143, Some(error))
        } else {
            self.ends.outcome()
        };
        let totals = self.tracker.totals();
        let end = StreamEndEvent {
            outcome,
            exit_code,
            error,
            usage: totals.usage.clone(),
            turns: totals.turns,
            lines: lines + self.ready.len() as u64 + 1,
        };
        self.list(Loss::Invented, "stream_end", report);
        self.place_event(end.into(), report);
    }

    /// Takes the terminal line of a native stream; what it counts is counted anew if lines are
    /// missing.
    pub(super) fn stream_end(&mut self, mut end: StreamEndEvent, report: &mut Report) {
        self.pass_blank(None, report);
        self.release_all(report);
        for closing in self.tracker.close(&unknown_end()) {
            self.list(Loss::Invented, closing.kind(), report);
            self.ready(closing);
        }
        let totals = self.tracker.totals();
        if (&end.usage, end.turns) != (&totals.usage, totals.turns)
            && !totals.agree(&end.usage, end.turns)
        {
            end.usage = totals.usage.clone();
            end.turns = totals.turns;
            self.list(Loss::Changed, "stream_end", report);
        }
        self.place_event(end.into(), report);
    }
}

impl Ends {
    fn note(&mut self, event: &QuipuEvent) {
        match event {
            QuipuEvent::AgentStart(_) => self.settle(),
            QuipuEvent::MessageEnd(end) => {
                if let AgentMessage::Assistant(answer) = &end.message {
                    self.answered = true;
                    self.last = Some((answer.stop_reason, answer.error_message.clone()));
                }
            }
            QuipuEvent::AgentEnd(end) => {
                let last = self.last.take();
                if !end.will_retry {
                    self.run = last.map(|(stop_reason, message)| match stop_reason {
                        StopReason::Error => (Outcome::Failed, message),
                        StopReason::Aborted => (Outcome::Aborted, message),
                        _ => (Outcome::Completed, None),
                    });
                }
            }
            QuipuEvent::CompactionEnd(end)
                if end.will_retry && end.reason == CompactionReason::Overflow =>
            {
                self.run = None;
            }
            _ => {}
        }
    }

    /// Counts the last run: nothing undoes it any more.
    fn settle(&mut self) {
        let rank = |outcome: Outcome| match outcome {
            Outcome::Completed => 0,
            Outcome::Failed => 1,
            _ => 2,
        };
        if let Some(run) = self.run.take()
            && self
                .worst
                .as_ref()
                .is_none_or(|worst| rank(worst.0) < rank(run.0))
        {
            self.worst = Some(run);
        }
    }

    /// What a stream that ended by itself says in its terminal line.
    fn outcome(&mut self) -> (Outcome, u64, Option<StreamError>) {
        self.settle();
        let (outcome, message) = match self.worst.take() {
            Some(worst) => worst,
            // It never came to an answer.
            None => (Outcome::Failed, None),
        };
        let error = match outcome {
            Outcome::Completed => return (outcome, 0, None),
            Outcome::Aborted => ErrorCode::Interrupted,
            _ => ErrorCode::ProviderError,
        };
        let message = message.unwrap_or_else(|| "The recording does not tell why.".to_owned());
        (Outcome::Failed, 1, Some(error_of(error, message)))
    }
}

fn error_of(code: ErrorCode, message: String) -> StreamError {
    StreamError {
        code,
        message,
        retryable: false,
    }
}

/// Whether a message is told in no line of its own.
pub(super) fn is_state(message: &AgentMessage) -> bool {
    matches!(
        message,
        AgentMessage::BashExecution(_)
            | AgentMessage::BranchSummary(_)
            | AgentMessage::CompactionSummary(_)
    )
}

/// Why something is ended that the recording leaves open.
fn unknown_end() -> CloseReason {
    CloseReason {
        stop_reason: StopReason::Error,
        message: "The recording does not tell how this ended.".to_owned(),
    }
}

/// What a native header says of its stream.
pub(super) fn stream_info() -> StreamInfo {
    StreamInfo {
        wire: WireName::Quipu,
        version: SCHEMA_VERSION.to_owned(),
        schema: SCHEMA_HASH.to_owned(),
    }
}

/// The header of a background agent's stream, of which its parent's wire shows nothing.
pub(super) fn agent_header(
    id: &str,
    agent_type: Option<String>,
    parent: Option<&SessionHeader>,
) -> SessionHeader {
    SessionHeader {
        version: SessionHeaderVersion,
        id: id.to_owned(),
        timestamp: parent.map_or_else(
            || "1970-01-01T00:00:00.000Z".to_owned(),
            |parent| parent.timestamp.clone(),
        ),
        cwd: parent.map_or_else(|| "/".to_owned(), |parent| parent.cwd.clone()),
        parent_session: None,
        agent_type,
        stream: stream_info(),
    }
}

/// Whether a delta opens or closes a call, which alone names a tool.
fn may_resolve(delta: &AssistantMessageEvent) -> bool {
    matches!(
        delta,
        AssistantMessageEvent::ToolcallStart(_) | AssistantMessageEvent::ToolcallEnd(_)
    )
}
