//! What the service answers, chunk by chunk.

use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::Value;

use crate::event::StopReason;
use crate::model::answer::{DecodeError, Decoder, cut_short};
use crate::model::ids::{CallIds, UNNAMED};
use crate::model::sse::SseEvent;
use crate::model::{ModelDelta, ModelError, TokenUsage, json};

/// Every field of a chunk that says something to us. What is absent may also be null, and what the
/// answer can do without may be anything.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk {
    candidates: Option<Vec<Candidate>>,
    prompt_feedback: Option<PromptFeedback>,
    #[serde(default, deserialize_with = "json::lenient")]
    usage_metadata: Option<UsageMetadata>,
    #[serde(default, deserialize_with = "json::lenient")]
    model_version: Option<String>,
    #[serde(default, deserialize_with = "json::lenient")]
    response_id: Option<String>,
    error: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    content: Option<Content>,
    finish_reason: Option<String>,
    #[serde(default, deserialize_with = "json::lenient")]
    finish_message: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Content {
    parts: Option<Vec<Part>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    text: Option<String>,
    thought: Option<bool>,
    thought_signature: Option<String>,
    function_call: Option<FunctionCall>,
}

#[derive(Debug, Deserialize)]
struct FunctionCall {
    id: Option<String>,
    name: Option<String>,
    args: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PromptFeedback {
    block_reason: Option<String>,
    #[serde(default, deserialize_with = "json::lenient")]
    block_reason_message: Option<String>,
}

#[allow(
    clippy::struct_field_names,
    reason = "the names are those of the service"
)]
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct UsageMetadata {
    /// Cached ones included.
    #[serde(deserialize_with = "json::count")]
    prompt_token_count: Option<u64>,
    #[serde(deserialize_with = "json::count")]
    cached_content_token_count: Option<u64>,
    /// What the service's own tools put into the prompt.
    #[serde(deserialize_with = "json::count")]
    tool_use_prompt_token_count: Option<u64>,
    /// Thoughts not included.
    #[serde(deserialize_with = "json::count")]
    candidates_token_count: Option<u64>,
    #[serde(deserialize_with = "json::count")]
    thoughts_token_count: Option<u64>,
    #[serde(deserialize_with = "json::count")]
    total_token_count: Option<u64>,
}

impl UsageMetadata {
    /// Takes the newer counts; what they leave out stays as it was.
    fn refine(&mut self, newer: Self) {
        let set = |count: &mut Option<u64>, value: Option<u64>| *count = value.or(*count);
        set(&mut self.prompt_token_count, newer.prompt_token_count);
        set(
            &mut self.cached_content_token_count,
            newer.cached_content_token_count,
        );
        set(
            &mut self.tool_use_prompt_token_count,
            newer.tool_use_prompt_token_count,
        );
        set(
            &mut self.candidates_token_count,
            newer.candidates_token_count,
        );
        set(&mut self.thoughts_token_count, newer.thoughts_token_count);
        set(&mut self.total_token_count, newer.total_token_count);
    }

    fn counts(self) -> TokenUsage {
        let prompt = self.prompt_token_count.unwrap_or(0);
        let cache_read = self.cached_content_token_count.unwrap_or(0).min(prompt);
        let of_tools = self.tool_use_prompt_token_count.unwrap_or(0);
        let thoughts = self.thoughts_token_count.unwrap_or(0);
        let candidates = self.candidates_token_count.unwrap_or(0);
        TokenUsage {
            input: (prompt - cache_read).saturating_add(of_tools),
            output: candidates.saturating_add(thoughts),
            cache_read,
            reasoning: self.thoughts_token_count,
            total: self.total_token_count.filter(|total| *total > 0),
            ..TokenUsage::default()
        }
    }
}

/// The block of text or thinking that is open.
struct OpenBlock {
    index: usize,
    is_thought: bool,
    signature: Option<String>,
}

/// Reads the chunks of one answer.
pub(in crate::model) struct GeminiDecoder {
    /// The model that answers, as far as known.
    model: String,
    has_id: bool,
    blocks: usize,
    open: Option<OpenBlock>,
    ids: CallIds,
    any_call: bool,
    usage: UsageMetadata,
    told: TokenUsage,
    stop: Option<Stop>,
    finished: bool,
}

/// Why the answer ended: the service's word, and its words for people.
enum Stop {
    Finish(String, Option<String>),
    Blocked(String, Option<String>),
}

