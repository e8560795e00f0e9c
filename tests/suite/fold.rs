//! What the lines say about each other: the rules of the grammar in words, checked on plain JSON.
//!
//! Simple and quadratic on purpose: it has to be right by reading.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::check::{kind, text_at};

/// The rules of the grammar that this module checks, by the names they have there.
pub(crate) const RULES: [&str; 8] = [
    "whole_messages",
    "fold",
    "resolved_tool_name",
    "tool_starts",
    "tool_result_messages",
    "turn_end",
    "agent_end",
    "stream_end",
];

/// A block of an answer as its deltas tell it.
struct Block {
    kind: &'static str,
    joined: String,
    /// The delta that began it; of a call it holds the id and the name.
    start: Value,
    /// `content` or `toolCall` of its end.
    end: Option<Value>,
}

#[derive(Default)]
struct Reader {
    at: String,
    findings: Vec<String>,
    /// `message_start` of the open message.
    start: Value,
    blocks: BTreeMap<u64, Block>,
    latest_usage: Value,
    /// The finished messages of the run.
    run: Vec<Value>,
    /// Of the turn: its answer, the executions that began and ended, the result messages.
    answer: Value,
    starts: Vec<Value>,
    ends: Vec<Value>,
    results: Vec<Value>,
    usage: Sum,
    turns: u64,
}

/// Sums of tokens (exact) and costs (up to rounding).
#[derive(Default)]
struct Sum {
    tokens: [u64; 7],
    costs: [f64; 5],
}

const TOKENS: [&str; 7] = [
    "input",
    "output",
    "cacheRead",
    "cacheWrite",
    "cacheWrite1h",
    "reasoning",
    "totalTokens",
];
const COSTS: [&str; 5] = ["input", "output", "cacheRead", "cacheWrite", "total"];

impl Sum {
    fn add(&mut self, usage: &Value) {
        for (sum, name) in self.tokens.iter_mut().zip(TOKENS) {
            *sum += usage[name].as_u64().unwrap_or(0);
        }
        for (sum, name) in self.costs.iter_mut().zip(COSTS) {
            *sum += usage["cost"][name].as_f64().unwrap_or(0.0);
        }
    }

    fn differs(&self, usage: &Value) -> bool {
        let mut told = Self::default();
        told.add(usage);
        let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-9 * a.abs().max(b.abs());
        self.tokens != told.tokens || !self.costs.iter().zip(&told.costs).all(near)
    }
}

/// What is wrong between the lines.
pub(crate) fn findings(lines: &[Value]) -> Vec<String> {
    let mut reader = Reader::default();
    for (index, line) in lines.iter().enumerate() {
        reader.at = format!("line {} ({})", index + 1, kind(line));
        reader.read(line, lines.len());
    }
    reader.findings
}

impl Reader {
    fn wrong(&mut self, rule: &str, what: impl AsRef<str>) {
        debug_assert!(RULES.contains(&rule));
        self.findings
            .push(format!("{}: {rule}: {}", self.at, what.as_ref()));
    }

    fn read(&mut self, line: &Value, count: usize) {
        match kind(line) {
            "agent_start" => self.run.clear(),
            "turn_start" => {
                self.turns += 1;
                self.answer = Value::Null;
                self.starts.clear();
                self.ends.clear();
                self.results.clear();
            }
            "message_start" => {
                self.start = line["message"].clone();
                self.blocks.clear();
                self.latest_usage = Value::Null;
            }
            "message_update" => {
                self.latest_usage = line["usage"].clone();
                self.delta(line);
            }
            "message_end" => self.message(&line["message"]),
            "tool_execution_start" => self.tool_start(line),
            "tool_execution_update" => self.same_args(line),
            "tool_execution_end" => self.ends.push(line.clone()),
            "compaction_end" => {
                let usages = [&line["result"]["usage"], &line["usage"]];
                for usage in usages.into_iter().filter(|usage| usage.is_object()) {
                    self.usage.add(usage);
                }
            }
            // What an agent's own agents used is in the end of its stream already.
            "subagent_arbitration" => self.usage.add(&line["usage"]),
            "background_agent_event" if kind(&line["event"]) == "stream_end" => {
                self.usage.add(&line["event"]["usage"]);
            }
            "turn_end" => self.turn_end(line),
            "agent_end" if without_state(&line["messages"]) != self.run => {
                self.wrong("agent_end", "messages are not those of the run");
            }
            "stream_end" => self.stream_end(line, count),
            _ => {}
        }
    }

