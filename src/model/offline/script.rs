//! Scenario files: what the offline model is to answer, request by request.
//!
//! ```json
//! {"defaults": {"chunk": 12}, "steps": [
//!   {"blocks": [{"text": "Reading."}, {"tool": "read", "args": {"path": "notes.txt"}}]},
//!   {"error": "overloaded", "headers": {"retry-after-ms": "20"}, "times": 2},
//!   {"blocks": [{"text": "Done."}], "usage": {"input": 60, "output": 2}}
//! ]}
//! ```
//!
//! Each request takes the next step; requests beyond the last one get the text `done`. `defaults`
//! fill in for what a step with blocks does not say itself; `context_window` is that of the model in
//! tokens. Other keys beside these are somebody else's and are not read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::model::{Model, ModelRequest, anthropic, json};

/// A scenario, checked.
#[derive(Clone, Debug)]
pub struct Script {
    steps: Vec<Step>,
    context_window: Option<u64>,
    model: Model,
}

/// Why a scenario file cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The file cannot be read.
    #[error("The script {} cannot be read: {source}.", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The file is not a scenario.
    #[error("The script {} is broken at {place}: {reason}.", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// Line and column, the field, or both.
        place: String,
        /// What is wrong and what is expected.
        reason: String,
    },
}

#[derive(Deserialize)]
#[serde(expecting = "a scenario, which is an object with `steps`")]
struct File {
    steps: Vec<Step>,
    #[serde(default)]
    defaults: Step,
    context_window: Option<u64>,
}

/// What a step may hold.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a step, which is an object")]
pub(super) struct Step {
    /// The content of the answer.
    pub(super) blocks: Option<Vec<Block>>,
    /// Why the answer ends, in the service's word. Without it `tool_use` if there is a call, else
    /// `end_turn`.
    pub(super) stop: Option<String>,
    pub(super) usage: Option<Usage>,
    /// Characters of a piece; 12 without it.
    pub(super) chunk: Option<usize>,
    /// Pause before each delta.
    pub(super) delay_ms: Option<f64>,
    /// Bytes of a network write; there is no network here.
    #[serde(rename = "wire")]
    pub(super) _wire: Option<u64>,
    /// A refusal as the service words it.
    pub(super) error: Option<NamedError>,
    /// A refusal as it is; also overrides the status of `error`.
    pub(super) status: Option<u16>,
    pub(super) headers: Option<BTreeMap<String, Value>>,
    pub(super) body: Option<Value>,
    /// An error in place of the end of the answer.
    pub(super) stream_error: Option<NamedError>,
    /// The connection breaks after so many pieces,
    pub(super) abort_after: Option<u64>,
    /// hard,
    pub(super) reset: Option<bool>,
    /// or politely.
    pub(super) clean: Option<bool>,
    /// A silence before the answer,
    pub(super) hang_ms: Option<f64>,
    /// or before this piece, counted from 0.
    pub(super) hang_after: Option<u64>,
    /// Raw text in place of the answer,
    pub(super) garbage: Option<String>,
    /// or before this piece, counted from 0.
    pub(super) garbage_after: Option<u64>,
    /// Only for requests that hold this.
    #[serde(rename = "match")]
    pub(super) wanted: Option<Match>,
    /// How many requests get this step; 1 without it.
    pub(super) times: Option<u64>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Usage {
    pub(super) input: Option<u64>,
    pub(super) output: Option<u64>,
    pub(super) cache_read: Option<u64>,
    pub(super) cache_write: Option<u64>,
    /// The part of `cache_write` that is kept for an hour.
    pub(super) cache_write_1h: Option<u64>,
    pub(super) reasoning: Option<u64>,
}

/// One content block; exactly one of `text`, `thinking`, `redacted` and `tool` says which.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a block, which is an object")]
pub(super) struct Block {
    pub(super) text: Option<String>,
    /// How often the pieces of a text are sent.
    pub(super) repeat: Option<u64>,
    pub(super) chunk: Option<usize>,
    pub(super) thinking: Option<String>,
    pub(super) signature: Option<String>,
    pub(super) redacted: Option<String>,
    pub(super) tool: Option<String>,
    pub(super) id: Option<String>,
    pub(super) args: Option<Value>,
    /// The arguments as raw text, which need not be JSON.
    pub(super) args_text: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum NamedError {
    Overloaded,
    RateLimit,
    Overflow,
    Auth,
    Server,
}

/// Substrings of the request's JSON that have to be there.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a string or an object with `any`, `first` or `last`"
)]
pub(super) enum Match {
    Anywhere(String),
    Places(Places),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Places {
    any: Option<String>,
    first: Option<String>,
    last: Option<String>,
}

/// What has been played.
#[derive(Debug, Default)]
pub(super) struct State {
    requests: u64,
    used: Vec<u64>,
}

impl State {
    /// How many requests there were.
    pub(super) fn requests(&self) -> u64 {
        self.requests
    }
}

/// The most of a scenario file that is read.
const MAX_BYTES: u64 = 64 << 20;

impl Script {
    /// Reads and checks a scenario file.
    pub fn load(path: &Path) -> Result<Self, ScriptError> {
        let unreadable = |source| ScriptError::Read {
            path: path.to_owned(),
            source,
        };
        let about = std::fs::metadata(path).map_err(unreadable)?;
        // A pipe or a device may never end.
        if !about.is_file() || about.len() > MAX_BYTES {
            return Err(unreadable(std::io::Error::other(
                "it is no regular file of at most 64 MiB",
            )));
        }
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        Self::parse(path, &text)
    }

