//! What the service answers, event by event.

use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::Value;

use crate::event::{ErrorCode, StopReason};
use crate::model::answer::{DecodeError, Decoder, cut_short};
use crate::model::ids::{CallIds, UNNAMED};
use crate::model::sse::SseEvent;
use crate::model::{ModelDelta, ModelError, TokenUsage, json};

const REFUSED: &str = "The model refused to answer.";

/// Every field of every event that says something to us. What is absent may also be null, and what
/// the answer can do without may be anything.
#[derive(Debug, Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: Option<String>,
    index: Option<u64>,
    message: Option<Message>,
    content_block: Option<StartedBlock>,
    delta: Option<Delta>,
    #[serde(default, deserialize_with = "json::lenient")]
    usage: Option<Usage>,
    error: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct Message {
    #[serde(default, deserialize_with = "json::lenient")]
    id: Option<String>,
    #[serde(default, deserialize_with = "json::lenient")]
    model: Option<String>,
    #[serde(default, deserialize_with = "json::lenient")]
    usage: Option<Usage>,
}

#[derive(Debug, Deserialize)]
struct StartedBlock {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
    data: Option<String>,
    id: Option<String>,
    name: Option<String>,
    input: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct Delta {
    #[serde(rename = "type")]
    kind: Option<String>,
    text: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
    partial_json: Option<String>,
    stop_reason: Option<String>,
    stop_details: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Usage {
    #[serde(deserialize_with = "json::count")]
    input_tokens: Option<u64>,
    #[serde(deserialize_with = "json::count")]
    output_tokens: Option<u64>,
    #[serde(deserialize_with = "json::count")]
    cache_read_input_tokens: Option<u64>,
    #[serde(deserialize_with = "json::count")]
    cache_creation_input_tokens: Option<u64>,
    #[serde(deserialize_with = "json::lenient")]
    cache_creation: Option<CacheCreation>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CacheCreation {
    #[serde(deserialize_with = "json::count")]
    ephemeral_1h_input_tokens: Option<u64>,
}

/// A block that has begun and not ended.
struct OpenBlock {
    /// Its index for the service.
    service_index: u64,
    index: usize,
    kind: Kind,
}

enum Kind {
    Text,
    Thinking {
        signature: String,
    },
    Redacted {
        data: String,
    },
    /// With the input that came at the start, for when no pieces of it follow.
    ToolUse {
        input: Option<String>,
    },
    /// Of a kind that we do not know; it gets no index of ours.
    Unknown,
}

/// Reads the events of one answer.
pub(in crate::model) struct MessagesDecoder {
    model: String,
    open: Vec<OpenBlock>,
    blocks: usize,
    ids: CallIds,
    usage: TokenUsage,
    stop: Option<(StopReason, Option<String>)>,
    finished: bool,
}

impl MessagesDecoder {
    /// `model` is the id that was asked for.
    pub(in crate::model) fn new(model: &str) -> Self {
        Self {
            model: model.to_owned(),
            open: Vec::new(),
            blocks: 0,
            ids: CallIds::default(),
            usage: TokenUsage::default(),
            stop: None,
            finished: false,
        }
    }
}

type Out = VecDeque<ModelDelta>;

impl Decoder for MessagesDecoder {
    fn event(&mut self, event: &SseEvent, out: &mut Out) -> Result<(), DecodeError> {
        // A sign of life, and the end as other services tell it.
        if matches!(event.data.trim(), "" | "[DONE]") {
            return Ok(());
        }
        let mut read: Event = match json::parse(&event.data) {
            Ok(read) => read,
            Err(error) => return unreadable(event, &error),
        };
        // A few services wrap their errors in nothing.
        let bare_error = read.kind.is_none() && read.error.is_some();
        let kind = read
            .kind
            .take()
            .or_else(|| event.event.clone())
            .unwrap_or_default();
        match kind.as_str() {
            "message_start" => self.begin(read.message, out),
            "content_block_start" => self.start(read.index, read.content_block, out)?,
            "content_block_delta" => self.grow(read.index, read.delta, out)?,
            "content_block_stop" => self.stop_block(read.index, out),
            "message_delta" => self.refine(read.delta, read.usage, out)?,
            "message_stop" => return Ok(self.end(out)?),
            kind if kind == "error" || bare_error => {
                let value = serde_json::json!({ "error": read.error });
                return Err(ModelError::from_event(&value).into());
            }
            // `ping`, and whatever the service comes to send one day.
            _ => {}
        }
        Ok(())
    }

    fn is_finished(&self) -> bool {
        self.finished
    }

    /// Only the event that says that it was the last may be missing.
    fn is_whole(&self) -> bool {
        self.stop.is_some() && !self.lacks_the_end_of_a_call()
    }

    fn end(&mut self, out: &mut Out) -> Result<(), ModelError> {
        if self.lacks_the_end_of_a_call() {
            return Err(cut_short());
        }
        let (stop_reason, refusal) = self.stop.take().ok_or_else(cut_short)?;
        for block in std::mem::take(&mut self.open) {
            close(block, out);
        }
        self.finished = true;
        out.push_back(ModelDelta::Finished {
            stop_reason,
            refusal,
        });
        Ok(())
    }
}

/// The data is no JSON, or not that of an event that we know.
fn unreadable(event: &SseEvent, error: &serde_json::Error) -> Result<(), DecodeError> {
    let Ok(value) = json::parse::<Value>(&event.data) else {
        return Err(DecodeError::NotJson(error.to_string()));
    };
    let kind = value
        .get("type")
        .and_then(Value::as_str)
        .or(event.event.as_deref());
    match kind {
        Some("error") => Err(ModelError::from_event(&value).into()),
        Some(
            kind @ ("message_start"
            | "content_block_start"
            | "content_block_delta"
            | "content_block_stop"
            | "message_delta"),
        ) => Err(nonsense(&format!(
            "a {kind} event of another shape ({error})"
        ))),
        _ => Ok(()),
    }
}

fn nonsense(what: &str) -> DecodeError {
    DecodeError::Failed(ModelError::provider(format!(
        "The model service sent {what}."
    )))
}

impl MessagesDecoder {
    /// Whether a call that would be made may not be whole: its input may look so without the rest.
    fn lacks_the_end_of_a_call(&self) -> bool {
        let is_call = |block: &OpenBlock| matches!(block.kind, Kind::ToolUse { .. });
        let acts = matches!(self.stop, Some((StopReason::Stop | StopReason::ToolUse, _)));
        acts && self.open.iter().any(is_call)
    }

    fn begin(&mut self, message: Option<Message>, out: &mut Out) {
        let Some(message) = message else { return };
        if let Some(id) = message.id.filter(|id| !id.is_empty()) {
            out.push_back(ModelDelta::ResponseId(id));
        }
        if let Some(model) = message
            .model
            .filter(|model| !model.is_empty() && *model != self.model)
        {
            out.push_back(ModelDelta::ResponseModel(model));
        }
        self.count(message.usage, out);
    }

    fn start(
        &mut self,
        service_index: Option<u64>,
        block: Option<StartedBlock>,
        out: &mut Out,
    ) -> Result<(), DecodeError> {
        let (Some(service_index), Some(block)) = (service_index, block) else {
            return Err(nonsense(
                "a content block without an index or without itself",
            ));
        };
        if self
            .open
            .iter()
            .any(|open| open.service_index == service_index)
        {
            return Err(nonsense(&format!(
                "the start of content block {service_index} twice"
            )));
        }
        let index = self.blocks;
        let filled = |text: Option<String>| text.filter(|text| !text.is_empty());
        let kind = match block.kind.as_str() {
            "text" => {
                out.push_back(ModelDelta::TextStart { index });
                if let Some(delta) = filled(block.text) {
                    out.push_back(ModelDelta::TextDelta { index, delta });
                }
                Kind::Text
            }
            "thinking" => {
                out.push_back(ModelDelta::ThinkingStart { index });
                if let Some(delta) = filled(block.thinking) {
                    out.push_back(ModelDelta::ThinkingDelta { index, delta });
                }
                Kind::Thinking {
                    signature: block.signature.unwrap_or_default(),
                }
            }
            "redacted_thinking" => {
                out.push_back(ModelDelta::ThinkingStart { index });
                Kind::Redacted {
                    data: block.data.unwrap_or_default(),
                }
            }
            "tool_use" => {
                let id = self.ids.claim(block.id.as_deref().unwrap_or_default());
                let name = filled(block.name).unwrap_or_else(|| UNNAMED.to_owned());
                out.push_back(ModelDelta::ToolcallStart { index, id, name });
                // An empty object only holds the place of the pieces to come.
                let input = block.input.filter(|input| match input {
                    Value::Object(fields) => !fields.is_empty(),
                    Value::Null => false,
                    Value::String(text) => !text.is_empty(),
                    _ => true,
                });
                Kind::ToolUse {
                    input: input.map(|input| input.to_string()),
                }
            }
            _ => Kind::Unknown,
        };
        if !matches!(kind, Kind::Unknown) {
            self.blocks += 1;
        }
        self.open.push(OpenBlock {
            service_index,
            index,
            kind,
        });
        Ok(())
    }

    fn grow(
        &mut self,
        service_index: Option<u64>,
        delta: Option<Delta>,
        out: &mut Out,
    ) -> Result<(), DecodeError> {
        let (Some(service_index), Some(delta)) = (service_index, delta) else {
            return Err(nonsense(
                "a piece of a content block without an index or without itself",
            ));
        };
        let Some(block) = self
            .open
            .iter_mut()
            .find(|open| open.service_index == service_index)
        else {
            return Err(nonsense(&format!(
                "a piece of content block {service_index}, which is not open"
            )));
        };
        let index = block.index;
        let filled = |text: Option<String>| text.filter(|text| !text.is_empty());
        let piece = match (delta.kind.as_deref().unwrap_or_default(), &mut block.kind) {
            ("text_delta", Kind::Text) => {
                filled(delta.text).map(|delta| ModelDelta::TextDelta { index, delta })
            }
            ("thinking_delta", Kind::Thinking { .. }) => {
                filled(delta.thinking).map(|delta| ModelDelta::ThinkingDelta { index, delta })
            }
            ("signature_delta", Kind::Thinking { signature }) => {
                signature.push_str(&delta.signature.unwrap_or_default());
                None
            }
            ("input_json_delta", Kind::ToolUse { input }) => {
                let piece = filled(delta.partial_json);
                if piece.is_some() {
                    *input = None;
                }
                piece.map(|delta| ModelDelta::ToolcallDelta { index, delta })
            }
            (
                kind @ ("text_delta" | "thinking_delta" | "input_json_delta"),
                Kind::Text | Kind::Thinking { .. } | Kind::Redacted { .. } | Kind::ToolUse { .. },
            ) => {
                return Err(nonsense(&format!(
                    "a {kind} for content block {service_index}, which is of another kind"
                )));
            }
            // Pieces of blocks that we do not know, and kinds of pieces that we do not know.
            _ => None,
        };
        out.extend(piece);
        Ok(())
    }

    fn stop_block(&mut self, service_index: Option<u64>, out: &mut Out) {
        let at = self
            .open
            .iter()
            .position(|open| Some(open.service_index) == service_index);
        // The end of a block that is not open takes nothing from the answer.
        if let Some(at) = at {
            close(self.open.remove(at), out);
        }
    }

    fn refine(
        &mut self,
        delta: Option<Delta>,
        usage: Option<Usage>,
        out: &mut Out,
    ) -> Result<(), DecodeError> {
        self.count(usage, out);
        let Some(delta) = delta else { return Ok(()) };
        // No later word takes back that the answer is cut or refused.
        let is_settled = matches!(self.stop, Some((StopReason::Length | StopReason::Error, _)));
        if let Some(reason) = delta.stop_reason.filter(|_| !is_settled) {
            let (stop, refusal) = stop_reason(&reason)?;
            let explanation = delta.stop_details.as_ref().and_then(|details| {
                details
                    .get("explanation")
                    .and_then(Value::as_str)
                    .filter(|text| !text.is_empty())
            });
            let refusal = match (refusal, explanation) {
                (Some(refusal), Some(explanation)) => Some(format!("{refusal} {explanation}")),
                (refusal, _) => refusal,
            };
            self.stop = Some((stop, refusal));
        }
        Ok(())
    }

    fn count(&mut self, usage: Option<Usage>, out: &mut Out) {
        let Some(usage) = usage else { return };
        let before = self.usage;
        let counts = &mut self.usage;
        let set = |count: &mut u64, value: Option<u64>| *count = value.unwrap_or(*count);
        set(&mut counts.input, usage.input_tokens);
        set(&mut counts.output, usage.output_tokens);
        set(&mut counts.cache_read, usage.cache_read_input_tokens);
        set(&mut counts.cache_write, usage.cache_creation_input_tokens);
        let hour = usage
            .cache_creation
            .and_then(|created| created.ephemeral_1h_input_tokens);
        if let Some(hour) = hour.filter(|hour| *hour > 0) {
            counts.cache_write_1h = Some(hour);
        }
        if *counts != before {
            out.push_back(ModelDelta::Usage(*counts));
        }
    }
}

fn close(block: OpenBlock, out: &mut Out) {
    let index = block.index;
    let filled = |text: String| (!text.is_empty()).then_some(text);
    let end = match block.kind {
        Kind::Text => ModelDelta::TextEnd {
            index,
            signature: None,
        },
        Kind::Thinking { signature } => ModelDelta::ThinkingEnd {
            index,
            signature: filled(signature),
            redacted: false,
        },
        Kind::Redacted { data } => ModelDelta::ThinkingEnd {
            index,
            signature: filled(data),
            redacted: true,
        },
        Kind::ToolUse { input } => {
            out.extend(input.map(|delta| ModelDelta::ToolcallDelta { index, delta }));
            ModelDelta::ToolcallEnd { index }
        }
        Kind::Unknown => return,
    };
    out.push_back(end);
}

/// What the service's word for the end of an answer means, with a text for people when it is a
/// refusal.
///
/// # Errors
/// [`ErrorCode::ProviderError`] for a word that we do not know.
pub(in crate::model) fn stop_reason(
    word: &str,
) -> Result<(StopReason, Option<String>), ModelError> {
    match word {
        // A paused turn is the service's own; the user can go on from it.
        "end_turn" | "pause_turn" | "stop_sequence" => Ok((StopReason::Stop, None)),
        "max_tokens" | "model_context_window_exceeded" => Ok((StopReason::Length, None)),
        "tool_use" => Ok((StopReason::ToolUse, None)),
        "refusal" | "sensitive" => Ok((StopReason::Error, Some(REFUSED.to_owned()))),
        other => Err(ModelError::new(
            ErrorCode::ProviderError,
            format!("The model stopped for a reason that is not known: \"{other}\"."),
        )),
    }
}
