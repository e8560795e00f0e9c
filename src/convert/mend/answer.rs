//! Messages, and the deltas that an answer is missing.

use super::bridge::is_broken;
use super::{Mender, may_resolve};
use crate::convert::report::{Loss, Report};
use crate::event::tracker::Place;
use crate::event::{
    AgentMessage, AssistantContent, AssistantMessage, AssistantMessageEvent as Delta,
    MessageEndEvent, MessageStartEvent, MessageUpdateEvent, QuipuEvent, StopReason, TextContent,
    TextDelta, TextEnd, TextStart, ThinkingDelta, ThinkingEnd, ThinkingStart, ToolCall,
    ToolcallDelta, ToolcallEnd, ToolcallStart, Usage,
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
        self.usage = None;
        self.begin = match &start.message {
            AgentMessage::Assistant(answer) if !is_broken(answer.stop_reason) => {
                Some(answer.clone())
            }
            _ => None,
        };
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
                self.settle_calls(answer, report);
            }
            // The begin and the updates are written already.
            if let Some(begin) = self.begin.take() {
                let told = [
                    ("api", begin.api != answer.api),
                    ("provider", begin.provider != answer.provider),
                    ("model", begin.model != answer.model),
                    ("timestamp", begin.timestamp != answer.timestamp),
                ];
                for (field, _) in told.into_iter().filter(|(_, differs)| *differs) {
                    let name = format!("message_end/message/{field}");
                    self.list(Loss::Contradiction, &name, report);
                }
            }
            if let Some(told) = self.usage.take()
                && shrinks(&told, &answer.usage)
            {
                self.list(Loss::Contradiction, "message_end/message/usage", report);
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
            self.usage = Some(update.usage.clone());
            // Of a background agent no line can wait: those of others come between.
            if self.within.is_empty() && is_blank(&update.assistant_message_event) {
                self.blank = Some(update);
                return;
            }
        }
        self.place_event(update.into(), report);
    }

    /// Hands out the blank thinking that was kept, unless the event that comes next is an end of its
    /// block that does not have it, as some services write it between and after parts of a thought.
    pub(super) fn pass_blank(&mut self, next: Option<&QuipuEvent>, report: &mut Report) {
        let Some(blank) = self.blank.take() else {
            return;
        };
        if let Some(QuipuEvent::MessageUpdate(update)) = next
            && let Delta::ThinkingEnd(end) = &update.assistant_message_event
            && let Delta::ThinkingDelta(piece) = &blank.assistant_message_event
            && end.content_index == piece.content_index
            && let Some(AssistantContent::Thinking(told)) = self.block(end.content_index)
            && told.thinking == end.content
        {
            self.list(Loss::Misplaced, "message_update (blank thinking)", report);
            return;
        }
        self.place_event(blank.into(), report);
    }

    /// A block of the open answer, as far as it was told.
    fn block(&self, index: u64) -> Option<AssistantContent> {
        let at = usize::try_from(index).ok()?;
        self.tracker.answer().content().into_iter().nth(at)
    }

    /// Makes the calls of the message as whole as their pieces were. A producer that runs calls
    /// that were cut off does not say that they were.
    fn settle_calls(&self, message: &mut AssistantMessage, report: &mut Report) {
        let is_call = |block: &AssistantContent| matches!(block, AssistantContent::ToolCall(_));
        if !message.content.iter().any(is_call) {
            return;
        }
        let fold = self.tracker.answer();
        let told = fold.content();
        for (at, (told, block)) in told.into_iter().zip(&mut message.content).enumerate() {
            if let (AssistantContent::ToolCall(told), AssistantContent::ToolCall(call)) =
                (told, block)
                && !fold.is_open(at)
                && told.incomplete != call.incomplete
                && (&told.id, &told.arguments) == (&call.id, &call.arguments)
            {
                (call.incomplete, call.error_message) = (told.incomplete, told.error_message);
                let name = "message_end/message/content/*/incomplete";
                self.list(Loss::Changed, name, report);
            }
        }
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
        match (&mut *delta, self.block(index)) {
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

/// Whether a delta adds nothing but space to a thought.
fn is_blank(delta: &Delta) -> bool {
    matches!(delta, Delta::ThinkingDelta(piece) if !piece.delta.is_empty() && piece.delta.trim().is_empty())
}

/// Whether a count of tokens is smaller in a later report.
fn shrinks(before: &Usage, after: &Usage) -> bool {
    let counts = |usage: &Usage| {
        [
            usage.input,
            usage.output,
            usage.cache_read,
            usage.cache_write,
            usage.cache_write1h.unwrap_or(0),
            usage.reasoning.unwrap_or(0),
            usage.total_tokens,
        ]
    };
    let mut counts = counts(before).into_iter().zip(counts(after));
    counts.any(|(before, after)| before > after)
}