    /// Checks the text of a scenario; `path` is for messages.
    pub fn parse(path: &Path, text: &str) -> Result<Self, ScriptError> {
        let broken = |place: String, reason: String| ScriptError::Broken {
            path: path.to_owned(),
            place,
            reason,
        };
        let repaired = json::repair_surrogates(text);
        let mut json = serde_json::Deserializer::from_str(repaired.as_deref().unwrap_or(text));
        let file: Result<File, _> = serde_path_to_error::deserialize(&mut json);
        let file = file.map_err(|error| {
            let field = error.path().to_string();
            let error = error.into_inner();
            let line = format!("line {}, column {}", error.line(), error.column());
            let place = if matches!(field.as_str(), "." | "?") {
                line
            } else {
                format!("{line}, {field}")
            };
            // The position is in the place already.
            let reason = error.to_string();
            broken(
                place,
                reason
                    .split(" at line ")
                    .next()
                    .unwrap_or_default()
                    .to_owned(),
            )
        })?;
        json.end().map_err(|error| {
            let place = format!("line {}, column {}", error.line(), error.column());
            broken(
                place,
                "there is something behind the end of the scenario".to_owned(),
            )
        })?;
        let check = |name: &str, step: &Step| {
            step.check().map_err(|(field, reason)| {
                let dot = if field.is_empty() { "" } else { "." };
                broken(format!("{name}{dot}{field}"), reason)
            })
        };
        check("defaults", &file.defaults)?;
        for (number, step) in file.steps.iter().enumerate() {
            check(&format!("steps[{number}]"), step)?;
        }
        let steps = file
            .steps
            .into_iter()
            .map(|step| step.or(&file.defaults))
            .collect();
        Ok(Self {
            steps,
            context_window: file.context_window,
            model: Model::offline(),
        })
    }

    /// Tokens that the model is to have for conversation and answer, if the scenario says so.
    #[must_use]
    pub fn context_window(&self) -> Option<u64> {
        self.context_window
    }

    /// The step for this request.
    pub(super) fn next(&self, request: &ModelRequest, state: &mut State) -> Step {
        state.requests += 1;
        state.used.resize(self.steps.len(), 0);
        let mut places = None;
        let mut chosen = None;
        for (number, step) in self.steps.iter().enumerate() {
            if state.used[number] >= step.times.unwrap_or(1) {
                continue;
            }
            match &step.wanted {
                None => chosen = chosen.or(Some(number)),
                Some(wanted) => {
                    let places = places.get_or_insert_with(|| Request::new(&self.model, request));
                    if places.holds(wanted) {
                        // It goes ahead of steps for any request that stand before it.
                        chosen = Some(number);
                        break;
                    }
                }
            }
        }
        match chosen {
            Some(number) => {
                state.used[number] += 1;
                self.steps[number].clone()
            }
            None => Step::text("done"),
        }
    }
}

/// The JSON of a request where steps look for their words.
struct Request {
    any: String,
    first: String,
    last: String,
}

impl Request {
    fn new(model: &Model, request: &ModelRequest) -> Self {
        let body = serde_json::to_value(anthropic::body(model, request)).unwrap_or_default();
        let messages = body.get("messages").and_then(Value::as_array);
        let text = |value: Option<&Value>| value.map(Value::to_string).unwrap_or_default();
        Self {
            first: text(messages.and_then(|list| list.first())),
            last: text(messages.and_then(|list| list.last())),
            any: body.to_string(),
        }
    }

