//! One model answer: provider-neutral deltas in, message events out.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use futures_util::StreamExt as _;

use super::{Agent, Halt, Turn, now, resolve};
use crate::config::Secrets;
use crate::event::{
    AgentMessage, AssistantContent, AssistantMessage, AssistantMessageEvent, ErrorCode,
    MessageEndEvent, MessageStartEvent, MessageUpdateEvent, Number, PartialJson, StopReason,
    TextContent, TextDelta, TextEnd, TextStart, ThinkingContent, ThinkingContentRedacted,
    ThinkingDelta, ThinkingEnd, ThinkingStart, ToolCall, ToolCallIncomplete, ToolcallDelta,
    ToolcallEnd, ToolcallStart,
};
use crate::model::{ModelDelta, ModelError, ModelRequest, TokenUsage, new_call_id};

/// The text of a thinking block whose content the service keeps to itself.
const REDACTED: &str = "[Reasoning redacted]";
const ABORTED: &str = "The request was aborted.";

impl Agent {
    /// Asks the model once and streams its answer.
    ///
    /// The second value tells how the turn ends if this answer failed or was aborted.
    pub(super) async fn answer(&mut self) -> Result<(AssistantMessage, Option<Turn>), Halt> {
        let began = Instant::now();
        let config = &self.config;
        let mut stream = config.provider.stream(ModelRequest {
            system_prompt: config.system_prompt.clone(),
            messages: self.messages(),
            tools: Arc::clone(&self.specs),
            thinking: config.thinking,
            max_tokens: None,
        });
        let mut answer = Answer::new(self);
        let mut accepted = false;
        let end = loop {
            let delta = tokio::select! {
                biased;
                () = config.cancel.cancelled() => break End::Aborted,
                delta = stream.next() => delta,
            };
            let delta = match delta {
                Some(Ok(delta)) => delta,
                Some(Err(error)) => break End::Failed(error),
                None => break End::Failed(unfinished()),
            };
            match delta {
                ModelDelta::Accepted => {
                    if !accepted {
                        accepted = true;
                        self.emit(MessageStartEvent {
                            message: answer.message.clone().into(),
                        })
                        .await?;
                    }
                }
                ModelDelta::Finished {
                    stop_reason,
                    refusal,
                } => break End::Finished(stop_reason, refusal),
                delta => match answer.apply_all(delta, self) {
                    Ok(events) => {
                        for (event, resolved_tool_name) in events {
                            let usage = answer.message.usage.clone();
                            self.emit(MessageUpdateEvent {
                                usage,
                                assistant_message_event: event,
                                resolved_tool_name,
                            })
                            .await?;
                        }
                    }
                    Err(error) => break End::Failed(error),
                },
            }
        };
        drop(stream);
        let (message, end) = answer.finish(end, began, self);
        if !accepted {
            self.emit(MessageStartEvent {
                message: message.clone().into(),
            })
            .await?;
        }
        let whole = AgentMessage::from(message.clone());
        self.keep(&whole)?;
        self.emit(MessageEndEvent { message: whole }).await?;
        Ok((message, end))
    }
}

/// The event of a delta, and the tool that a call will run.
type Told = (AssistantMessageEvent, Option<String>);

enum End {
    Finished(StopReason, Option<String>),
    Failed(ModelError),
    Aborted,
}

fn unfinished() -> ModelError {
    ModelError::network("The answer ended before the service said that it was complete.")
}

fn out_of_order(what: &str) -> ModelError {
    ModelError::provider(format!("The service sent {what}."))
}

/// An answer as it grows.
struct Answer {
    message: AssistantMessage,
    blocks: Vec<Block>,
}

/// What a block needs beside its content.
struct Block {
    open: bool,
    /// The arguments of a tool call so far.
    arguments: Option<PartialJson>,
    /// An end of its text that may be a part of a secret; see `Secrets::scrub_piece`.
    tail: String,
}

impl Answer {
    fn new(agent: &Agent) -> Self {
        let model = &agent.config.model;
        Self {
            message: AssistantMessage {
                content: Vec::new(),
                api: model.api.as_str().to_owned(),
                provider: model.provider.clone(),
                model: model.id.clone(),
                usage: TokenUsage::default().priced(&model.cost),
                stop_reason: StopReason::Pending,
                timestamp: now(),
                response_id: None,
                response_model: None,
                error_message: None,
                duration_ms: None,
            },
            blocks: Vec::new(),
        }
    }

