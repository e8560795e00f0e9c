//! What the service answers, event by event.

use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::{Value, json};

use super::usage::Usage;
use crate::event::StopReason;
use crate::model::answer::{DecodeError, Decoder, cut_short};
use crate::model::ids::{CallIds, UNNAMED};
use crate::model::json as lenient;
use crate::model::sse::SseEvent;
use crate::model::{ModelDelta, ModelError, TokenUsage};

const REFUSED: &str = "The service stopped the answer because of its content.";
const BETWEEN_PARTS: &str = "\n\n";

type Out = VecDeque<ModelDelta>;

/// Every field of every event that says something to us. What is absent may also be null, and
/// servers disagree about what they leave out.
#[derive(Debug, Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: Option<String>,
    output_index: Option<Value>,
    item_id: Option<Value>,
    item: Option<Value>,
    delta: Option<Value>,
    summary_index: Option<Value>,
    content_index: Option<Value>,
    arguments: Option<Value>,
    response: Option<Value>,
    error: Option<Value>,
    code: Option<Value>,
    message: Option<Value>,
}

/// An item of the response. Those that have ended stay, so that nothing late is taken for new.
struct Item {
    /// Where it stands in the response.
    place: Option<u64>,
    /// Its id; some servers give it another one with each event.
    id: String,
    kind: Kind,
    is_open: bool,
}

enum Kind {
    Block(Block),
    /// A tool call that has no name yet; it begins when it is whole, with a name or without.
    Nameless,
    /// Of a kind that we do not know; it gets no block.
    Unknown,
}

struct Block {
    index: usize,
    content: Content,
    /// What came so far.
    said: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Content {
    Text,
    /// With the part that the latest piece was of.
    Thinking(Option<ThoughtPart>),
    Call,
}

#[derive(Clone, Copy, PartialEq)]
enum ThoughtPart {
    Summary(u64),
    Reasoning(u64),
}

impl Content {
    fn same_kind(self, other: Self) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }
}

/// Reads the events of one answer.
pub(in crate::model) struct ResponsesDecoder {
    /// The model that answers, as far as known.
    model: String,
    has_id: bool,
    items: Vec<Item>,
    blocks: usize,
    ids: CallIds,
    has_calls: bool,
    usage: Option<TokenUsage>,
    finished: bool,
}

impl ResponsesDecoder {
    /// `model` is the id that was asked for.
    pub(in crate::model) fn new(model: &str) -> Self {
        Self {
            model: model.to_owned(),
            has_id: false,
            items: Vec::new(),
            blocks: 0,
            ids: CallIds::default(),
            has_calls: false,
            usage: None,
            finished: false,
        }
    }
}

impl Decoder for ResponsesDecoder {
    fn event(&mut self, event: &SseEvent, out: &mut Out) -> Result<(), DecodeError> {
        if matches!(event.data.trim(), "" | "[DONE]") {
            return Ok(());
        }
        let mut read: Event = match lenient::parse(&event.data) {
            Ok(read) => read,
            Err(error) => return Err(unreadable(event, &error)),
        };
        // A few services wrap their errors in nothing.
        if read.kind.is_none() && read.error.is_some() {
            return Err(reported(read));
        }
        let kind = read.kind.take().or_else(|| event.event.clone());
        let place = read.output_index.as_ref().and_then(Value::as_u64);
        let id = text(read.item_id.as_ref());
        let part = |index: Option<&Value>| index.and_then(Value::as_u64).unwrap_or(0);
        match kind.as_deref().unwrap_or_default() {
            "response.created" | "response.queued" | "response.in_progress" => {
                self.identify(read.response.as_ref(), out);
            }
            "response.output_item.added" => {
                let item = read.item.unwrap_or_default();
                self.start(place, &item, out)?;
            }
            "response.output_item.done" => {
                let item = read.item.unwrap_or_default();
                self.settle(place, &item, out)?;
            }
            "response.output_text.delta" | "response.refusal.delta" => {
                self.grow(place, id, Content::Text, text(read.delta.as_ref()), out)?;
            }
            "response.reasoning_summary_text.delta" => {
                let part = ThoughtPart::Summary(part(read.summary_index.as_ref()));
                let content = Content::Thinking(Some(part));
                self.grow(place, id, content, text(read.delta.as_ref()), out)?;
            }
            "response.reasoning_text.delta" => {
                let part = ThoughtPart::Reasoning(part(read.content_index.as_ref()));
                let content = Content::Thinking(Some(part));
                self.grow(place, id, content, text(read.delta.as_ref()), out)?;
            }
            "response.function_call_arguments.delta" => {
                self.grow(place, id, Content::Call, text(read.delta.as_ref()), out)?;
            }
            "response.function_call_arguments.done" => {
                if let Some(at) = self.find(place, id) {
                    self.complete(at, &arguments(read.arguments.as_ref()), out)?;
                }
            }
            kind @ ("response.completed"
            | "response.done"
            | "response.incomplete"
            | "response.failed"
            | "response.cancelled") => {
                return self.end_with(kind, read.response.unwrap_or_default(), out);
            }
            "error" => return Err(reported(read)),
            // The ends of parts, whose items tell the same, signs of life, and whatever the
            // service comes to send one day.
            _ => {}
        }
        Ok(())
    }

