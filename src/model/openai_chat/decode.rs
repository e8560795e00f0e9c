//! What the service answers, chunk by chunk.

use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::Value;

use super::calls::{Calls, Function, SentPiece};
use super::usage::Usage;
use crate::event::{ErrorCode, StopReason};
use crate::model::answer::{DecodeError, Decoder, cut_short};
use crate::model::sse::SseEvent;
use crate::model::{ModelDelta, ModelError, TokenUsage, json};

/// The fields in which servers send thinking; the name is kept as the signature, so that it goes
/// back in the same field.
pub(super) const THINKING_FIELDS: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_text"];
const REFUSED: &str = "The service stopped the answer because of its content.";

/// Every field of a chunk that says something to us. What is absent may also be null. Fields that
/// the answer can do without are values, since servers disagree about their types.
#[derive(Debug, Deserialize)]
struct Chunk {
    id: Option<Value>,
    model: Option<Value>,
    object: Option<Value>,
    choices: Option<Vec<Choice>>,
    #[serde(default, deserialize_with = "json::lenient")]
    usage: Option<Usage>,
    error: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct Choice {
    delta: Option<Delta>,
    /// What stands in its place in answers that are not streamed, and so from some servers here too.
    #[serde(default, deserialize_with = "json::lenient")]
    message: Option<Delta>,
    finish_reason: Option<String>,
    #[serde(default, deserialize_with = "json::lenient")]
    usage: Option<Usage>,
    error: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct Delta {
    content: Option<Content>,
    refusal: Option<String>,
    reasoning_content: Option<Value>,
    reasoning: Option<Value>,
    reasoning_text: Option<Value>,
    tool_calls: Option<Vec<SentPiece>>,
    /// The one call of servers that know the API as it was before `tool_calls`.
    #[serde(default, deserialize_with = "json::lenient")]
    function_call: Option<Function>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    /// How Mistral's thinking models send both.
    Parts(Vec<ContentPart>),
}

#[derive(Debug, Deserialize)]
struct ContentPart {
    text: Option<String>,
    thinking: Option<Content>,
}

type Out = VecDeque<ModelDelta>;

/// The indexes of the answer's blocks, and the one block of text or thinking that is open.
#[derive(Default)]
pub(super) struct Blocks {
    count: usize,
    running: Option<Running>,
}

struct Running {
    index: usize,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Text,
    /// With the name of the field that it comes in, where it has one of its own.
    Thinking(Option<&'static str>),
}

impl Blocks {
    pub(super) fn next_index(&mut self) -> usize {
        let index = self.count;
        self.count += 1;
        index
    }

    /// Ends the block of text or thinking, if one is open.
    pub(super) fn stop(&mut self, out: &mut Out) {
        let Some(Running { index, kind }) = self.running.take() else {
            return;
        };
        out.push_back(match kind {
            Kind::Text => ModelDelta::TextEnd {
                index,
                signature: None,
            },
            Kind::Thinking(field) => ModelDelta::ThinkingEnd {
                index,
                signature: field.map(str::to_owned),
                redacted: false,
            },
        });
    }
}

/// Reads the chunks of one answer.
pub(in crate::model) struct ChatDecoder {
    /// The model that answers, as far as known.
    model: String,
    has_id: bool,
    blocks: Blocks,
    calls: Calls,
    /// Whether the answer comes in deltas.
    in_deltas: bool,
    usage: Option<TokenUsage>,
    finish_reason: Option<String>,
    finished: bool,
}

impl ChatDecoder {
    /// `model` is the id that was asked for.
    pub(in crate::model) fn new(model: &str) -> Self {
        Self {
            model: model.to_owned(),
            has_id: false,
            blocks: Blocks::default(),
            calls: Calls::default(),
            in_deltas: false,
            usage: None,
            finish_reason: None,
            finished: false,
        }
    }
}

impl Decoder for ChatDecoder {
    fn event(&mut self, event: &SseEvent, out: &mut Out) -> Result<(), DecodeError> {
        match event.data.trim() {
            "[DONE]" => return Ok(self.end(out)?),
            // A sign of life.
            "" => return Ok(()),
            _ => {}
        }
        let chunk: Chunk = match json::parse(&event.data) {
            Ok(chunk) => chunk,
            Err(error) => return unreadable(event, &error),
        };
        let choice = chunk.choices.and_then(|list| list.into_iter().next());
        let is_error = chunk.error.is_some()
            || choice.as_ref().is_some_and(|choice| choice.error.is_some())
            || chunk.object.as_ref().and_then(Value::as_str) == Some("error")
            || event.event.as_deref() == Some("error");
        if is_error {
            return Err(reported(event));
        }
        self.identify(chunk.id, chunk.model, out);
        let mut usage = chunk.usage;
        if let Some(choice) = choice {
            if let Some(delta) = choice.delta {
                self.in_deltas = true;
                self.grow(delta, out)?;
            } else if let Some(message) = choice.message.filter(|_| !self.in_deltas) {
                // After deltas it would say all of them again.
                self.grow(message, out)?;
            }
            if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty())
                && !self.finish_reason.as_deref().is_some_and(is_settled)
            {
                self.finish_reason = Some(reason);
            }
            usage = usage.or(choice.usage);
        }
        if let Some(counts) = usage.and_then(|usage| usage.counts())
            && self.usage != Some(counts)
        {
            self.usage = Some(counts);
            out.push_back(ModelDelta::Usage(counts));
        }
        Ok(())
    }

    fn is_finished(&self) -> bool {
        self.finished
    }

    /// The usage comes after the reason, but an answer is one without it too.
    fn is_whole(&self) -> bool {
        self.finish_reason.is_some()
    }

    fn end(&mut self, out: &mut Out) -> Result<(), ModelError> {
        self.finished = true;
        // Also of an answer that is cut: the service has ended its stream properly.
        self.close(out);
        let reason = self.finish_reason.take().ok_or_else(cut_short)?;
        let (stop_reason, refusal) = stop_reason(&reason)?;
        if stop_reason == StopReason::ToolUse && self.blocks.count == 0 {
            return Err(ModelError::provider(format!(
                "The model stopped to use a tool and named none (finish_reason: {reason})."
            )));
        }
        out.push_back(ModelDelta::Finished {
            stop_reason,
            refusal,
        });
        Ok(())
    }
}

impl ChatDecoder {
    fn identify(&mut self, id: Option<Value>, model: Option<Value>, out: &mut Out) {
        if !self.has_id
            && let Some(id) = filled(id)
        {
            self.has_id = true;
            out.push_back(ModelDelta::ResponseId(id));
        }
        if let Some(model) = filled(model).filter(|model| *model != self.model) {
            self.model.clone_from(&model);
            out.push_back(ModelDelta::ResponseModel(model));
        }
    }

    fn grow(&mut self, delta: Delta, out: &mut Out) -> Result<(), DecodeError> {
        // Servers that have two of these fields send the same in both.
        let fields = [
            delta.reasoning_content,
            delta.reasoning,
            delta.reasoning_text,
        ];
        let thought = THINKING_FIELDS
            .into_iter()
            .zip(fields)
            .find_map(|(field, value)| Some((field, filled(value)?)));
        if let Some((field, piece)) = thought {
            self.say(Kind::Thinking(Some(field)), piece, out);
        }
        match delta.content {
            Some(Content::Text(text)) => self.say(Kind::Text, text, out),
            Some(Content::Parts(parts)) => self.parts(parts, out),
            None => {}
        }
        self.say(Kind::Text, delta.refusal.unwrap_or_default(), out);
        let old = delta.function_call.map(SentPiece::from);
        for piece in delta.tool_calls.into_iter().flatten().chain(old) {
            self.calls.take(piece, &mut self.blocks, out)?;
        }
        Ok(())
    }

    fn parts(&mut self, parts: Vec<ContentPart>, out: &mut Out) {
        for part in parts {
            let thought = match part.thinking {
                Some(Content::Text(text)) => text,
                Some(Content::Parts(parts)) => {
                    parts.into_iter().filter_map(|part| part.text).collect()
                }
                None => String::new(),
            };
            self.say(Kind::Thinking(None), thought, out);
            self.say(Kind::Text, part.text.unwrap_or_default(), out);
        }
    }

    /// More text or thinking: of the open block if that is of this kind, else of a new one.
    fn say(&mut self, kind: Kind, delta: String, out: &mut Out) {
        if delta.is_empty() {
            return;
        }
        let same = |running: &&Running| {
            matches!(
                (running.kind, kind),
                (Kind::Text, Kind::Text) | (Kind::Thinking(_), Kind::Thinking(_))
            )
        };
        let index = if let Some(running) = self.blocks.running.as_ref().filter(same) {
            running.index
        } else {
            self.blocks.stop(out);
            self.calls.make_way(&mut self.blocks, out);
            let index = self.blocks.next_index();
            self.blocks.running = Some(Running { index, kind });
            out.push_back(match kind {
                Kind::Text => ModelDelta::TextStart { index },
                Kind::Thinking(_) => ModelDelta::ThinkingStart { index },
            });
            index
        };
        out.push_back(match kind {
            Kind::Text => ModelDelta::TextDelta { index, delta },
            Kind::Thinking(_) => ModelDelta::ThinkingDelta { index, delta },
        });
    }

    /// Ends what is open, in the order of the indexes.
    fn close(&mut self, out: &mut Out) {
        let mut calls = self.calls.finish(&mut self.blocks, out);
        calls.sort_unstable();
        let before = self.blocks.running.as_ref().map_or(0, |running| {
            calls.partition_point(|index| *index < running.index)
        });
        let (before, after) = calls.split_at(before);
        let end = |index: &usize| ModelDelta::ToolcallEnd { index: *index };
        out.extend(before.iter().map(end));
        self.blocks.stop(out);
        out.extend(after.iter().map(end));
    }
}

/// A text that is there and not empty.
fn filled(value: Option<Value>) -> Option<String> {
    match value {
        Some(Value::String(text)) if !text.is_empty() => Some(text),
        _ => None,
    }
}

/// The data is no JSON, or not that of a chunk.
fn unreadable(event: &SseEvent, error: &serde_json::Error) -> Result<(), DecodeError> {
    let Ok(value) = json::parse::<Value>(&event.data) else {
        return Err(DecodeError::NotJson(error.to_string()));
    };
    if value.get("error").is_some_and(|error| !error.is_null()) {
        return Err(ModelError::from_event(&value).into());
    }
    Err(nonsense(&format!("a chunk of another shape ({error})")))
}

/// The error that an event tells of.
fn reported(event: &SseEvent) -> DecodeError {
    let mut value: Value = json::parse(&event.data).unwrap_or_default();
    if value.get("error").is_none_or(Value::is_null)
        && let Some(error) = value.pointer_mut("/choices/0/error").map(Value::take)
    {
        value = serde_json::json!({ "error": error });
    }
    ModelError::from_event(&value).into()
}

pub(super) fn nonsense(what: &str) -> DecodeError {
    DecodeError::Failed(ModelError::provider(format!(
        "The model service sent {what}."
    )))
}

/// Whether no later word takes this one back: what the answer holds is not to be acted upon.
fn is_settled(word: &str) -> bool {
    matches!(
        word,
        "content_filter" | "length" | "network_error" | "insufficient_system_resource" | "error"
    )
}

/// What the service's word for the end of an answer means, with a text for people when it is a
/// refusal.
fn stop_reason(word: &str) -> Result<(StopReason, Option<String>), ModelError> {
    match word {
        "stop" | "end" => Ok((StopReason::Stop, None)),
        "length" => Ok((StopReason::Length, None)),
        "tool_calls" | "function_call" => Ok((StopReason::ToolUse, None)),
        "content_filter" => Ok((StopReason::Error, Some(REFUSED.to_owned()))),
        // DeepSeek's word for an answer that its servers broke off for want of room
        // (docs.rs/crate/ds-api/0.10.7, src/raw/response/non_streaming/finish_reason.rs).
        "insufficient_system_resource" => Err(ModelError {
            retryable: true,
            ..ModelError::new(
                ErrorCode::Overloaded,
                format!("The model service is overloaded (finish_reason: {word})."),
            )
        }),
        // OpenRouter's word for a request that failed on the way (api.koog.ai,
        // OpenRouterStreamChoice). That another try may help is an assumption.
        "error" => Err(ModelError {
            retryable: true,
            ..ModelError::provider(format!(
                "The model service broke off its answer (finish_reason: {word})."
            ))
        }),
        "network_error" => Err(ModelError::network(
            "The model service lost its own connection (finish_reason: network_error).",
        )),
        other => Err(ModelError::provider(format!(
            "The model stopped for a reason that is not known (finish_reason: {other})."
        ))),
    }
}