    /// Takes one delta of the service; what it says goes on without secrets.
    fn apply_all(&mut self, mut delta: ModelDelta, agent: &Agent) -> Result<Vec<Told>, ModelError> {
        let mut told = Vec::with_capacity(1);
        let secrets = &agent.config.secrets;
        match &mut delta {
            ModelDelta::TextDelta {
                index,
                delta: piece,
            }
            | ModelDelta::ThinkingDelta {
                index,
                delta: piece,
            } => {
                if let Some(block) = self.blocks.get_mut(*index) {
                    *piece = secrets.scrub_piece(&mut block.tail, std::mem::take(piece));
                    if piece.is_empty() {
                        return Ok(told);
                    }
                }
            }
            ModelDelta::ToolcallDelta {
                index,
                delta: piece,
            } => {
                if let Some(block) = self.blocks.get_mut(*index) {
                    *piece = secrets.scrub_json_piece(&mut block.tail, std::mem::take(piece));
                    if piece.is_empty() {
                        return Ok(told);
                    }
                }
            }
            ModelDelta::TextEnd { index, signature }
            | ModelDelta::ThinkingEnd {
                index, signature, ..
            } => {
                scrub(signature.as_mut(), secrets);
                if let Some(rest) = self.rest(*index, secrets) {
                    told.extend(self.apply(rest, agent)?);
                }
            }
            ModelDelta::ToolcallEnd { index } => {
                if let Some(rest) = self.rest(*index, secrets) {
                    told.extend(self.apply(rest, agent)?);
                }
            }
            ModelDelta::ToolcallStart { id, name, .. } => {
                scrub(Some(name), secrets);
                // Results are paired by it, so two may not become alike.
                if matches!(secrets.scrub(id), Cow::Owned(_)) {
                    *id = new_call_id();
                }
            }
            ModelDelta::ResponseId(text)
            | ModelDelta::ResponseModel(text)
            | ModelDelta::ToolcallSignature {
                signature: text, ..
            } => scrub(Some(text), secrets),
            ModelDelta::Accepted
            | ModelDelta::TextStart { .. }
            | ModelDelta::ThinkingStart { .. }
            | ModelDelta::Usage(_)
            | ModelDelta::Finished { .. } => {}
        }
        told.extend(self.apply(delta, agent)?);
        Ok(told)
    }

    /// The piece of a block that was kept back, if any: no more of it comes.
    fn rest(&mut self, index: usize, secrets: &Secrets) -> Option<ModelDelta> {
        let kept = std::mem::take(&mut self.blocks.get_mut(index)?.tail);
        if kept.is_empty() {
            return None;
        }
        let delta = secrets.scrub(&kept).into_owned();
        Some(match self.message.content.get(index)? {
            AssistantContent::Text(_) => ModelDelta::TextDelta { index, delta },
            AssistantContent::Thinking(_) => ModelDelta::ThinkingDelta { index, delta },
            AssistantContent::ToolCall(_) => ModelDelta::ToolcallDelta {
                index,
                delta: secrets.scrub_json(&kept).into_owned(),
            },
        })
    }