    fn is_finished(&self) -> bool {
        self.finished
    }

    fn end(&mut self, _out: &mut Out) -> Result<(), ModelError> {
        Err(cut_short())
    }
}

impl ResponsesDecoder {
    fn identify(&mut self, response: Option<&Value>, out: &mut Out) {
        let field = |name| text(response.and_then(|response| response.get(name)));
        let id = field("id");
        if !self.has_id && !id.is_empty() {
            self.has_id = true;
            out.push_back(ModelDelta::ResponseId(id.to_owned()));
        }
        let model = field("model");
        if !model.is_empty() && model != self.model {
            model.clone_into(&mut self.model);
            out.push_back(ModelDelta::ResponseModel(model.to_owned()));
        }
    }

    /// The item that an event is about: by its place and its id, else by one of them.
    fn find(&self, place: Option<u64>, id: &str) -> Option<usize> {
        let last = |fits: &dyn Fn(&Item) -> bool| self.items.iter().rposition(fits);
        let by_place = |item: &Item| place.is_some() && item.place == place;
        let by_id = |item: &Item| !id.is_empty() && item.id == id;
        let by_id_alone = |item: &Item| by_id(item) && (place.is_none() || item.place.is_none());
        last(&|item| by_place(item) && by_id(item))
            .or_else(|| last(&by_place))
            .or_else(|| last(&by_id_alone))
    }

    fn start(
        &mut self,
        place: Option<u64>,
        item: &Value,
        out: &mut Out,
    ) -> Result<usize, DecodeError> {
        let id = text(item.get("id"));
        let again = |old: &Item| {
            old.is_open && old.place == place && old.id == id && !(place.is_none() && id.is_empty())
        };
        if self.items.iter().any(again) {
            return Err(nonsense("the start of an output item twice"));
        }
        let content = match text(item.get("type")) {
            "message" => Some(Content::Text),
            "reasoning" => Some(Content::Thinking(None)),
            "function_call" => Some(Content::Call),
            _ => None,
        };
        let kind = match content {
            None => Kind::Unknown,
            Some(Content::Call) if text(item.get("name")).is_empty() => Kind::Nameless,
            Some(content) => Kind::Block(self.begin(content, item, out)),
        };
        Ok(self.add(place, id, kind))
    }

    fn add(&mut self, place: Option<u64>, id: &str, kind: Kind) -> usize {
        self.items.push(Item {
            place,
            id: id.to_owned(),
            kind,
            is_open: true,
        });
        self.items.len() - 1
    }

    fn begin(&mut self, content: Content, item: &Value, out: &mut Out) -> Block {
        let index = self.blocks;
        self.blocks += 1;
        out.push_back(match content {
            Content::Text => ModelDelta::TextStart { index },
            Content::Thinking(_) => ModelDelta::ThinkingStart { index },
            Content::Call => {
                self.has_calls = true;
                let id = [text(item.get("call_id")), text(item.get("id"))]
                    .into_iter()
                    .filter(|id| !id.is_empty())
                    .collect::<Vec<_>>()
                    .join("|");
                ModelDelta::ToolcallStart {
                    index,
                    id: self.ids.claim(&id),
                    name: match text(item.get("name")) {
                        "" => UNNAMED.to_owned(),
                        name => name.to_owned(),
                    },
                }
            }
        });
        Block {
            index,
            content,
            said: String::new(),
        }
    }

    fn grow(
        &mut self,
        place: Option<u64>,
        id: &str,
        content: Content,
        delta: &str,
        out: &mut Out,
    ) -> Result<(), DecodeError> {
        let nameless = place.is_none() && id.is_empty();
        let found = if nameless {
            self.items.iter().rposition(|item| item.is_open)
        } else {
            self.find(place, id)
        };
        let at = match found {
            Some(at) => at,
            None if content == Content::Call => {
                return Err(nonsense("a piece of a tool call that has not begun"));
            }
            // Some servers do not tell of an item before its first piece.
            None => {
                let block = self.begin(content, &Value::Null, out);
                self.add(place, id, Kind::Block(block))
            }
        };
        let item = &mut self.items[at];
        if !item.is_open {
            return Err(nonsense("a piece of an output item that has ended"));
        }
        match &mut item.kind {
            Kind::Unknown | Kind::Nameless => Ok(()),
            Kind::Block(block) if block.content.same_kind(content) => {
                block.grow(content, delta, out);
                Ok(())
            }
            Kind::Block(_) => Err(nonsense("a piece of an output item of another kind")),
        }
    }

