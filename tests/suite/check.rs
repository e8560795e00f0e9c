//! The one judge of a stream: bytes, schema, order, strict reading, fold and sums.

use serde_json::Value;

use quipu::wire::Wire;

use crate::{fold, grammar, schema, strict, verify};

/// A stream that passed.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    pub(crate) lines: Vec<Value>,
}

impl Stream {
    /// The first line.
    pub(crate) fn header(&self) -> &Value {
        &self.lines[0]
    }

    /// The last line.
    pub(crate) fn end(&self) -> &Value {
        self.lines.last().unwrap()
    }

    /// `stream_end.outcome`.
    pub(crate) fn outcome(&self) -> &str {
        text_at(self.end(), "/outcome")
    }

    /// `stream_end.error.code`, or nothing.
    pub(crate) fn error_code(&self) -> &str {
        text_at(self.end(), "/error/code")
    }

    /// `stream_end.error.message`, or nothing.
    pub(crate) fn error_message(&self) -> &str {
        text_at(self.end(), "/error/message")
    }

    /// The type of each line.
    pub(crate) fn kinds(&self) -> Vec<&str> {
        self.lines.iter().map(kind).collect()
    }

    /// The lines of one type.
    pub(crate) fn of(&self, wanted: &str) -> Vec<&Value> {
        self.lines
            .iter()
            .filter(|line| kind(line) == wanted)
            .collect()
    }

    /// The deltas of one type.
    pub(crate) fn deltas(&self, wanted: &str) -> Vec<&Value> {
        let deltas = self
            .lines
            .iter()
            .filter_map(|line| line.get("assistantMessageEvent"));
        deltas.filter(|delta| kind(delta) == wanted).collect()
    }

    /// The finished messages of one role.
    pub(crate) fn messages(&self, role: &str) -> Vec<&Value> {
        let ends = self
            .of("message_end")
            .into_iter()
            .map(|line| &line["message"]);
        ends.filter(|message| message["role"] == role).collect()
    }

    /// The text blocks of all finished answers.
    pub(crate) fn answers(&self) -> Vec<&str> {
        let blocks = self.messages("assistant").into_iter();
        let blocks = blocks.flat_map(|message| message["content"].as_array().unwrap());
        blocks
            .filter(|block| block["type"] == "text")
            .map(|block| text_at(block, "/text"))
            .collect()
    }

    /// The first text of each tool's result, in the order of the ends.
    pub(crate) fn results(&self) -> Vec<&str> {
        let ends = self.of("tool_execution_end").into_iter();
        ends.map(|line| text_at(line, "/result/content/0/text"))
            .collect()
    }
}

/// The type of a line or a delta.
pub(crate) fn kind(value: &Value) -> &str {
    value["type"].as_str().unwrap_or_default()
}

/// The string at a pointer, or nothing.
pub(crate) fn text_at<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// All that is wrong with a whole native stream of the program.
pub(crate) fn check(bytes: &[u8]) -> Result<Stream, Vec<String>> {
    let mut findings = Vec::new();
    for (index, line) in split(bytes)?.iter().enumerate() {
        findings.extend(
            strict::read(line)
                .err()
                .map(|what| format!("line {}: {what}", index + 1)),
        );
    }
    match check_any(bytes) {
        Ok(stream) if findings.is_empty() => Ok(stream),
        Ok(_) => Err(findings),
        Err(more) => Err([findings, more].concat()),
    }
}

/// The same for a stream that may hold what the program never writes.
pub(crate) fn check_any(bytes: &[u8]) -> Result<Stream, Vec<String>> {
    let text = split(bytes)?;
    let (lines, mut findings) = parse(&text);
    if lines.len() == text.len() {
        findings.extend(schema::findings(&lines));
        findings.extend(grammar::native().findings(&lines));
        findings.extend(fold::findings(&lines));
        findings.extend(relayed(&lines));
        findings.extend(verify::errors(Wire::Quipu, bytes));
    }
    if findings.is_empty() {
        Ok(Stream { lines })
    } else {
        Err(findings)
    }
}

