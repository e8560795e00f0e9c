//! The judge of the dreb and senpi wires.
//!
//! Every native stream of the suite is projected to both and judged, so that whatever a test makes
//! the program write is also shown to be sound there.

use quipu::contract::lines::Lines;
use quipu::convert::Converter;
use quipu::event::QuipuEvent;
use quipu::wire::{Projection, Wire};
use serde_json::{Value, json};

use crate::check::{self, kind, text_at};
use crate::{fold, grammar, schema, verify};

/// The wires that are not native.
pub(crate) const OTHERS: [Wire; 2] = [Wire::Senpi, Wire::Dreb];

/// The bytes of a native stream on another wire.
pub(crate) fn project(wire: Wire, lines: &[Value]) -> Vec<u8> {
    let mut projection = Projection::new(wire);
    let mut bytes = Vec::new();
    for line in lines {
        let event: QuipuEvent = serde_json::from_value(line.clone()).unwrap();
        projection.project(event, |line| line.append_to(&mut bytes).unwrap());
    }
    bytes
}

/// How a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    ByItself,
    BySignal,
}

/// All that is wrong with a whole stream of another wire.
pub(crate) fn check(wire: Wire, bytes: &[u8], ended: Ended) -> Result<Vec<Value>, Vec<String>> {
    let text = check::split(bytes)?;
    let (lines, mut findings) = check::parse(&text);
    if lines.len() == text.len() {
        let grammar = grammar::of(wire.name());
        findings.extend(schema::findings_on(wire.name(), &lines));
        findings.extend(match (wire, ended) {
            (Wire::Dreb, Ended::BySignal) => grammar.findings_interrupted(&lines),
            _ => grammar.findings_complete(&lines),
        });
        if wire == Wire::Dreb {
            findings.extend(snapshots(&lines));
            for (id, streams) in check::children(&lines) {
                let own = streams.iter().flat_map(|stream| snapshots(stream));
                findings.extend(own.map(|what| format!("agent {id}: {what}")));
            }
            findings.extend(fold::findings(&delta_only(&lines)));
        } else {
            findings.extend(fold::findings(&lines));
        }
        findings.extend(verify::errors(wire, bytes));
    }
    if findings.is_empty() {
        Ok(lines)
    } else {
        Err(findings)
    }
}

/// Projects a native stream to the other wires and judges them.
#[track_caller]
pub(crate) fn assert_projections(lines: &[Value], size: usize) {
    // A snapshot on every line makes a long stream a thousand times as long.
    if size > 200_000 {
        return;
    }
    let end = lines.last().unwrap();
    let ended = match text_at(end, "/outcome") {
        "interrupted" => Ended::BySignal,
        _ => Ended::ByItself,
    };
    for wire in OTHERS {
        let bytes = project(wire, lines);
        if let Err(findings) = check(wire, &bytes, ended) {
            panic!(
                "on the {} wire:\n{}\n\n{}",
                wire.name(),
                findings.join("\n"),
                String::from_utf8_lossy(&bytes)
            );
        }
        assert_way_back(wire, &bytes);
    }
}

/// Lifts a stream of another wire to the native one, which has to be sound, and projects it again,
/// which has to give the same bytes.
#[track_caller]
fn assert_way_back(wire: Wire, bytes: &[u8]) {
    let native = converted(wire, Wire::Quipu, bytes);
    let findings = verify::errors(Wire::Quipu, &native);
    if !findings.is_empty() {
        panic!(
            "from the {} wire:\n{}\n\n{}",
            wire.name(),
            findings.join("\n"),
            String::from_utf8_lossy(&native)
        );
    }
    let again = converted(Wire::Quipu, wire, &native);
    let lines = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    for (line, other) in lines(&again).lines().zip(lines(bytes).lines()) {
        assert_eq!(line, other, "to the {} wire and back", wire.name());
    }
    assert_eq!(
        again.len(),
        bytes.len(),
        "to the {} wire and back",
        wire.name()
    );
}

/// What `quipu convert` makes of a recording.
fn converted(from: Wire, to: Wire, bytes: &[u8]) -> Vec<u8> {
    let mut converter = Converter::new(from, to);
    let mut lines = Lines::new(bytes);
    let mut out = Vec::new();
    while let Some(frame) = lines.next_line().unwrap() {
        converter.line(&frame, &mut out).unwrap();
    }
    converter.finish(&mut out);
    out
}