    /// Takes one delta; gives the event that tells of it and the tool a call will run.
    #[allow(
        clippy::too_many_lines,
        reason = "one short arm for each kind of delta"
    )]
    fn apply(&mut self, delta: ModelDelta, agent: &Agent) -> Result<Option<Told>, ModelError> {
        let mut resolved = None;
        let event: AssistantMessageEvent = match delta {
            ModelDelta::Accepted | ModelDelta::Finished { .. } => return Ok(None),
            ModelDelta::ResponseId(id) => {
                self.message.response_id = Some(id);
                return Ok(None);
            }
            ModelDelta::ResponseModel(model) => {
                self.message.response_model = (model != self.message.model).then_some(model);
                return Ok(None);
            }
            ModelDelta::Usage(usage) => {
                self.message.usage = usage.priced(&agent.config.model.cost);
                return Ok(None);
            }
            ModelDelta::TextStart { index } => {
                let content_index = self.open(index, no_text().into(), None)?;
                TextStart { content_index }.into()
            }
            ModelDelta::TextDelta { index, delta } => {
                self.text(index)?.text.push_str(&delta);
                TextDelta {
                    content_index: index as u64,
                    delta,
                }
                .into()
            }
            ModelDelta::TextEnd { index, signature } => {
                let text = self.text(index)?;
                text.text_signature = signature;
                let content = text.text.clone();
                let content_index = self.close(index);
                TextEnd {
                    content_index,
                    content,
                }
                .into()
            }
            ModelDelta::ThinkingStart { index } => {
                let content_index = self.open(index, no_thinking().into(), None)?;
                ThinkingStart { content_index }.into()
            }
            ModelDelta::ThinkingDelta { index, delta } => {
                self.thinking(index)?.thinking.push_str(&delta);
                ThinkingDelta {
                    content_index: index as u64,
                    delta,
                }
                .into()
            }
            ModelDelta::ThinkingEnd {
                index,
                signature,
                redacted,
            } => {
                let thinking = self.thinking(index)?;
                thinking.thinking_signature = signature;
                if redacted {
                    thinking.redacted = Some(ThinkingContentRedacted);
                    REDACTED.clone_into(&mut thinking.thinking);
                }
                let content = thinking.thinking.clone();
                let content_index = self.close(index);
                ThinkingEnd {
                    content_index,
                    content,
                }
                .into()
            }
            ModelDelta::ToolcallStart { index, id, name } => {
                resolved = Some(agent.resolved_name(&name).to_owned());
                let call = no_arguments(id.clone(), name.clone()).into();
                let content_index = self.open(index, call, Some(PartialJson::default()))?;
                ToolcallStart {
                    content_index,
                    id,
                    tool_name: name,
                }
                .into()
            }
            ModelDelta::ToolcallDelta { index, delta } => {
                self.call(index)?;
                if let Some(arguments) = &mut self.blocks[index].arguments {
                    arguments.push(&delta);
                }
                ToolcallDelta {
                    content_index: index as u64,
                    delta,
                }
                .into()
            }
            ModelDelta::ToolcallSignature { index, signature } => {
                self.call(index)?.thought_signature = Some(signature);
                return Ok(None);
            }
            ModelDelta::ToolcallEnd { index } => {
                let arguments = self
                    .blocks
                    .get_mut(index)
                    .and_then(|block| block.arguments.take());
                let call = self.call(index)?;
                settle(call, arguments.unwrap_or_default());
                resolved = Some(agent.resolved_name(&call.name).to_owned());
                let tool_call = call.clone();
                let content_index = self.close(index);
                ToolcallEnd {
                    content_index,
                    tool_call,
                }
                .into()
            }
        };
        Ok(Some((event, resolved)))
    }

    fn text(&mut self, index: usize) -> Result<&mut TextContent, ModelError> {
        match self.growing(index)? {
            AssistantContent::Text(text) => Ok(text),
            AssistantContent::Thinking(_) | AssistantContent::ToolCall(_) => Err(wrong_kind(index)),
        }
    }

    fn thinking(&mut self, index: usize) -> Result<&mut ThinkingContent, ModelError> {
        match self.growing(index)? {
            AssistantContent::Thinking(thinking) => Ok(thinking),
            AssistantContent::Text(_) | AssistantContent::ToolCall(_) => Err(wrong_kind(index)),
        }
    }

    fn call(&mut self, index: usize) -> Result<&mut ToolCall, ModelError> {
        match self.growing(index)? {
            AssistantContent::ToolCall(call) => Ok(call),
            AssistantContent::Text(_) | AssistantContent::Thinking(_) => Err(wrong_kind(index)),
        }
    }

    fn open(
        &mut self,
        index: usize,
        content: AssistantContent,
        arguments: Option<PartialJson>,
    ) -> Result<u64, ModelError> {
        if index != self.blocks.len() {
            return Err(out_of_order(&format!("content block {index} out of order")));
        }
        self.blocks.push(Block {
            open: true,
            arguments,
            tail: String::new(),
        });
        self.message.content.push(content);
        Ok(index as u64)
    }

    fn growing(&mut self, index: usize) -> Result<&mut AssistantContent, ModelError> {
        let open = self.blocks.get(index).is_some_and(|block| block.open);
        match self.message.content.get_mut(index) {
            Some(content) if open => Ok(content),
            _ => Err(out_of_order(&format!(
                "a piece of content block {index}, which is not open"
            ))),
        }
    }

    /// Marks a block as whole and gives its index on the wire.
    fn close(&mut self, index: usize) -> u64 {
        if let Some(block) = self.blocks.get_mut(index) {
            block.open = false;
        }
        index as u64
    }

    /// The final message, and how it ends the turn if the answer failed.
    fn finish(
        mut self,
        end: End,
        began: Instant,
        agent: &Agent,
    ) -> (AssistantMessage, Option<Turn>) {
        let open_call = self.settle_open_calls();
        let message = &mut self.message;
        message.duration_ms = Some(Number::from(began.elapsed().as_secs_f64() * 1000.0));
        let fail = |message: &mut AssistantMessage, mut error: ModelError| {
            error.message = agent.config.secrets.scrub(&error.message).into_owned();
            message.stop_reason = StopReason::Error;
            message.error_message = Some(error.message.clone());
            Turn::Failed(error)
        };
        let end = match end {
            End::Aborted => {
                message.stop_reason = StopReason::Aborted;
                message.error_message = Some(ABORTED.to_owned());
                Some(Turn::Aborted)
            }
            End::Failed(error) => Some(fail(message, error)),
            End::Finished(..) if open_call || self.blocks.iter().any(|block| block.open) => {
                Some(fail(
                    message,
                    out_of_order("an answer whose last content block never ended"),
                ))
            }
            End::Finished(StopReason::Error, refusal) => {
                let text = refusal.unwrap_or_else(|| "The model refused to answer.".to_owned());
                Some(fail(
                    message,
                    ModelError::new(ErrorCode::ContentRefused, text),
                ))
            }
            End::Finished(reason @ (StopReason::Aborted | StopReason::Pending), _) => Some(fail(
                message,
                out_of_order(&format!("an impossible end ({reason:?})")),
            )),
            End::Finished(reason, _) => {
                let calls = message
                    .content
                    .iter()
                    .any(|b| matches!(b, AssistantContent::ToolCall(_)));
                // What runs tools is the presence of calls; the reason has to say the same.
                message.stop_reason = match (reason, calls) {
                    (StopReason::Stop, true) => StopReason::ToolUse,
                    (StopReason::ToolUse, false) => StopReason::Stop,
                    (reason, _) => reason,
                };
                None
            }
        };
        (self.message, end)
    }

    /// Gives calls that were cut while open what is known of their arguments.
    fn settle_open_calls(&mut self) -> bool {
        let mut any = false;
        for (block, content) in self.blocks.iter_mut().zip(&mut self.message.content) {
            if let (Some(arguments), AssistantContent::ToolCall(call)) =
                (block.arguments.take(), content)
            {
                settle(call, arguments);
                any = true;
            }
        }
        any
    }
}