/// The streams of background agents, by agent, as far as they were passed on. A chain is several.
pub(crate) fn children(lines: &[Value]) -> Vec<(String, Vec<Vec<Value>>)> {
    let mut children: Vec<(String, Vec<Vec<Value>>)> = Vec::new();
    for line in lines
        .iter()
        .filter(|line| kind(line) == "background_agent_event")
    {
        let id = text_at(line, "/agentId");
        let known = children.iter().position(|(known, _)| known == id);
        let at = known.unwrap_or_else(|| {
            children.push((id.to_owned(), Vec::new()));
            children.len() - 1
        });
        let streams = &mut children[at].1;
        if kind(&line["event"]) == "session" || streams.is_empty() {
            streams.push(Vec::new());
        }
        streams.last_mut().unwrap().push(line["event"].clone());
    }
    children
}

/// What is wrong with the streams of background agents that were passed on to their ends.
fn relayed(lines: &[Value]) -> Vec<String> {
    let mut findings = Vec::new();
    for (id, streams) in children(lines) {
        for stream in streams {
            if stream.last().is_some_and(|line| kind(line) == "stream_end") {
                let own = grammar::native().findings(&stream).into_iter();
                let own = own.chain(fold::findings(&stream)).chain(relayed(&stream));
                findings.extend(own.map(|what| format!("agent {id}: {what}")));
            }
        }
    }
    findings
}

/// The lines as JSON, and what is wrong with their spelling.
pub(crate) fn parse(text: &[&str]) -> (Vec<Value>, Vec<String>) {
    let mut findings = Vec::new();
    let mut lines = Vec::new();
    for (index, line) in text.iter().enumerate() {
        findings.extend(
            spelling(line)
                .err()
                .map(|what| format!("line {}: {what}", index + 1)),
        );
        match serde_json::from_str::<Value>(line) {
            Ok(value) => lines.push(value),
            Err(error) => findings.push(format!("line {}: not JSON: {error}", index + 1)),
        }
    }
    (lines, findings)
}

/// Cuts bytes into lines, each ended by `\n` alone.
pub(crate) fn split(bytes: &[u8]) -> Result<Vec<&str>, Vec<String>> {
    let text = std::str::from_utf8(bytes).map_err(|error| vec![format!("not UTF-8: {error}")])?;
    let Some(text) = text.strip_suffix('\n') else {
        return Err(vec![format!(
            "the last line is cut after {} bytes",
            text.len()
        )]);
    };
    Ok(text.split('\n').collect())
}

/// What JSON readers do not see: blanks, raw line separators, the place of the tag.
fn spelling(line: &str) -> Result<(), String> {
    if !line.starts_with(r#"{"type":""#) {
        return Err(format!(
            "does not begin with its type: {:?}",
            line.get(..40).unwrap_or(line)
        ));
    }
    if ["\u{2028}", "\u{2029}", "\r"]
        .iter()
        .any(|separator| line.contains(separator))
    {
        return Err("holds a raw line separator".into());
    }
    let mut rest = line.as_bytes();
    loop {
        let quote = memchr::memchr(b'"', rest).unwrap_or(rest.len());
        let (between, string) = rest.split_at(quote);
        if between.iter().any(u8::is_ascii_whitespace) {
            return Err("is not compact".into());
        }
        let Some(string) = string.get(1..) else {
            return Ok(());
        };
        rest = after_string(string);
    }
}

/// What follows a string whose first quote is behind us.
fn after_string(mut rest: &[u8]) -> &[u8] {
    while let Some(at) = memchr::memchr2(b'"', b'\\', rest) {
        let ended = rest[at] == b'"';
        rest = rest
            .get(at + if ended { 1 } else { 2 }..)
            .unwrap_or_default();
        if ended {
            break;
        }
    }
    rest
}
