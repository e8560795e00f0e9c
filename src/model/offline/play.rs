//! From a step of a scenario to the deltas of an answer.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::{Value, json};

use super::script::{Block, NamedError, Step, milliseconds};
use crate::model::answer::{cut_short, not_a_stream, not_json};
use crate::model::ids::CallIds;
use crate::model::sse::SseDecoder;
use crate::model::{ModelDelta, ModelError, TokenUsage, anthropic};

/// Characters of a piece when nobody says otherwise.
const CHUNK: usize = 12;

/// An answer ready to be played.
pub(super) struct Answer {
    pub(super) opening: Opening,
    pub(super) beats: Box<dyn Iterator<Item = Beat> + Send>,
    /// Before each beat.
    pub(super) delay: Option<Duration>,
    pub(super) hang: Option<Duration>,
    pub(super) hang_after: Option<u64>,
    /// After how many pieces the connection breaks, and what that looks like.
    pub(super) cut_after: Option<u64>,
    pub(super) cut: ModelError,
    /// Raw text of the stream before this piece.
    pub(super) garbage: Option<(u64, String)>,
}

/// How the service takes the request.
pub(super) enum Opening {
    Accepted,
    Refused(ModelError),
}

/// One thing that happens in a stream.
pub(super) enum Beat {
    /// A piece of content, which is what scripts count.
    Piece(ModelDelta),
    Other(ModelDelta),
    Failure(ModelError),
}

/// What the step says, for the request of this number (from 1).
pub(super) fn answer(mut step: Step, request: u64) -> Answer {
    let opening = opening(&step);
    let garbage = step.garbage.take();
    let (garbage, instead) = match (garbage, step.garbage_after) {
        (Some(text), Some(after)) => (Some((after, text)), None),
        (text, _) => (None, text),
    };
    let cut = match (step.clean, step.reset) {
        (Some(true), _) => cut_short(),
        (_, Some(true)) => lost("connection reset"),
        _ => lost("connection closed"),
    };
    let time = |ms: Option<f64>| ms.and_then(milliseconds).filter(|time| !time.is_zero());
    Answer {
        delay: time(step.delay_ms),
        hang: time(step.hang_ms),
        hang_after: step.hang_after,
        cut_after: step.abort_after,
        beats: match instead {
            Some(text) => {
                // Whatever the text says, it does not complete an answer.
                let error = read_garbage(&text)
                    .err()
                    .unwrap_or_else(|| end_of_garbage(&text));
                Box::new(std::iter::once(Beat::Failure(error)))
            }
            None => beats(step, request),
        },
        opening,
        cut,
        garbage,
    }
}

fn lost(how: &str) -> ModelError {
    ModelError::network(format!(
        "The connection to the offline model was lost in the middle of the answer: {how}."
    ))
}

fn opening(step: &Step) -> Opening {
    let header = |wanted: &str| {
        let mut headers = step.headers.iter().flatten();
        headers
            .find(|(name, _)| name.eq_ignore_ascii_case(wanted))
            .map(|(_, value)| text_of(value))
    };
    let refused = |status: u16, body: &str| {
        ModelError::from_response(status, &header, body.as_bytes()).scrubbed(&[])
    };
    if let Some(error) = step.error {
        let (status, body) = error_body(error);
        return Opening::Refused(refused(step.status.unwrap_or(status), &body.to_string()));
    }
    match step.status {
        Some(status @ 200..=299) => Opening::Refused(ModelError {
            status: Some(status),
            ..ModelError::network(
                "The offline model answered with a document instead of an event stream.",
            )
        }),
        Some(status) => Opening::Refused(refused(
            status,
            &step.body.as_ref().map(text_of).unwrap_or_default(),
        )),
        None => {
            let silent = step.blocks.is_none() && step.garbage.is_none();
            if step.hang_ms.is_some() && step.hang_after.is_none() && silent {
                return Opening::Refused(ModelError::network(
                    "The offline model closed the connection without an answer.",
                ));
            }
            Opening::Accepted
        }
    }
}