fn settle(call: &mut ToolCall, arguments: PartialJson) {
    let so_far = arguments.value().clone();
    match arguments.finish() {
        Ok(arguments) => call.arguments = arguments,
        Err(error) => {
            call.arguments = so_far;
            call.incomplete = Some(ToolCallIncomplete);
            call.error_message = Some(error.to_string());
        }
    }
}

fn scrub(text: Option<&mut String>, secrets: &Secrets) {
    if let Some(text) = text
        && let Cow::Owned(clean) = secrets.scrub(text)
    {
        *text = clean;
    }
}

fn no_text() -> TextContent {
    TextContent {
        text: String::new(),
        text_signature: None,
    }
}

fn no_thinking() -> ThinkingContent {
    ThinkingContent {
        thinking: String::new(),
        thinking_signature: None,
        redacted: None,
    }
}

fn no_arguments(id: String, name: String) -> ToolCall {
    ToolCall {
        id,
        name,
        arguments: serde_json::Map::new(),
        thought_signature: None,
        incomplete: None,
        error_message: None,
    }
}

fn wrong_kind(index: usize) -> ModelError {
    out_of_order(&format!(
        "a piece of another kind than content block {index}"
    ))
}

impl Agent {
    /// The conversation for a request.
    fn messages(&self) -> Vec<AgentMessage> {
        let messages = self.context.iter().map(|entry| entry.message.clone());
        messages.collect()
    }

    /// The tool that a call of this name runs; the name itself when nothing or several match.
    pub(super) fn resolved_name<'a>(&'a self, name: &'a str) -> &'a str {
        let tools: Vec<&str> = self.config.tools.iter().map(|tool| tool.name()).collect();
        resolve(name, &tools).unwrap_or(name)
    }
}