    fn delta(&mut self, line: &Value) {
        let delta = &line["assistantMessageEvent"];
        let index = delta["contentIndex"].as_u64().unwrap_or(u64::MAX);
        let (of, what) = kind(delta).split_once('_').unwrap_or_default();
        let of = match of {
            "text" => "text",
            "thinking" => "thinking",
            _ => "toolCall",
        };
        if what == "start" {
            if index != self.blocks.len() as u64 {
                self.wrong("fold", format!("block {index} is not the next one"));
            }
            let start = delta.clone();
            let block = Block {
                kind: of,
                joined: String::new(),
                start,
                end: None,
            };
            if self.blocks.insert(index, block).is_some() {
                self.wrong("fold", format!("block {index} starts twice"));
            }
        } else {
            match self.blocks.get_mut(&index) {
                Some(block) if block.kind == of && block.end.is_none() => {
                    if what == "delta" {
                        block.joined.push_str(text_at(delta, "/delta"));
                    } else if of == "toolCall" {
                        block.end = Some(delta["toolCall"].clone());
                    } else {
                        block.end = Some(delta["content"].clone());
                    }
                }
                _ => self.wrong("fold", format!("no open {of} block {index}")),
            }
        }
        let named = matches!(kind(delta), "toolcall_start" | "toolcall_end");
        if named != line["resolvedToolName"].is_string() {
            self.wrong(
                "resolved_tool_name",
                "resolvedToolName belongs to starts and ends of calls",
            );
        }
    }

    fn message(&mut self, message: &Value) {
        self.run.push(message.clone());
        match text_at(message, "/role") {
            "assistant" => {
                self.usage.add(&message["usage"]);
                self.answer = message.clone();
                if self.start["stopReason"] == "pending" {
                    self.fold(message);
                } else if self.start != *message {
                    self.wrong("whole_messages", "it differs from its message_start");
                }
            }
            role => {
                if self.start != *message {
                    self.wrong("whole_messages", "it differs from its message_start");
                }
                if role == "toolResult" {
                    self.result(message);
                }
            }
        }
    }

    fn fold(&mut self, message: &Value) {
        for name in ["role", "api", "provider", "model", "timestamp"] {
            if self.start[name] != message[name] {
                self.wrong("fold", format!("{name} differs from message_start"));
            }
        }
        for name in TOKENS {
            let (latest, last) = (&self.latest_usage[name], &message["usage"][name]);
            if latest.as_u64() > last.as_u64() {
                self.wrong(
                    "fold",
                    format!("usage.{name} shrinks from {latest} to {last}"),
                );
            }
        }
        let content = message["content"].as_array().cloned().unwrap_or_default();
        if content.len() != self.blocks.len() {
            let (told, is) = (self.blocks.len(), content.len());
            self.wrong(
                "fold",
                format!("the deltas tell of {told} blocks, it holds {is}"),
            );
            return;
        }
        let broken = matches!(text_at(message, "/stopReason"), "error" | "aborted");
        let blocks = std::mem::take(&mut self.blocks);
        for (block, told) in content.iter().zip(blocks.values()) {
            if let Err(what) = told.agrees(block, broken) {
                self.wrong("fold", what);
            }
        }
    }

    fn calls(&self) -> Vec<Value> {
        let broken = matches!(text_at(&self.answer, "/stopReason"), "error" | "aborted");
        let blocks = self.answer["content"].as_array().filter(|_| !broken);
        let blocks = blocks
            .into_iter()
            .flatten()
            .filter(|block| kind(block) == "toolCall");
        blocks.cloned().collect()
    }

    fn tool_start(&mut self, line: &Value) {
        let call = self
            .calls()
            .get(self.starts.len())
            .cloned()
            .unwrap_or_default();
        if call["id"] != line["toolCallId"] {
            self.wrong("tool_starts", format!("the next call is {}", call["id"]));
        } else if call["arguments"] != line["args"] {
            self.wrong(
                "tool_starts",
                format!("the arguments are {}", call["arguments"]),
            );
        }
        self.starts.push(line.clone());
    }

    fn same_args(&mut self, line: &Value) {
        let start = self
            .starts
            .iter()
            .find(|start| start["toolCallId"] == line["toolCallId"]);
        if start.is_none_or(|start| start["args"] != line["args"]) {
            self.wrong("tool_starts", "args differ from the start");
        }
    }

    fn result(&mut self, message: &Value) {
        let start = self
            .starts
            .get(self.results.len())
            .cloned()
            .unwrap_or_default();
        let id = &message["toolCallId"];
        let end = self
            .ends
            .iter()
            .find(|end| end["toolCallId"] == *id)
            .cloned();
        let end = end.unwrap_or_default();
        if start["toolCallId"] != *id {
            self.wrong(
                "tool_result_messages",
                format!("the next start is {}", start["toolCallId"]),
            );
        } else if end["isError"] != message["isError"] || end["toolName"] != message["toolName"] {
            self.wrong(
                "tool_result_messages",
                "it differs from its tool_execution_end",
            );
        } else if !ends_with(&message["content"], &end["result"]["content"])
            || end["result"]["details"] != message["details"]
        {
            self.wrong(
                "tool_result_messages",
                "its content differs from its tool_execution_end",
            );
        }
        self.results.push(message.clone());
    }

