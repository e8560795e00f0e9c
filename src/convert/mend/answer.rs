//! Messages, and the deltas that an answer is missing.

use super::bridge::is_broken;
use super::{Mender, may_resolve};
use crate::convert::report::{Loss, Report};
use crate::event::tracker::Place;
use crate::event::{
    AgentMessage, AssistantContent, AssistantMessage, AssistantMessageEvent as Delta,
    MessageEndEvent, MessageStartEvent, MessageUpdateEvent, StopReason, TextContent, TextDelta,
    TextEnd, TextStart, ThinkingDelta, ThinkingEnd, ThinkingStart, ToolCall, ToolcallDelta,
    ToolcallEnd, ToolcallStart, Usage,
};

impl Mender {
    pub(super) fn message_start(&mut self, mut start: MessageStartEvent, report: &mut Report) {
        match &mut start.message {
            AgentMessage::Assistant(answer) if !is_broken(answer.stop_reason) => {
                if answer.stop_reason != StopReason::Pending || !answer.content.is_empty() {
                    self.list(Loss::Changed, "message_start/message", report);
                }
                answer.stop_reason = StopReason::Pending;
                answer.content.clear();
            }
            AgentMessage::ToolResult(result) if self.hold(result) => return,
            _ => {}
        }
        self.left_out = !self.place_event(start.into(), report);
    }

    pub(super) fn message_end(&mut self, mut end: MessageEndEvent, report: &mut Report) {
        if self.held_end(&end.message) {
            return;
        }
        if std::mem::take(&mut self.left_out) {
            self.list(Loss::Misplaced, "message_end", report);
            return;
        }
        if let AgentMessage::Assistant(answer) = &mut end.message {
            if answer.stop_reason == StopReason::Pending {
                answer.stop_reason = StopReason::Stop;
                self.list(Loss::Changed, "message_end/message/stopReason", report);
            }
            if !matches!(self.place(), Place::Answer | Place::FailedRequest) {
                // Its begin was left out of the recording.
                let mut message = answer.clone();
                if !is_broken(message.stop_reason) {
                    message.stop_reason = StopReason::Pending;
                    message.content.clear();
                }
                let message = message.into();
                self.list(Loss::Invented, "message_start", report);
                if !self.place_event(MessageStartEvent { message }.into(), report) {
                    self.list(Loss::Misplaced, "message_end", report);
                    return;
                }
            }
            if self.place() == Place::Answer {
                self.fill(answer, report);
            }
        }
        self.place_event(end.into(), report);
    }

    pub(super) fn message_update(&mut self, mut update: MessageUpdateEvent, report: &mut Report) {
        if update.resolved_tool_name.is_some() && !may_resolve(&update.assistant_message_event) {
            update.resolved_tool_name = None;
            self.list(Loss::Changed, "message_update/resolvedToolName", report);
        }
        if self.place() == Place::Answer {
            self.begin_block(&update, report);
        }
        self.place_event(update.into(), report);
    }

    /// Gives the begin and the text of a block whose end is the first that is told of it.
    fn begin_block(&mut self, update: &MessageUpdateEvent, report: &mut Report) {
        let (index, block) = match &update.assistant_message_event {
            Delta::TextEnd(end) if end.content_index >= self.tracker.answer().len() as u64 => {
                let text = TextContent {
                    text: end.content.clone(),
                    text_signature: None,
                };
                (end.content_index, AssistantContent::from(text))
            }
            Delta::ToolcallEnd(end) if end.content_index >= self.tracker.answer().len() as u64 => {
                (end.content_index, end.tool_call.clone().into())
            }
            _ => return,
        };
        if index != self.tracker.answer().len() as u64 {
            return;
        }
        let mut deltas = Vec::new();
        whole(&block, index, false, &mut deltas);
        // The end is told.
        deltas.pop();
        for delta in deltas {
            let event = update_of(delta, &update.usage);
            self.list(Loss::Invented, "message_update", report);
            self.place_event(event.into(), report);
        }
    }

    /// Makes the end of a block say what its pieces did, and says whether that changes it.
    pub(super) fn agree(&self, delta: &mut Delta) -> bool {
        let index = match delta {
            Delta::TextEnd(TextEnd { content_index, .. })
            | Delta::ThinkingEnd(ThinkingEnd { content_index, .. })
            | Delta::ToolcallEnd(ToolcallEnd { content_index, .. }) => *content_index,
            _ => return false,
        };
        let before = delta.clone();
        let content = self.tracker.answer().content();
        let told = usize::try_from(index)
            .ok()
            .and_then(|at| content.into_iter().nth(at));
        match (&mut *delta, told) {
            (Delta::TextEnd(end), Some(AssistantContent::Text(told))) => end.content = told.text,
            (Delta::ThinkingEnd(end), Some(AssistantContent::Thinking(told))) => {
                end.content = told.thinking;
            }
            (Delta::ToolcallEnd(end), Some(AssistantContent::ToolCall(told))) => {
                end.tool_call = told;
            }
            _ => return false,
        }
        *delta != before
    }

