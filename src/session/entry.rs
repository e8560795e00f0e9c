//! Entries as they are read, also those of other programs.
//!
//! What Quipu writes reads at once. Other programs store fields, blocks and values that its types do
//! not have; what of such an entry a model can be given is kept, the rest is left out of what is
//! read, never of the file.

use std::time::UNIX_EPOCH;

use serde_json::{Map, Value, json};

use super::lines::readable;
use crate::event::{ASSISTANT_CONTENT_TYPES, INPUT_CONTENT_TYPES, SessionEntry, StopReason};

/// The greatest whole number that every reader of JSON takes for what it is.
const MOST: f64 = 9_007_199_254_740_991.0;

/// An entry and what was left out of it.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) entry: SessionEntry,
    /// Kinds of blocks that no model here can be given.
    pub(super) left_out: Vec<String>,
}

/// Reads an entry.
///
/// # Errors
/// Why it cannot be read: a kind or a role that is not known, or a field that it cannot be without.
pub(super) fn read(text: &[u8]) -> Result<Read, String> {
    let mut left_out = Vec::new();
    if let Ok(entry) = serde_json::from_slice(text) {
        return Ok(Read { entry, left_out });
    }
    let text = readable(text);
    let mut fields: Map<String, Value> =
        serde_json::from_str(&text).map_err(|error| error.to_string())?;
    soften(&mut fields, &mut left_out);
    let entry = serde_json::from_value(Value::Object(fields)).map_err(|e| e.to_string())?;
    Ok(Read { entry, left_out })
}

/// A time of an entry in ms since the Unix epoch; 0 if it is none.
pub(super) fn milliseconds(timestamp: &str) -> u64 {
    humantime::parse_rfc3339_weak(timestamp)
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
        .and_then(|since| u64::try_from(since.as_millis()).ok())
        .unwrap_or_default()
}

fn soften(entry: &mut Map<String, Value>, left_out: &mut Vec<String>) {
    let parent = entry.get("parentId").cloned().unwrap_or_default();
    drop_nulls(entry);
    entry.insert("parentId".into(), parent);
    set_default(entry, "timestamp", "1970-01-01T00:00:00.000Z");
    let stored = match entry.get("timestamp") {
        Some(Value::String(time)) => milliseconds(time),
        _ => 0,
    };
    match entry.get("type").and_then(Value::as_str) {
        Some("message") => {
            if let Some(Value::Object(message)) = entry.get_mut("message") {
                soften_message(message, stored, left_out);
            }
        }
        Some("custom_message") => {
            set_default(entry, "display", true);
            retain_blocks(entry, INPUT_CONTENT_TYPES, left_out);
        }
        Some("compaction" | "branch_summary") => {
            set_default(entry, "firstKeptEntryId", "");
            set_default(entry, "fromId", "root");
            integer(entry, "tokensBefore");
            if entry.contains_key("usage") {
                soften_usage(entry);
            }
            retain_typed(entry, &["fromHook"], Value::is_boolean);
        }
        Some("session_info") => set_default(entry, "name", ""),
        Some("model_change") => {
            retain_typed(entry, &["reason"], |reason| {
                serde_json::from_value::<crate::event::ModelChangeReason>(reason.clone()).is_ok()
            });
        }
        _ => {}
    }
}