    fn turn_end(&mut self, line: &Value) {
        if line["message"] != self.answer {
            self.wrong("turn_end", "message is not the answer of the turn");
        }
        if line["toolResults"] != json!(self.results) {
            self.wrong("turn_end", "toolResults are not those of the turn");
        }
        if self.results.len() != self.starts.len() {
            self.wrong("tool_result_messages", "a started call has no result");
        }
    }

    fn stream_end(&mut self, line: &Value, count: usize) {
        if self.usage.differs(&line["usage"]) {
            self.wrong("stream_end", "usage is not the sum of the answers");
        }
        if line["turns"] != self.turns {
            self.wrong("stream_end", format!("turns: {} begun", self.turns));
        }
        if line["lines"] != count {
            self.wrong("stream_end", format!("lines: {count} written"));
        }
        let error = line["error"].is_object();
        let sane = match (text_at(line, "/outcome"), line["exitCode"].as_u64()) {
            ("completed", Some(0)) => !error,
            ("failed", Some(1..=3)) | ("limit", Some(1)) => error,
            ("interrupted", Some(129 | 130 | 143)) => line["error"]["code"] == "interrupted",
            // The host has asked for it.
            ("aborted", Some(1)) => true,
            _ => false,
        };
        if !sane {
            self.wrong(
                "stream_end",
                "outcome, exitCode and error do not go together",
            );
        }
    }
}

/// The messages that have lines of their own.
fn without_state(messages: &Value) -> Vec<Value> {
    let state = ["bashExecution", "branchSummary", "compactionSummary"];
    let messages = messages.as_array().into_iter().flatten();
    messages
        .filter(|message| !state.contains(&text_at(message, "/role")))
        .cloned()
        .collect()
}

/// Whether the one list ends with the other: the model may be told something before the result.
fn ends_with(list: &Value, tail: &Value) -> bool {
    match (list.as_array(), tail.as_array()) {
        (Some(list), Some(tail)) => list.ends_with(tail) && list.len() <= tail.len() + 1,
        _ => false,
    }
}

impl Block {
    /// Whether the finished block is what the deltas tell; `broken` if its message was cut off.
    fn agrees(&self, block: &Value, broken: bool) -> Result<(), String> {
        if kind(block) != self.kind {
            return Err(format!("a {} block became {}", self.kind, kind(block)));
        }
        match &self.end {
            None if !broken => Err(format!("a {} block has no end", self.kind)),
            end if self.kind == "toolCall" => self.agrees_call(block, end.as_ref()),
            end => {
                let text = &block[self.kind];
                let redacted = block["redacted"] == true && self.joined.is_empty();
                if !redacted && *text != self.joined {
                    return Err(format!("{:?} was told, {text} ended", self.joined));
                }
                match end {
                    Some(end) if end != text => Err(format!("its end says {end}, it is {text}")),
                    _ => Ok(()),
                }
            }
        }
    }

    fn agrees_call(&self, block: &Value, end: Option<&Value>) -> Result<(), String> {
        if block["id"] != self.start["id"] || block["name"] != self.start["toolName"] {
            return Err(format!("the call became {} {}", block["id"], block["name"]));
        }
        if end.is_some_and(|end| {
            ["id", "name", "arguments"]
                .iter()
                .any(|at| end[at] != block[at])
        }) {
            return Err("the call differs from its toolcall_end".into());
        }
        // A call without a word of arguments has none.
        let blank = self.joined.trim_matches([' ', '\t', '\r', '\n']).is_empty();
        let whole = if blank {
            Ok(Map::new())
        } else {
            parse(&self.joined)
        };
        match whole {
            Ok(arguments) if block["arguments"] != Value::Object(arguments.clone()) => Err(
                format!("arguments {:?} became {}", self.joined, block["arguments"]),
            ),
            Ok(_) if end.is_some() && block["incomplete"] == true => {
                Err("whole arguments are called incomplete".into())
            }
            Err(error) if end.is_some() && block["incomplete"] != true => {
                Err(format!("broken arguments are called whole: {error}"))
            }
            _ => Ok(()),
        }
    }
}

/// Reads arguments; a lone surrogate is U+FFFD, as everywhere on the wire.
fn parse(text: &str) -> Result<Map<String, Value>, serde_json::Error> {
    serde_json::from_str(&mend(text))
}

/// Replaces escapes of lone surrogates.
fn mend(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let unit = |text: &str| {
            let digits = text.strip_prefix("\\u")?.get(..4)?;
            u32::from_str_radix(digits, 16).ok()
        };
        let length = match unit(rest) {
            Some(0xD800..=0xDBFF) => match rest.get(6..).and_then(unit) {
                Some(0xDC00..=0xDFFF) => 12,
                _ => 0,
            },
            Some(0xDC00..=0xDFFF) => 0,
            Some(_) => 6,
            None => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
        };
        if length == 0 {
            out.push('\u{FFFD}');
            rest = &rest[6..];
        } else {
            out.push_str(&rest[..length]);
            rest = &rest[length..];
        }
    }
    out + rest
}
