//! Answers of a model: their blocks, the deltas that tell them, and how they end.

use std::io;

use super::random::braid;
use super::script::{Script, nothing};
use super::text;
use crate::event::{
    AssistantContent, AssistantMessage, AssistantMessageEvent, MessageStartEvent,
    MessageUpdateEvent, PartialJson, StopReason, TextContent, TextDelta, TextEnd, TextStart,
    ThinkingContent, ThinkingContentRedacted, ThinkingDelta, ThinkingEnd, ThinkingStart, ToolCall,
    ToolCallIncomplete, ToolcallDelta, ToolcallEnd, ToolcallStart, Usage,
};

/// A block as it will be told.
pub(super) enum Part {
    Text(TextContent),
    Thinking(ThinkingContent),
    Call(Call),
}

/// A call of a tool.
pub(super) struct Call {
    pub(super) id: String,
    /// As the model writes it.
    pub(super) name: &'static str,
    /// The tool that it means.
    pub(super) tool: &'static str,
    /// The arguments, or as much of them as ever comes.
    pub(super) arguments: String,
    pub(super) signature: Option<String>,
}

pub(super) fn text(text: impl Into<String>, signature: Option<&str>) -> Part {
    Part::Text(TextContent {
        text: text.into(),
        text_signature: signature.map(Into::into),
    })
}

pub(super) fn thinking(thinking: impl Into<String>, signature: Option<&str>) -> Part {
    Part::Thinking(ThinkingContent {
        thinking: thinking.into(),
        thinking_signature: signature.map(Into::into),
        redacted: None,
    })
}

/// Reasoning that the service keeps to itself.
pub(super) fn redacted(signature: Option<&str>) -> Part {
    Part::Thinking(ThinkingContent {
        thinking: "[Reasoning redacted]".into(),
        thinking_signature: signature.map(Into::into),
        redacted: Some(ThinkingContentRedacted),
    })
}

/// A block and its deltas; the tool of a call stands beside those that may name it.
struct Told {
    block: AssistantContent,
    deltas: Vec<(AssistantMessageEvent, Option<&'static str>)>,
}

impl Script<'_> {
    /// A call with whole arguments.
    pub(super) fn call(&mut self, name: &'static str, tool: &'static str) -> Call {
        let id = self.id("call_");
        let text = self.text();
        let arguments = text::arguments(&mut self.random, &format!("echo {id}"), &text);
        // Of the calls of one answer every other one is signed.
        let signed = id.ends_with(['0', '2', '4', '6', '8']);
        let signature = signed.then(|| "c2lnbmF0dXJl".to_owned());
        Call {
            id,
            name,
            tool,
            arguments,
            signature,
        }
    }

    /// An answer that has begun. With the stop reasons `error` and `aborted` its last block is left
    /// open.
    pub(super) fn answer(
        &mut self,
        parts: Vec<Part>,
        stop_reason: StopReason,
    ) -> io::Result<AssistantMessage> {
        let fresh = self.fresh();
        let usage = self.usage();
        self.requests += 1;
        self.emit(MessageStartEvent {
            message: fresh.clone().into(),
        })?;
        let broken = matches!(stop_reason, StopReason::Error | StopReason::Aborted);
        let last = parts.len().saturating_sub(1);
        let mut content = Vec::new();
        let mut lists = Vec::new();
        for (index, part) in (0..).zip(parts) {
            let told = self.told(index, part, broken && content.len() == last);
            content.push(told.block);
            lists.push(told.deltas);
        }
        let deltas = braid(&mut self.random, lists, 6);
        self.updates(deltas, &usage)?;
        let message = self.finished(fresh, content, usage, stop_reason);
        self.message_end(message.clone().into())?;
        Ok(message)
    }

    /// A request that failed, or was stopped, before the service accepted it.
    pub(super) fn failed_request(
        &mut self,
        stop_reason: StopReason,
        error: &str,
    ) -> io::Result<AssistantMessage> {
        let mut message = self.fresh();
        self.requests += 1;
        message.stop_reason = stop_reason;
        message.error_message = Some(error.into());
        message.duration_ms = self.random.once_in(2).then(|| 95.0.into());
        self.message(message.clone())?;
        Ok(message)
    }

    fn fresh(&self) -> AssistantMessage {
        let (provider, id, api) = self.service;
        AssistantMessage {
            content: Vec::new(),
            api: api.into(),
            provider: provider.into(),
            model: id.into(),
            usage: nothing(),
            stop_reason: StopReason::Pending,
            timestamp: self.clock,
            response_id: None,
            response_model: None,
            error_message: None,
            duration_ms: None,
        }
    }