    /// Says what the whole text has and the pieces had not.
    fn complete(&mut self, at: usize, whole: &str, out: &mut Out) -> Result<(), DecodeError> {
        let Kind::Block(block) = &mut self.items[at].kind else {
            return Ok(());
        };
        let parsed = |text: &str| lenient::parse::<Value>(text).ok();
        match whole.strip_prefix(block.said.as_str()) {
            // Where the parts meet, thoughts are our own.
            Some(rest)
                if block.said.is_empty() || !matches!(block.content, Content::Thinking(_)) =>
            {
                block.grow(block.content, rest, out);
                Ok(())
            }
            // A piece was lost, and what is left may still look like a call.
            None if block.content == Content::Call
                && !whole.is_empty()
                && parsed(&block.said) != parsed(whole) =>
            {
                Err(nonsense(
                    "a tool call whose arguments are not those of its pieces",
                ))
            }
            _ => Ok(()),
        }
    }

    /// The item is whole.
    fn settle(
        &mut self,
        place: Option<u64>,
        item: &Value,
        out: &mut Out,
    ) -> Result<(), DecodeError> {
        let id = text(item.get("id"));
        // One that has ended can only end again if it is the same.
        let same = |at: &usize| self.items[*at].is_open || self.items[*at].id == id;
        let at = match self.find(place, id).filter(same) {
            Some(at) => at,
            None => self.start(place, item, out)?,
        };
        if !self.items[at].is_open {
            return Ok(());
        }
        if matches!(self.items[at].kind, Kind::Nameless) {
            self.items[at].kind = Kind::Block(self.begin(Content::Call, item, out));
        }
        let Kind::Block(block) = &self.items[at].kind else {
            self.items[at].is_open = false;
            return Ok(());
        };
        let (whole, signature) = match block.content {
            Content::Text => (parts(item.get("content"), ""), text_signature(item)),
            Content::Thinking(_) => {
                let summary = parts(item.get("summary"), BETWEEN_PARTS);
                let whole = if summary.is_empty() {
                    parts(item.get("content"), BETWEEN_PARTS)
                } else {
                    summary
                };
                // All of it goes back, since only so the service finds what it has encrypted.
                (whole, Some(item.to_string()))
            }
            Content::Call => (arguments(item.get("arguments")), None),
        };
        self.complete(at, &whole, out)?;
        self.items[at].close(signature, out);
        Ok(())
    }

    /// The service has said its last word.
    fn end_with(
        &mut self,
        kind: &str,
        mut response: Value,
        out: &mut Out,
    ) -> Result<(), DecodeError> {
        self.identify(Some(&response), out);
        let usage = response.get_mut("usage").map(Value::take);
        let usage = usage.and_then(|usage| serde_json::from_value::<Option<Usage>>(usage).ok());
        let counts = usage.flatten().and_then(|usage| usage.counts());
        let status = match (kind, text(response.get("status"))) {
            (
                "response.completed" | "response.done",
                status @ ("incomplete" | "failed" | "cancelled"),
            ) => status,
            // Which of the two is true nobody knows, and a tool may hang on it.
            ("response.completed" | "response.done", status @ ("queued" | "in_progress")) => {
                return Err(nonsense(&format!("the end of a response that is {status}")));
            }
            ("response.completed" | "response.done", _) => "completed",
            (kind, _) => kind.trim_start_matches("response."),
        };
        let end = match status {
            "completed" => Ok((StopReason::Stop, None)),
            "incomplete" => incomplete(&response),
            "cancelled" => Err(ModelError::provider(
                "The model service cancelled its answer.",
            )),
            _ => Err(failed(&response)),
        };
        if let Ok((stop_reason, _)) = &end {
            let output = response.get_mut("output").map(Value::take);
            if let Some(Value::Array(items)) = output.filter(|_| self.items.is_empty()) {
                // Some gateways stream nothing but the end.
                for (place, item) in (0..).zip(&items) {
                    self.settle(Some(place), item, out)?;
                }
            }
            let mut open = self.items.iter_mut().filter(|item| item.is_open);
            // Without a word of arguments it may still look like a call that needs none.
            let lost = |item: &mut Item| match &item.kind {
                Kind::Nameless => true,
                Kind::Block(block) => block.content == Content::Call && block.said.is_empty(),
                Kind::Unknown => false,
            };
            if *stop_reason == StopReason::Stop && open.any(lost) {
                return Err(cut_short().into());
            }
            for item in self.items.iter_mut().filter(|item| item.is_open) {
                item.close(None, out);
            }
        }
        if let Some(counts) = counts.filter(|counts| self.usage != Some(*counts)) {
            self.usage = Some(counts);
            out.push_back(ModelDelta::Usage(counts));
        }
        let (stop_reason, refusal) = end?;
        self.finished = true;
        out.push_back(ModelDelta::Finished {
            stop_reason: match stop_reason {
                StopReason::Stop if self.has_calls => StopReason::ToolUse,
                other => other,
            },
            refusal,
        });
        Ok(())
    }
}