/// A string as it is, anything else as JSON.
fn text_of(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// Status and body of an error with the type that Anthropic gives it.
fn error_body(error: NamedError) -> (u16, Value) {
    let (status, kind, message) = match error {
        NamedError::Overloaded => (529, "overloaded_error", "The offline model is overloaded."),
        NamedError::RateLimit => (
            429,
            "rate_limit_error",
            "The offline model takes no more requests this minute.",
        ),
        NamedError::Overflow => (
            400,
            "invalid_request_error",
            "prompt is too long: more tokens than the offline model's window holds",
        ),
        NamedError::Auth => (
            401,
            "authentication_error",
            "The offline model refuses this key.",
        ),
        NamedError::Server => (500, "api_error", "The offline model had an internal error."),
    };
    (
        status,
        json!({"type": "error", "error": {"type": kind, "message": message}}),
    )
}

/// Reads raw text as a piece of the stream. Events that are JSON and no errors say nothing.
pub(super) fn read_garbage(text: &str) -> Result<(), ModelError> {
    let mut events = VecDeque::new();
    let framed = SseDecoder::default().push(text.as_bytes(), &mut events);
    framed.map_err(|error| ModelError::provider(error.to_string()))?;
    for event in events {
        let value: Value =
            crate::model::json::parse(&event.data).map_err(|error| not_json(&error.to_string()))?;
        if value.get("type").and_then(Value::as_str) == Some("error") {
            return Err(ModelError::from_event(&value).scrubbed(&[]));
        }
    }
    Ok(())
}

/// The stream ends after text that was no answer.
fn end_of_garbage(text: &str) -> ModelError {
    let mut decoder = SseDecoder::default();
    let mut events = VecDeque::new();
    let framed = decoder.push(text.as_bytes(), &mut events);
    let any = framed.is_ok() && (!events.is_empty() || decoder.finish().is_some());
    if any { cut_short() } else { not_a_stream() }
}

fn beats(step: Step, request: u64) -> Box<dyn Iterator<Item = Beat> + Send> {
    let mut ids = CallIds::default();
    let mut tools = 0;
    let chunk = step.chunk.unwrap_or(CHUNK);
    let blocks: Vec<Ready> = step
        .blocks
        .unwrap_or_default()
        .into_iter()
        .map(|block| {
            tools += u64::from(block.tool.is_some());
            Ready::new(block, chunk, request, tools, &mut ids)
        })
        .collect();

    let length: u64 = blocks.iter().map(Ready::chars).fold(0, u64::saturating_add);
    let usage = step.usage.unwrap_or_default();
    let start = TokenUsage {
        input: usage.input.unwrap_or(100),
        output: usage.output.unwrap_or(1).min(1),
        cache_read: usage.cache_read.unwrap_or(0),
        cache_write: usage.cache_write.unwrap_or(0),
        cache_write_1h: usage.cache_write_1h.filter(|tokens| *tokens > 0),
        reasoning: None,
        total: None,
    };
    let end = TokenUsage {
        output: usage.output.unwrap_or((length / 4).max(1)),
        reasoning: usage.reasoning.filter(|tokens| *tokens > 0),
        ..start
    };
    let reason = step
        .stop
        .as_deref()
        .unwrap_or(if tools > 0 { "tool_use" } else { "end_turn" });
    let head = [
        ModelDelta::ResponseId(format!("msg_offline{request:06}")),
        ModelDelta::Usage(start),
    ];
    let tail = match (step.stream_error, anthropic::stop_reason(reason)) {
        (Some(error), _) => {
            vec![Beat::Failure(
                ModelError::from_event(&error_body(error).1).scrubbed(&[]),
            )]
        }
        (None, Err(error)) => vec![Beat::Failure(error)],
        (None, Ok((stop_reason, refusal))) => {
            let counted = (end != start).then_some(ModelDelta::Usage(end));
            let last = ModelDelta::Finished {
                stop_reason,
                refusal,
            };
            counted.into_iter().chain([last]).map(Beat::Other).collect()
        }
    };
    let body = blocks
        .into_iter()
        .enumerate()
        .flat_map(|(index, block)| block.beats(index));
    Box::new(head.into_iter().map(Beat::Other).chain(body).chain(tail))
}

/// A block with everything decided.
struct Ready {
    kind: Kind,
    text: String,
    chunk: usize,
    times: u64,
}

enum Kind {
    Text,
    Thinking { signature: Option<String> },
    Redacted { data: String },
    Tool { id: String, name: String },
}

impl Ready {
    fn new(block: Block, chunk: usize, request: u64, tool: u64, ids: &mut CallIds) -> Self {
        let chunk = block.chunk.unwrap_or(chunk).max(1);
        let (kind, text, times) = if let Some(name) = block.tool {
            let id = block
                .id
                .unwrap_or_else(|| format!("toolu_offline{request:04}{tool:02}"));
            let args = block
                .args
                .map_or_else(|| "{}".to_owned(), |args| args.to_string());
            let kind = Kind::Tool {
                id: ids.claim(&id),
                name,
            };
            (kind, block.args_text.unwrap_or(args), 1)
        } else if let Some(text) = block.thinking {
            let signature = block
                .signature
                .unwrap_or_else(|| format!("offline-{request:04}"));
            let signature = Some(signature).filter(|signature| !signature.is_empty());
            (Kind::Thinking { signature }, text, 1)
        } else if let Some(data) = block.redacted {
            (Kind::Redacted { data }, String::new(), 1)
        } else {
            (
                Kind::Text,
                block.text.unwrap_or_default(),
                block.repeat.unwrap_or(1),
            )
        };
        Self {
            kind,
            text,
            chunk,
            times,
        }
    }

    fn chars(&self) -> u64 {
        (self.text.chars().count() as u64).saturating_mul(self.times)
    }

    fn beats(self, index: usize) -> impl Iterator<Item = Beat> + Send {
        use ModelDelta as D;
        let (start, end) = match &self.kind {
            Kind::Text => (
                D::TextStart { index },
                D::TextEnd {
                    index,
                    signature: None,
                },
            ),
            Kind::Thinking { signature } => (
                D::ThinkingStart { index },
                D::ThinkingEnd {
                    index,
                    signature: signature.clone(),
                    redacted: false,
                },
            ),
            Kind::Redacted { data } => (
                D::ThinkingStart { index },
                D::ThinkingEnd {
                    index,
                    signature: Some(data.clone()),
                    redacted: true,
                },
            ),
            Kind::Tool { id, name } => (
                D::ToolcallStart {
                    index,
                    id: id.clone(),
                    name: name.clone(),
                },
                D::ToolcallEnd { index },
            ),
        };
        let piece = move |delta: String| match &self.kind {
            Kind::Text => D::TextDelta { index, delta },
            Kind::Thinking { .. } | Kind::Redacted { .. } => D::ThinkingDelta { index, delta },
            Kind::Tool { .. } => D::ToolcallDelta { index, delta },
        };
        let pieces = Pieces::new(self.text, self.chunk, self.times);
        std::iter::once(Beat::Other(start))
            .chain(pieces.map(move |delta| Beat::Piece(piece(delta))))
            .chain(std::iter::once(Beat::Other(end)))
    }
}

/// A text in pieces, so many times over, made one by one.
struct Pieces {
    text: String,
    chunk: usize,
    times: u64,
    at: usize,
}

impl Pieces {
    fn new(text: String, chunk: usize, times: u64) -> Self {
        let times = if text.is_empty() { 0 } else { times };
        Self {
            text,
            chunk,
            times,
            at: 0,
        }
    }
}

impl Iterator for Pieces {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        if self.times == 0 {
            return None;
        }
        let rest = &self.text[self.at..];
        let size = rest
            .char_indices()
            .nth(self.chunk)
            .map_or(rest.len(), |(end, _)| end);
        self.at += size;
        let piece = rest[..size].to_owned();
        if self.at == self.text.len() {
            self.at = 0;
            self.times -= 1;
        }
        Some(piece)
    }
}