fn soften_message(message: &mut Map<String, Value>, stored: u64, left_out: &mut Vec<String>) {
    drop_nulls(message);
    set_default(message, "timestamp", stored);
    if !message["timestamp"].is_number() {
        message.insert("timestamp".into(), stored.into());
    }
    integer(message, "timestamp");
    match message.get("role").and_then(Value::as_str) {
        Some("user") => retain_blocks(message, INPUT_CONTENT_TYPES, left_out),
        Some("custom") => {
            set_default(message, "display", true);
            retain_blocks(message, INPUT_CONTENT_TYPES, left_out);
        }
        Some("toolResult") => {
            set_default(message, "isError", false);
            blocks_of_text(message);
            retain_blocks(message, INPUT_CONTENT_TYPES, left_out);
        }
        Some("assistant") => {
            blocks_of_text(message);
            retain_blocks(message, ASSISTANT_CONTENT_TYPES, left_out);
            soften_usage(message);
            retain_typed(message, &["stopReason"], |reason| {
                serde_json::from_value::<StopReason>(reason.clone()).is_ok()
            });
            // Why an answer ended matters only if it failed, and those reasons are known.
            set_default(message, "stopReason", StopReason::Stop.as_str());
            retain_typed(message, &["durationMs"], Value::is_number);
            let texts = ["responseId", "responseModel", "errorMessage"];
            retain_typed(message, &texts, Value::is_string);
        }
        Some("bashExecution") => {
            set_default(message, "cancelled", false);
            set_default(message, "truncated", false);
        }
        Some("compactionSummary") => integer(message, "tokensBefore"),
        _ => {}
    }
}

/// Keeps the blocks of these kinds and in them the fields that can be typed.
fn retain_blocks(owner: &mut Map<String, Value>, kinds: &[&str], left_out: &mut Vec<String>) {
    let Some(Value::Array(blocks)) = owner.get_mut("content") else {
        return;
    };
    blocks.retain_mut(|block| {
        let kind = block.get("type").and_then(Value::as_str).unwrap_or("?");
        if !kinds.contains(&kind) {
            left_out.push(kind.to_owned());
            return false;
        }
        if let Value::Object(block) = block {
            soften_block(block);
        }
        true
    });
}

fn soften_block(block: &mut Map<String, Value>) {
    drop_nulls(block);
    let texts = [
        "textSignature",
        "thinkingSignature",
        "thoughtSignature",
        "errorMessage",
    ];
    retain_typed(block, &texts, Value::is_string);
    let flags = ["redacted", "incomplete"];
    retain_typed(block, &flags, |flag| *flag == Value::Bool(true));
    if block.get("type").is_some_and(|kind| kind == "toolCall") {
        retain_typed(block, &["arguments"], Value::is_object);
        set_default(block, "arguments", json!({}));
    }
}

/// A string in place of blocks, as some programs have it.
fn blocks_of_text(message: &mut Map<String, Value>) {
    let content = match message.remove("content") {
        Some(Value::String(text)) => json!([{ "type": "text", "text": text }]),
        Some(content) => content,
        None => json!([]),
    };
    message.insert("content".into(), content);
}

fn soften_usage(owner: &mut Map<String, Value>) {
    let mut usage = match owner.remove("usage") {
        Some(Value::Object(usage)) => usage,
        _ => Map::new(),
    };
    for part in ["input", "output", "cacheRead", "cacheWrite"] {
        integer(&mut usage, part);
    }
    if !usage.contains_key("totalTokens") {
        let parts = usage.values().filter_map(Value::as_u64);
        let total = parts.fold(0, u64::saturating_add);
        usage.insert("totalTokens".into(), total.into());
    }
    for part in ["totalTokens", "cacheWrite1h", "reasoning"] {
        if usage.contains_key(part) {
            integer(&mut usage, part);
        }
    }
    let mut cost = match usage.remove("cost") {
        Some(Value::Object(cost)) => cost,
        _ => Map::new(),
    };
    for part in ["input", "output", "cacheRead", "cacheWrite", "total"] {
        retain_typed(&mut cost, &[part], Value::is_number);
        set_default(&mut cost, part, 0);
    }
    usage.insert("cost".into(), cost.into());
    owner.insert("usage".into(), usage.into());
}

fn drop_nulls(fields: &mut Map<String, Value>) {
    fields.retain(|key, value| !value.is_null() || matches!(key.as_str(), "data" | "details"));
}

fn set_default(fields: &mut Map<String, Value>, key: &str, value: impl Into<Value>) {
    if !fields.contains_key(key) {
        fields.insert(key.to_owned(), value.into());
    }
}

fn retain_typed(fields: &mut Map<String, Value>, keys: &[&str], fits: impl Fn(&Value) -> bool) {
    for key in keys {
        if fields.get(*key).is_some_and(|value| !fits(value)) {
            fields.shift_remove(*key);
        }
    }
}