impl Stop {
    /// Whether no later word takes this one back: what the answer holds is not to be acted upon.
    fn is_settled(&self) -> bool {
        match self {
            Self::Blocked(..) => true,
            Self::Finish(word, _) => !matches!(&**word, "STOP" | "FINISH_REASON_UNSPECIFIED"),
        }
    }
}

type Out = VecDeque<ModelDelta>;

impl GeminiDecoder {
    /// `model` is the id that was asked for.
    pub(in crate::model) fn new(model: &str) -> Self {
        Self {
            model: model.strip_prefix("models/").unwrap_or(model).to_owned(),
            has_id: false,
            blocks: 0,
            open: None,
            ids: CallIds::default(),
            any_call: false,
            usage: UsageMetadata::default(),
            told: TokenUsage::default(),
            stop: None,
            finished: false,
        }
    }
}

impl Decoder for GeminiDecoder {
    fn event(&mut self, event: &SseEvent, out: &mut Out) -> Result<(), DecodeError> {
        match event.data.trim() {
            // Some gateways end with it; others send nothing as a sign of life.
            "" | "[DONE]" => return Ok(()),
            _ => {}
        }
        let chunk: Chunk = match json::parse(&event.data) {
            Ok(chunk) => chunk,
            Err(error) => return unreadable(event, &error),
        };
        if chunk.error.is_some() || event.event.as_deref() == Some("error") {
            let value = json::parse(&event.data).unwrap_or_default();
            return Err(ModelError::from_event(&value).into());
        }
        self.identify(chunk.response_id, chunk.model_version, out);
        if let Some(usage) = chunk.usage_metadata {
            self.usage.refine(usage);
            let counts = self.usage.counts();
            if counts != self.told {
                self.told = counts;
                out.push_back(ModelDelta::Usage(counts));
            }
        }
        if let Some(feedback) = chunk.prompt_feedback
            && let Some(reason) = feedback.block_reason.filter(|word| !word.is_empty())
        {
            self.stop = Some(Stop::Blocked(reason, feedback.block_reason_message));
        }
        // More than one are never asked for.
        let Some(candidate) = chunk.candidates.and_then(|list| list.into_iter().next()) else {
            return Ok(());
        };
        let parts = candidate.content.and_then(|content| content.parts);
        for part in parts.unwrap_or_default() {
            self.part(part, out);
        }
        if let Some(reason) = candidate.finish_reason.filter(|word| !word.is_empty())
            && !self.stop.as_ref().is_some_and(Stop::is_settled)
        {
            self.stop = Some(Stop::Finish(reason, candidate.finish_message));
        }
        Ok(())
    }

    fn is_finished(&self) -> bool {
        self.finished
    }

    fn is_whole(&self) -> bool {
        self.stop.is_some()
    }

    fn end(&mut self, out: &mut Out) -> Result<(), ModelError> {
        self.finished = true;
        // Also of an answer that is cut: the service has ended its stream properly.
        self.close(out);
        let stop = self.stop.take().ok_or_else(cut_short)?;
        let (stop_reason, refusal) = stop_reason(stop)?;
        let stop_reason = match stop_reason {
            StopReason::Stop if self.any_call => StopReason::ToolUse,
            other => other,
        };
        out.push_back(ModelDelta::Finished {
            stop_reason,
            refusal,
        });
        Ok(())
    }
}

impl GeminiDecoder {
    fn identify(&mut self, id: Option<String>, model: Option<String>, out: &mut Out) {
        if let Some(id) = id.filter(|id| !self.has_id && !id.is_empty()) {
            self.has_id = true;
            out.push_back(ModelDelta::ResponseId(id));
        }
        if let Some(model) = model.filter(|model| !model.is_empty() && *model != self.model) {
            self.model.clone_from(&model);
            out.push_back(ModelDelta::ResponseModel(model));
        }
    }

    fn part(&mut self, part: Part, out: &mut Out) {
        let signature = part.thought_signature.filter(|text| !text.is_empty());
        if let Some(call) = part.function_call {
            self.call(call, signature, out);
        } else if let Some(text) = part.text {
            self.say(part.thought == Some(true), text, signature, out);
        } else if signature.is_some() {
            // A signature alone is that of what is open, or a thought that is not shown.
            let is_thought =
                part.thought == Some(true) || self.open.as_ref().is_none_or(|open| open.is_thought);
            self.say(is_thought, String::new(), signature, out);
        }
    }