    fn holds(&self, wanted: &Match) -> bool {
        let holds = |place: &str, words: Option<&String>| {
            words.is_none_or(|words| {
                let quoted = Value::from(words.as_str()).to_string();
                place.contains(&quoted[1..quoted.len() - 1])
            })
        };
        match wanted {
            Match::Anywhere(words) => holds(&self.any, Some(words)),
            Match::Places(places) => {
                holds(&self.any, places.any.as_ref())
                    && holds(&self.first, places.first.as_ref())
                    && holds(&self.last, places.last.as_ref())
            }
        }
    }
}

impl Step {
    /// A plain answer.
    pub(super) fn text(text: &str) -> Self {
        Self {
            blocks: Some(vec![Block::text(text)]),
            ..Self::default()
        }
    }

    /// What types do not check: field and reason.
    fn check(&self) -> Result<(), (String, String)> {
        let no_time = |ms: Option<f64>| ms.is_some_and(|ms| milliseconds(ms).is_none());
        if no_time(self.delay_ms) {
            return Err(("delay_ms".to_owned(), NO_TIME.to_owned()));
        }
        if no_time(self.hang_ms) {
            return Err(("hang_ms".to_owned(), NO_TIME.to_owned()));
        }
        if self
            .status
            .is_some_and(|status| !(100..=999).contains(&status))
        {
            return Err(("status".to_owned(), "a status has three digits".to_owned()));
        }
        if self.hang_after.is_some() && self.hang_ms.is_none() {
            return Err((
                "hang_after".to_owned(),
                "it needs `hang_ms` beside it".to_owned(),
            ));
        }
        if self.garbage_after.is_some() && self.garbage.is_none() {
            return Err((
                "garbage_after".to_owned(),
                "it needs `garbage` beside it".to_owned(),
            ));
        }
        for (number, block) in self.blocks.iter().flatten().enumerate() {
            block
                .check()
                .map_err(|reason| (format!("blocks[{number}]"), reason.to_owned()))?;
        }
        Ok(())
    }

    fn or(mut self, defaults: &Self) -> Self {
        if self.blocks.is_none() {
            return self;
        }
        let base = defaults.clone();
        macro_rules! fill {
            ($($field:ident),*) => { $(self.$field = self.$field.take().or(base.$field);)* };
        }
        fill!(
            stop,
            usage,
            chunk,
            delay_ms,
            error,
            status,
            headers,
            body,
            stream_error,
            abort_after
        );
        // Which requests a step is for, it says itself.
        fill!(reset, clean, hang_ms, hang_after, garbage, garbage_after);
        self
    }
}

const NO_TIME: &str = "a time is a number of milliseconds, at least 0 and at most a day";

/// A time of the script.
pub(super) fn milliseconds(ms: f64) -> Option<Duration> {
    (0.0..=86_400_000.0)
        .contains(&ms)
        .then(|| Duration::from_secs_f64(ms / 1000.0))
}

impl Block {
    pub(super) fn text(text: &str) -> Self {
        Self {
            text: Some(text.to_owned()),
            ..Self::empty()
        }
    }

    pub(super) fn tool(name: &str, id: String, args: Value) -> Self {
        Self {
            tool: Some(name.to_owned()),
            id: Some(id),
            args: Some(args),
            ..Self::empty()
        }
    }

    fn empty() -> Self {
        Self {
            text: None,
            repeat: None,
            chunk: None,
            thinking: None,
            signature: None,
            redacted: None,
            tool: None,
            id: None,
            args: None,
            args_text: None,
        }
    }

    fn check(&self) -> Result<(), &'static str> {
        let kinds = [&self.text, &self.thinking, &self.redacted, &self.tool];
        match kinds.iter().filter(|kind| kind.is_some()).count() {
            0 => Err("a block needs one of `text`, `thinking`, `redacted` and `tool`"),
            1 if self.tool.is_none()
                && (self.id.is_some() || self.args.is_some() || self.args_text.is_some()) =>
            {
                Err("`id`, `args` and `args_text` belong to a block with `tool`")
            }
            1 if self.args.is_some() && self.args_text.is_some() => {
                Err("either `args` or `args_text`, not both")
            }
            1 if self.signature.is_some() && self.thinking.is_none() => {
                Err("`signature` belongs to a block with `thinking`")
            }
            1 => Ok(()),
            _ => Err("a block is only one of `text`, `thinking`, `redacted` and `tool`"),
        }
    }
}