/// Makes a field a whole number that is not negative.
fn integer(fields: &mut Map<String, Value>, key: &str) {
    let number = fields.get(key).unwrap_or(&Value::Null);
    if number.is_u64() {
        return;
    }
    let number = number.as_f64().unwrap_or_default().clamp(0.0, MOST);
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count that every reader can hold"
    )]
    fields.insert(key.to_owned(), (number as u64).into());
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::event::AgentMessage;

    fn message(message: &Value) -> Result<(AgentMessage, Vec<String>), String> {
        let entry = json!({
            "type": "message", "id": "1", "parentId": null, "timestamp": "2026-01-01T00:00:00.000Z",
            "message": message,
        });
        match read(entry.to_string().as_bytes())? {
            Read {
                entry: SessionEntry::Message(entry),
                left_out,
            } => Ok((entry.message, left_out)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_answer_of_another_program_is_read_as_far_as_it_goes() {
        let (found, left_out) = message(&json!({
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "redacted": false, "startedAt": 1.5},
                {"type": "providerNative", "subtype": "search", "raw": {}},
                {"type": "text", "text": "Hi", "textSignature": null},
                {"type": "toolCall", "id": "c", "name": "bash", "arguments": null, "namespace": "n"},
            ],
            "api": "pi-messages", "provider": "p", "model": "m",
            "usage": {"input": 3.0, "output": 4, "cacheRead": 0, "cost": {"total": 0.5}},
            "stopReason": "deferred", "rawStopReason": "x", "durationMs": null,
        }))
        .unwrap();
        let expected: AgentMessage = serde_json::from_value(json!({
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "Hi"},
                {"type": "toolCall", "id": "c", "name": "bash", "arguments": {}},
            ],
            "api": "pi-messages", "provider": "p", "model": "m",
            "usage": {
                "input": 3, "output": 4, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 7,
                "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0.5},
            },
            "stopReason": "stop", "timestamp": 1_767_225_600_000_u64,
        }))
        .unwrap();
        assert_eq!(found, expected);
        assert_eq!(left_out, ["providerNative"]);
    }

    #[test]
    fn halves_of_characters_do_not_cost_the_message() {
        let line = br#"{"type":"message","id":"1","parentId":null,"timestamp":"","message":{"role":"user","content":"a\ud83d","timestamp":1}}"#;
        let Ok(Read {
            entry: SessionEntry::Message(entry),
            ..
        }) = read(line)
        else {
            panic!()
        };
        let expected = json!({"role": "user", "content": "a\u{fffd}", "timestamp": 1});
        assert_eq!(serde_json::to_value(&entry.message).unwrap(), expected);
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        for (value, why) in [
            (
                json!({"role": "system", "content": "x", "timestamp": 1}),
                "system",
            ),
            (json!({"role": "user", "timestamp": 1}), "content"),
        ] {
            let error = message(&value).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
        assert!(read(b"{").is_err());
    }

    #[test]
    fn results_and_summaries_are_completed() {
        let (found, _) = message(&json!({
            "role": "toolResult", "toolCallId": "c", "toolName": "t", "content": "ok", "details": null,
        }))
        .unwrap();
        let AgentMessage::ToolResult(found) = found else {
            panic!("{found:?}")
        };
        assert!(!found.is_error && found.content.len() == 1, "{found:?}");
        let line = json!({"type": "compaction", "id": "1", "summary": "s", "usage": null});
        let Ok(Read {
            entry: SessionEntry::Compaction(entry),
            ..
        }) = read(line.to_string().as_bytes())
        else {
            panic!()
        };
        assert_eq!(
            (entry.first_kept_entry_id.as_str(), entry.tokens_before),
            ("", 0)
        );
    }

    #[test]
    fn times_are_milliseconds() {
        assert_eq!(milliseconds("2026-01-01T00:00:00.250Z"), 1_767_225_600_250);
        for none in ["", "yesterday", "1969-01-01T00:00:00Z"] {
            assert_eq!(milliseconds(none), 0, "{none}");
        }
    }
}