    /// A call comes whole.
    fn call(&mut self, call: FunctionCall, signature: Option<String>, out: &mut Out) {
        self.close(out);
        self.any_call = true;
        let index = self.next_index();
        let name = call.name.filter(|name| !name.is_empty());
        let arguments = match call.args {
            None | Some(Value::Null) => "{}".to_owned(),
            Some(arguments) => arguments.to_string(),
        };
        out.extend([
            ModelDelta::ToolcallStart {
                index,
                id: self.ids.claim(call.id.as_deref().unwrap_or_default()),
                name: name.unwrap_or_else(|| UNNAMED.to_owned()),
            },
            ModelDelta::ToolcallDelta {
                index,
                delta: arguments,
            },
        ]);
        out.extend(signature.map(|signature| ModelDelta::ToolcallSignature { index, signature }));
        out.push_back(ModelDelta::ToolcallEnd { index });
    }

    /// Text or thinking; a part with nothing in it begins a block too.
    fn say(&mut self, is_thought: bool, delta: String, signature: Option<String>, out: &mut Out) {
        if self
            .open
            .as_ref()
            .is_some_and(|open| open.is_thought != is_thought)
        {
            self.close(out);
        }
        if self.open.is_none() {
            let index = self.next_index();
            out.push_back(if is_thought {
                ModelDelta::ThinkingStart { index }
            } else {
                ModelDelta::TextStart { index }
            });
            self.open = Some(OpenBlock {
                index,
                is_thought,
                signature: None,
            });
        }
        let Some(OpenBlock {
            index,
            signature: kept,
            ..
        }) = &mut self.open
        else {
            return;
        };
        let index = *index;
        if signature.is_some() {
            *kept = signature;
        }
        if !delta.is_empty() {
            out.push_back(if is_thought {
                ModelDelta::ThinkingDelta { index, delta }
            } else {
                ModelDelta::TextDelta { index, delta }
            });
        }
    }

    fn next_index(&mut self) -> usize {
        let index = self.blocks;
        self.blocks += 1;
        index
    }

    fn close(&mut self, out: &mut Out) {
        let Some(OpenBlock {
            index,
            is_thought,
            signature,
        }) = self.open.take()
        else {
            return;
        };
        out.push_back(if is_thought {
            ModelDelta::ThinkingEnd {
                index,
                signature,
                redacted: false,
            }
        } else {
            ModelDelta::TextEnd { index, signature }
        });
    }
}

/// The data is no JSON, or not that of a chunk.
fn unreadable(event: &SseEvent, error: &serde_json::Error) -> Result<(), DecodeError> {
    let Ok(value) = json::parse::<Value>(&event.data) else {
        return Err(DecodeError::NotJson(error.to_string()));
    };
    // Errors come in a list of one, too.
    let first = value.get(0).unwrap_or(&value);
    if first.get("error").is_some_and(|error| !error.is_null()) {
        return Err(ModelError::from_event(first).into());
    }
    Err(DecodeError::Failed(ModelError::provider(format!(
        "The model service sent a chunk of another shape ({error})."
    ))))
}

/// What the service's word for the end of an answer means, with a text for people when it is a
/// refusal.
fn stop_reason(stop: Stop) -> Result<(StopReason, Option<String>), ModelError> {
    let said = |message: Option<String>| {
        let message = message.filter(|message| !message.trim().is_empty());
        message.map_or_else(String::new, |message| format!(" {message}"))
    };
    let (word, message) = match stop {
        Stop::Blocked(word, message) => {
            let text = format!(
                "The service refused the request because of its content (blockReason: {word}).{}",
                said(message)
            );
            return Ok((StopReason::Error, Some(text)));
        }
        Stop::Finish(word, message) => (word, said(message)),
    };
    match word.as_str() {
        "STOP" => Ok((StopReason::Stop, None)),
        "MAX_TOKENS" => Ok((StopReason::Length, None)),
        "SAFETY"
        | "RECITATION"
        | "LANGUAGE"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => {
            let text = format!(
                "The service stopped the answer because of its content (finishReason: {word}).\
                 {message}"
            );
            Ok((StopReason::Error, Some(text)))
        }
        // The model wrote something that the service could not read; it may do better next time.
        "MALFORMED_FUNCTION_CALL" | "MALFORMED_RESPONSE" | "UNEXPECTED_TOOL_CALL" => {
            Err(ModelError {
                retryable: true,
                ..ModelError::provider(format!(
                    "The model's answer was malformed (finishReason: {word}).{message}"
                ))
            })
        }
        word => Err(ModelError::provider(format!(
            "The model stopped without an answer (finishReason: {word}).{message}"
        ))),
    }
}
