//! The entries of a session, a line each.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Map, Value};

use crate::session::{SessionError, entries, first_line, text_of};
use crate::wire::visible_line;

/// What marks an entry on a branch that was left.
const LEFT: &str = "~";

/// Time, id, kind and first line of every entry.
pub(super) fn of(file: &Path) -> Result<String, SessionError> {
    let mut text = String::new();
    let mut any_left = false;
    for line in entries(file)? {
        let line = line?;
        let entry = &line.entry;
        let (kind, told) = told(entry);
        if entry.get("type").is_some_and(|kind| kind == "session") {
            let _ = writeln!(text, "{}", visible_line(&told));
            continue;
        }
        any_left |= !line.on_path;
        let mark = if line.on_path { " " } else { LEFT };
        let (time, id) = (time(entry), string(entry, "id"));
        let row = format!("{mark} {time:20}  {id:8}  {kind:10}  {told}");
        let _ = writeln!(text, "{}", visible_line(row.trim_end()));
    }
    if any_left {
        let _ = writeln!(text, "\n{LEFT} on a branch that was left");
    }
    Ok(text)
}

fn string<'a>(entry: &'a Map<String, Value>, key: &str) -> &'a str {
    entry.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The time to the second.
fn time(entry: &Map<String, Value>) -> String {
    let time = string(entry, "timestamp");
    match time.split_once('.') {
        Some((seconds, _)) => format!("{seconds}Z"),
        None => time.to_owned(),
    }
}

/// What an entry is called and what is to be told of it.
fn told(entry: &Map<String, Value>) -> (String, String) {
    let text = |key: &str| first_line(string(entry, key));
    let (kind, told) = match string(entry, "type") {
        "session" => ("", header(entry)),
        "message" => return message(entry.get("message").unwrap_or(&Value::Null)),
        "model_change" => {
            let why = match string(entry, "reason") {
                "" => String::new(),
                reason => format!(" ({reason})"),
            };
            let model = format!(
                "{}/{}{why}",
                string(entry, "provider"),
                string(entry, "modelId")
            );
            ("model", first_line(&model))
        }
        "thinking_level_change" => ("thinking", text("thinkingLevel")),
        "session_info" => ("name", text("name")),
        "compaction" => {
            let tokens = entry.get("tokensBefore").and_then(Value::as_u64);
            let tokens = tokens.unwrap_or_default();
            (
                "compaction",
                format!("of {tokens} tokens: {}", text("summary")),
            )
        }
        "branch_summary" => ("branch", text("summary")),
        "label" => ("label", format!("{} {}", text("targetId"), text("label"))),
        "custom" => ("custom", text("customType")),
        "custom_message" => {
            let content = entry.get("content").map(text_of).unwrap_or_default();
            let told = format!("{}: {}", text("customType"), first_line(&content));
            ("custom", told)
        }
        other => return (first_line(other), String::new()),
    };
    (kind.to_owned(), told)
}

fn header(entry: &Map<String, Value>) -> String {
    let mut told = format!(
        "session {} in {}, made {}",
        first_line(string(entry, "id")),
        first_line(string(entry, "cwd")),
        time(entry)
    );
    let parent = string(entry, "parentSession");
    if !parent.is_empty() {
        let _ = write!(told, ", from {}", first_line(parent));
    }
    told
}

fn message(message: &Value) -> (String, String) {
    let said = first_line(&text_of(&message["content"]));
    let is = |key: &str| message[key] == true;
    match message["role"].as_str().unwrap_or_default() {
        "assistant" => ("assistant".to_owned(), answer(message, said)),
        "toolResult" => {
            let tool = message["toolName"].as_str().unwrap_or_default();
            let failed = if is("isError") { " failed" } else { "" };
            let told = format!("{}{failed}: {said}", first_line(tool));
            ("result".to_owned(), told)
        }
        "bashExecution" => {
            let command = message["command"].as_str().unwrap_or_default();
            ("shell".to_owned(), first_line(command))
        }
        role => (first_line(role), said),
    }
}

/// The text of an answer, its calls in brackets, and how it ended if not well.
fn answer(message: &Value, said: String) -> String {
    let mut parts = Vec::from_iter(Some(said).filter(|said| !said.is_empty()));
    for block in message["content"].as_array().into_iter().flatten() {
        if block["type"] == "toolCall" {
            let name = block["name"].as_str().unwrap_or_default();
            let call = format!("{name} {}", block["arguments"]);
            parts.push(format!("[{}]", first_line(&call)));
        }
    }
    match message["stopReason"].as_str() {
        Some(reason @ ("error" | "aborted")) => {
            let error = message["errorMessage"].as_str().unwrap_or_default();
            parts.push(format!("({reason}: {})", first_line(error)));
        }
        Some("length") => parts.push("(cut by its limit of length)".to_owned()),
        _ => {}
    }
    parts.join(" ")
}