    fn finished(
        &mut self,
        fresh: AssistantMessage,
        content: Vec<AssistantContent>,
        usage: Usage,
        stop_reason: StopReason,
    ) -> AssistantMessage {
        let error = match stop_reason {
            StopReason::Error => Some("The stream was cut: connection reset.".into()),
            StopReason::Aborted => Some("The run was aborted.".into()),
            _ => None,
        };
        #[allow(clippy::cast_precision_loss, reason = "a few minutes at most")]
        let duration = (self.clock - fresh.timestamp) as f64
            + f64::from(u8::from(self.requests.is_multiple_of(2))) / 4.0;
        AssistantMessage {
            content,
            usage,
            stop_reason,
            response_id: (!self.requests.is_multiple_of(4))
                .then(|| format!("msg_{:016x}", self.random.next())),
            response_model: self
                .requests
                .is_multiple_of(3)
                .then(|| format!("{}-20260401", fresh.model)),
            error_message: error,
            duration_ms: Some(duration.into()),
            ..fresh
        }
    }

    fn updates(
        &mut self,
        deltas: Vec<(AssistantMessageEvent, Option<&'static str>)>,
        usage: &Usage,
    ) -> io::Result<()> {
        // Some services tell the input first, some nothing before the end.
        let early = self.requests.is_multiple_of(2);
        let count = u64::try_from(deltas.len()).unwrap_or(u64::MAX).max(1);
        for (at, (delta, tool)) in (0..count).zip(deltas) {
            let mut so_far = nothing();
            if early {
                so_far.input = usage.input;
                so_far.output =
                    u64::try_from(u128::from(usage.output) * u128::from(at) / u128::from(count))
                        .unwrap_or(0);
                so_far.total_tokens = so_far.input + so_far.output;
                so_far.cost = super::script::cost([so_far.input, so_far.output, 0, 0]);
            }
            self.emit(MessageUpdateEvent {
                usage: so_far,
                assistant_message_event: delta,
                resolved_tool_name: tool.map(Into::into),
            })?;
        }
        Ok(())
    }

    /// A block and its deltas; `cut` if its end never comes.
    fn told(&mut self, content_index: u64, part: Part, cut: bool) -> Told {
        let mut deltas: Vec<(AssistantMessageEvent, Option<&'static str>)> = Vec::new();
        let block = match part {
            Part::Text(block) => {
                deltas.push((TextStart { content_index }.into(), None));
                for delta in self.cut(&block.text) {
                    deltas.push((
                        TextDelta {
                            content_index,
                            delta,
                        }
                        .into(),
                        None,
                    ));
                }
                let content = block.text.clone();
                deltas.push((
                    TextEnd {
                        content_index,
                        content,
                    }
                    .into(),
                    None,
                ));
                block.into()
            }
            Part::Thinking(block) => {
                deltas.push((ThinkingStart { content_index }.into(), None));
                if block.redacted.is_none() {
                    for delta in self.cut(&block.thinking) {
                        deltas.push((
                            ThinkingDelta {
                                content_index,
                                delta,
                            }
                            .into(),
                            None,
                        ));
                    }
                }
                let content = block.thinking.clone();
                deltas.push((
                    ThinkingEnd {
                        content_index,
                        content,
                    }
                    .into(),
                    None,
                ));
                block.into()
            }
            Part::Call(call) => {
                let start = ToolcallStart {
                    content_index,
                    id: call.id.clone(),
                    tool_name: call.name.into(),
                };
                deltas.push((start.into(), Some(call.tool)));
                for delta in self.cut(&call.arguments) {
                    deltas.push((
                        ToolcallDelta {
                            content_index,
                            delta,
                        }
                        .into(),
                        None,
                    ));
                }
                let tool = call.tool;
                let tool_call = call.read();
                let end = ToolcallEnd {
                    content_index,
                    tool_call: tool_call.clone(),
                };
                deltas.push((end.into(), Some(tool)));
                tool_call.into()
            }
        };
        if cut {
            deltas.pop();
        }
        Told { block, deltas }
    }

    fn cut(&mut self, text: &str) -> Vec<String> {
        // The whole message so far stands on each line of the dreb wire: long texts get large pieces.
        let most = if text.len() > 400 { 120 } else { 14 };
        text::pieces(&mut self.random, text, most)
    }
}

impl Call {
    /// The call as its arguments tell it.
    fn read(self) -> ToolCall {
        let mut arguments = PartialJson::default();
        arguments.push(&self.arguments);
        let fault = arguments.check().err();
        ToolCall {
            id: self.id,
            name: self.name.into(),
            arguments: arguments.into_value(),
            thought_signature: self.signature,
            incomplete: fault.as_ref().map(|_| ToolCallIncomplete),
            error_message: fault.map(|fault| fault.to_string()),
        }
    }
}