    /// Gives the deltas that the message has and the recording has not.
    fn fill(&mut self, message: &AssistantMessage, report: &mut Report) {
        let fold = self.tracker.answer();
        let broken = is_broken(message.stop_reason);
        if fold.len() == message.content.len() && (broken || fold.first_open().is_none()) {
            return;
        }
        let told = fold.content();
        let mut deltas = Vec::new();
        for (at, (block, index)) in message.content.iter().zip(0..).enumerate() {
            match told.get(at) {
                None => whole(block, index, broken, &mut deltas),
                Some(told) if !broken && fold.is_open(at) => rest(told, block, index, &mut deltas),
                Some(_) => {}
            }
        }
        if !broken {
            // Blocks that the message does not have.
            for (at, (told, index)) in told.iter().zip(0..).enumerate() {
                if at >= message.content.len() && fold.is_open(at) {
                    rest(told, told, index, &mut deltas);
                }
            }
        }
        for delta in deltas {
            let event = update_of(delta, &message.usage);
            self.list(Loss::Invented, "message_update", report);
            self.place_event(event.into(), report);
        }
    }
}

/// The deltas of a block that none was told of; `open` leaves it without its end.
fn whole(block: &AssistantContent, content_index: u64, open: bool, deltas: &mut Vec<Delta>) {
    match block {
        AssistantContent::Text(text) => {
            deltas.push(TextStart { content_index }.into());
            piece(
                &text.text,
                |delta| {
                    TextDelta {
                        content_index,
                        delta,
                    }
                    .into()
                },
                deltas,
            );
            if !open {
                let content = text.text.clone();
                deltas.push(
                    TextEnd {
                        content_index,
                        content,
                    }
                    .into(),
                );
            }
        }
        AssistantContent::Thinking(thinking) => {
            deltas.push(ThinkingStart { content_index }.into());
            let redacted = thinking.redacted.is_some();
            if !redacted {
                let delta = |delta| {
                    ThinkingDelta {
                        content_index,
                        delta,
                    }
                    .into()
                };
                piece(&thinking.thinking, delta, deltas);
            }
            if !open || redacted {
                let content = thinking.thinking.clone();
                deltas.push(
                    ThinkingEnd {
                        content_index,
                        content,
                    }
                    .into(),
                );
            }
        }
        AssistantContent::ToolCall(call) => {
            let start = ToolcallStart {
                content_index,
                id: call.id.clone(),
                tool_name: call.name.clone(),
            };
            deltas.push(start.into());
            // Arguments that are none cannot have been told piece by piece.
            if call.incomplete.is_none() || open {
                let arguments = serde_json::Value::Object(call.arguments.clone()).to_string();
                let delta = |delta| {
                    ToolcallDelta {
                        content_index,
                        delta,
                    }
                    .into()
                };
                piece(&arguments, delta, deltas);
            }
            if !open {
                deltas.push(end_of(call, content_index));
            }
        }
    }
}

/// The deltas that lead from a block so far to what the message has.
fn rest(
    told: &AssistantContent,
    block: &AssistantContent,
    content_index: u64,
    deltas: &mut Vec<Delta>,
) {
    match (told, block) {
        (AssistantContent::Text(told), block) => {
            let whole = match block {
                AssistantContent::Text(text) => &text.text,
                _ => &told.text,
            };
            let more = whole.strip_prefix(told.text.as_str()).unwrap_or_default();
            piece(
                more,
                |delta| {
                    TextDelta {
                        content_index,
                        delta,
                    }
                    .into()
                },
                deltas,
            );
            let content = format!("{}{more}", told.text);
            deltas.push(
                TextEnd {
                    content_index,
                    content,
                }
                .into(),
            );
        }
        (AssistantContent::Thinking(told), block) => {
            let whole = match block {
                AssistantContent::Thinking(thinking) => &thinking.thinking,
                _ => &told.thinking,
            };
            let more = whole
                .strip_prefix(told.thinking.as_str())
                .unwrap_or_default();
            piece(
                more,
                |delta| {
                    ThinkingDelta {
                        content_index,
                        delta,
                    }
                    .into()
                },
                deltas,
            );
            let content = format!("{}{more}", told.thinking);
            deltas.push(
                ThinkingEnd {
                    content_index,
                    content,
                }
                .into(),
            );
        }
        (AssistantContent::ToolCall(told), AssistantContent::ToolCall(call))
            if told.incomplete == call.incomplete && told.arguments == call.arguments =>
        {
            deltas.push(end_of(call, content_index));
        }
        (AssistantContent::ToolCall(told), _) => deltas.push(end_of(told, content_index)),
    }
}

fn end_of(call: &ToolCall, content_index: u64) -> Delta {
    ToolcallEnd {
        content_index,
        tool_call: call.clone(),
    }
    .into()
}

fn piece(text: &str, delta: impl Fn(String) -> Delta, deltas: &mut Vec<Delta>) {
    if !text.is_empty() {
        deltas.push(delta(text.to_owned()));
    }
}

fn update_of(delta: Delta, usage: &Usage) -> MessageUpdateEvent {
    let resolved_tool_name = match &delta {
        Delta::ToolcallStart(start) => Some(start.tool_name.clone()),
        Delta::ToolcallEnd(end) => Some(end.tool_call.name.clone()),
        _ => None,
    };
    MessageUpdateEvent {
        usage: usage.clone(),
        assistant_message_event: delta,
        resolved_tool_name,
    }
}