/// The rule that each update shows the whole message so far, twice. What the blocks say in the end
/// is the business of the fold.
pub(crate) fn snapshots(lines: &[Value]) -> Vec<String> {
    let mut findings = Vec::new();
    let mut start = Value::Null;
    let mut blocks: Vec<Value> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let mut wrong =
            |what: &str| findings.push(format!("line {}: snapshots: {what}", index + 1));
        match kind(line) {
            "message_start" => {
                start = line["message"].clone();
                blocks.clear();
                if start["role"] == "assistant"
                    && start.get("errorMessage").is_none()
                    && (start["content"] != json!([]) || start["stopReason"] != "stop")
                {
                    wrong("a fresh message has content or another stopReason than stop");
                }
            }
            "message_update" => {
                let delta = &line["assistantMessageEvent"];
                let message = &line["message"];
                if delta["partial"] != *message {
                    wrong("partial and message differ");
                }
                grow(&mut blocks, delta, &message["content"]);
                if message["content"] != json!(blocks) {
                    wrong(&format!("{} is not {}", message["content"], json!(blocks)));
                }
                let mut bare = message.clone();
                bare["content"] = json!([]);
                bare["usage"] = start["usage"].clone();
                if bare != start {
                    wrong("the message is not the one that started");
                }
            }
            _ => {}
        }
    }
    findings
}

/// Applies a delta. The arguments of a call that is still open, and the mark of a withheld text,
/// are taken from what is shown: the fold and the message's end hold them against the deltas.
fn grow(blocks: &mut Vec<Value>, delta: &Value, shown: &Value) {
    let index = usize::try_from(delta["contentIndex"].as_u64().unwrap()).unwrap();
    let shown = &shown[index];
    match kind(delta) {
        "text_start" => blocks.push(json!({ "type": "text", "text": "" })),
        "thinking_start" => blocks.push(json!({ "type": "thinking", "thinking": "" })),
        "toolcall_start" => blocks.push(json!({
            "type": "toolCall", "id": shown["id"], "name": shown["name"], "arguments": {},
        })),
        // A block that never began is the business of the grammar.
        kind if !kind.ends_with("_start") && index >= blocks.len() => {}
        "text_delta" | "thinking_delta" => {
            let name = text_at(&blocks[index], "/type").to_owned();
            let text = text_at(&blocks[index], &format!("/{name}")).to_owned();
            blocks[index][&name] = (text + text_at(delta, "/delta")).into();
        }
        "toolcall_delta" if shown["arguments"].is_object() => {
            blocks[index]["arguments"] = shown["arguments"].clone();
        }
        "text_end" => blocks[index]["text"] = delta["content"].clone(),
        "thinking_end" => {
            blocks[index]["thinking"] = delta["content"].clone();
            if shown["redacted"] == true {
                blocks[index]["redacted"] = true.into();
            }
        }
        "toolcall_end" => blocks[index] = delta["toolCall"].clone(),
        _ => {}
    }
}

/// A dreb stream with updates like those of the other wires, for the fold that judges them all.
pub(crate) fn delta_only(lines: &[Value]) -> Vec<Value> {
    let mut lines = lines.to_vec();
    for line in &mut lines {
        if kind(line) == "message_start" && line["message"].get("errorMessage").is_none() {
            if line["message"]["role"] == "assistant" {
                line["message"]["stopReason"] = "pending".into();
            }
        } else if kind(line) == "message_update" {
            let message = line["message"].clone();
            line["usage"] = message["usage"].clone();
            let delta = &mut line["assistantMessageEvent"];
            let index = usize::try_from(delta["contentIndex"].as_u64().unwrap()).unwrap();
            if kind(delta) == "toolcall_start" {
                delta["id"] = message["content"][index]["id"].clone();
                delta["toolName"] = message["content"][index]["name"].clone();
            }
            if matches!(kind(delta), "toolcall_start" | "toolcall_end") {
                line["resolvedToolName"] = "?".into();
            }
        }
    }
    lines
}