impl Block {
    fn grow(&mut self, content: Content, delta: &str, out: &mut Out) {
        if delta.is_empty() {
            return;
        }
        let index = self.index;
        if let Content::Thinking(_) = content {
            let is_other_part = self.content != content;
            self.content = content;
            if is_other_part && !self.said.is_empty() {
                self.grow(content, BETWEEN_PARTS, out);
            }
        }
        let piece = delta.to_owned();
        out.push_back(match content {
            Content::Text => ModelDelta::TextDelta {
                index,
                delta: piece,
            },
            Content::Thinking(_) => ModelDelta::ThinkingDelta {
                index,
                delta: piece,
            },
            Content::Call => ModelDelta::ToolcallDelta {
                index,
                delta: piece,
            },
        });
        self.said.push_str(delta);
    }
}

impl Item {
    fn close(&mut self, signature: Option<String>, out: &mut Out) {
        self.is_open = false;
        let Kind::Block(Block { index, content, .. }) = self.kind else {
            return;
        };
        out.push_back(match content {
            Content::Text => ModelDelta::TextEnd { index, signature },
            Content::Thinking(_) => ModelDelta::ThinkingEnd {
                index,
                signature,
                redacted: false,
            },
            Content::Call => ModelDelta::ToolcallEnd { index },
        });
    }
}

/// A text, or none where there is something else.
fn text(value: Option<&Value>) -> &str {
    value.and_then(Value::as_str).unwrap_or_default()
}

/// JSON text of arguments, which some servers send as the object itself.
fn arguments(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// The texts and refusals in a list of parts.
fn parts(list: Option<&Value>, between: &str) -> String {
    let part = |part: &Value| {
        let text = [text(part.get("text")), text(part.get("refusal"))].concat();
        (!text.is_empty()).then_some(text)
    };
    let list = list.and_then(Value::as_array);
    let texts: Vec<String> = list.into_iter().flatten().filter_map(part).collect();
    texts.join(between)
}

/// What of a message is needed to send it back as the one that it was.
fn text_signature(item: &Value) -> Option<String> {
    let id = text(item.get("id"));
    if id.is_empty() {
        return None;
    }
    let mut signature = json!({"v": 1, "id": id});
    let phase = text(item.get("phase"));
    if !phase.is_empty() {
        signature["phase"] = phase.into();
    }
    Some(signature.to_string())
}

/// Why a response has no end of its own, with a text for people when it is a refusal.
fn incomplete(response: &Value) -> Result<(StopReason, Option<String>), ModelError> {
    match text(response.pointer("/incomplete_details/reason")) {
        "max_output_tokens" | "max_tokens" | "" => Ok((StopReason::Length, None)),
        "content_filter" => Ok((StopReason::Error, Some(REFUSED.to_owned()))),
        other => Err(ModelError::provider(format!(
            "The model stopped for a reason that is not known (incomplete: {other})."
        ))),
    }
}

fn failed(response: &Value) -> ModelError {
    let mut error = response.get("error").cloned().unwrap_or_default();
    let reason = text(response.pointer("/incomplete_details/reason"));
    if error.is_null() && !reason.is_empty() {
        error = json!({"message": format!("incomplete: {reason}")});
    }
    ModelError::from_event(&json!({ "error": error }))
}

/// The error that an event tells of, in a part of its own or beside its type.
fn reported(event: Event) -> DecodeError {
    let error = event
        .error
        .unwrap_or_else(|| json!({"code": event.code, "message": event.message}));
    ModelError::from_event(&json!({ "error": error })).into()
}

/// The data is no JSON, or not that of an event.
fn unreadable(event: &SseEvent, error: &serde_json::Error) -> DecodeError {
    match lenient::parse::<Value>(&event.data) {
        Ok(_) => nonsense(&format!("an event of another shape ({error})")),
        Err(_) => DecodeError::NotJson(error.to_string()),
    }
}

fn nonsense(what: &str) -> DecodeError {
    DecodeError::Failed(ModelError::provider(format!(
        "The model service sent {what}."
    )))
}
