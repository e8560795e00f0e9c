//! What the clients read: the lines of runs, every example of the schema, and lines of a later
//! version; and what they have to make of it.

use crate::codegen::bundle::{self, Mode};
use crate::schema;
use serde_json::{Map, Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// A key that no version has.
pub(crate) const LATER: &str = "hologram";

/// The input for the clients of one bundle.
pub(crate) struct Sample {
    /// One line of a stream each.
    pub(crate) lines: Vec<Value>,
    /// How many of them come from a run.
    pub(crate) ran: usize,
    document: Value,
}

impl Sample {
    /// The sample of a wire, or of `session`.
    pub(crate) fn of(name: &str) -> Self {
        let document = bundle::document(&schema(), name, Mode::Open).unwrap();
        let mut lines = run(name);
        let ran = lines.len();
        let mut sample = Self {
            lines: Vec::new(),
            ran,
            document,
        };
        lines.extend(sample.examples(name));
        let later: Vec<Value> = lines[ran..].iter().map(grown).collect();
        lines.extend(later);
        lines.extend(sample.unknown(name));
        sample.lines = lines;
        sample
    }

    /// The lines as the bytes of a stream.
    pub(crate) fn text(&self) -> String {
        let lines = self.lines.iter().map(|line| format!("{line}\n"));
        lines.collect()
    }

    /// The discriminator's values of a union and the defs they stand for.
    fn members(&self, union: &Value) -> Vec<(String, &Value)> {
        let tag = union["discriminator"]["propertyName"].as_str().unwrap();
        let mut all = Vec::new();
        for member in union["oneOf"].as_array().unwrap() {
            let title = member["$ref"].as_str().unwrap().rsplit('/').next().unwrap();
            let def = &self.document["$defs"][title];
            match def["properties"][tag]["const"].as_str() {
                Some(value) => all.push((value.to_owned(), def)),
                None => {
                    for (_, def) in self.members(def) {
                        let value = def["properties"][tag]["const"].as_str().unwrap();
                        all.push((value.to_owned(), def));
                    }
                }
            }
        }
        all
    }

    fn union(&self, titles: &[&str]) -> &Value {
        let title = titles
            .iter()
            .find(|title| self.document["$defs"].get(**title).is_some());
        &self.document["$defs"][*title.unwrap()]
    }

    /// The examples of every line, and of every message and delta as part of one.
    fn examples(&self, name: &str) -> Vec<Value> {
        let examples = |members: Vec<(String, &Value)>| -> Vec<Value> {
            let all = members
                .into_iter()
                .flat_map(|(_, def)| def["examples"].as_array().unwrap().clone());
            all.collect()
        };
        let mut lines = examples(self.members(&self.document));
        for message in examples(self.members(self.union(&["AgentMessage"]))) {
            lines.push(self.message(name, message));
        }
        if name != "session" {
            let deltas = self.union(&["AssistantMessageEvent", "DrebAssistantMessageEvent"]);
            for delta in examples(self.members(deltas)) {
                lines.push(self.update(delta));
            }
        }
        lines
    }

    fn example(&self, kind: &str) -> Value {
        let members = self.members(&self.document);
        let (_, def) = members.iter().find(|(value, _)| value == kind).unwrap();
        def["examples"][0].clone()
    }

    fn message(&self, name: &str, message: Value) -> Value {
        let mut line = self.example(if name == "session" {
            "message"
        } else {
            "message_end"
        });
        line["message"] = message;
        line
    }

    fn update(&self, delta: Value) -> Value {
        let mut line = self.example("message_update");
        line["assistantMessageEvent"] = delta;
        line
    }

    /// Members of unions and values of strings that a later version may add.
    fn unknown(&self, name: &str) -> Vec<Value> {
        let members = self.members(self.union(&["AgentMessage"]));
        let (_, assistant) = members
            .iter()
            .find(|(role, _)| role == "assistant")
            .unwrap();
        let mut assistant = assistant["examples"][0].clone();
        assistant["stopReason"] = json!("dreaming");
        let block = json!({ "type": LATER, "depth": { "b": 1, "a": [2] } });
        assistant["content"].as_array_mut().unwrap().push(block);
        let mut lines = vec![
            json!({ "type": LATER, "depth": { "b": 1, "a": 2 } }),
            json!({ "kind": "turn_start" }),
            json!({ "type": 7 }),
            self.message(name, assistant),
            self.message(name, json!({ "role": LATER, "content": 3 })),
        ];
        if name != "session" {
            lines.push(self.update(json!({ "type": LATER, "contentIndex": "none" })));
        }
        if matches!(name, "quipu" | "senpi") {
            let kind = "summarization_retry_attempt_start";
            lines.push(json!({ "type": kind, "source": LATER, "reason": 3 }));
        }
        lines
    }

    fn knows(&self, union: &Value, value: &Value) -> bool {
        let members = self.members(union);
        members.iter().any(|(known, _)| value == known.as_str())
    }

    /// The lines that clients know.
    pub(crate) fn known(&self) -> impl Iterator<Item = &Value> {
        let lines = self.lines.iter();
        lines.filter(|line| self.knows(&self.document, &line["type"]))
    }

    /// What a client has to print.
    pub(crate) fn summary(&self) -> Value {
        let mut counts = Map::new();
        let mut deltas = Map::new();
        let mut roles = Map::new();
        let mut stop_reasons = Map::new();
        let mut sources = Map::new();
        let mut messages = Vec::new();
        let mut blocks: Vec<String> = Vec::new();
        let roles_known = self.union(&["AgentMessage"]);
        for line in self.known() {
            let kind = line["type"].as_str().unwrap();
            count(&mut counts, kind);
            let message = &line["message"];
            let assistant = message["role"] == "assistant";
            if kind == "message_start" && assistant {
                blocks.clear();
            }
            if kind == "message_update" {
                let delta = &line["assistantMessageEvent"];
                let kind = delta["type"].as_str().unwrap();
                let told = ["text_delta", "toolcall_end"].contains(&kind);
                count(&mut deltas, if told { kind } else { "?" });
                if kind == "text_delta" {
                    let index = usize::try_from(delta["contentIndex"].as_u64().unwrap()).unwrap();
                    blocks.resize(blocks.len().max(index + 1), String::new());
                    blocks[index] += delta["delta"].as_str().unwrap();
                }
            }
            if kind == "message_end" || kind == "message" {
                let known = self.knows(roles_known, &message["role"]);
                let role = message["role"].as_str().filter(|_| known);
                count(&mut roles, role.unwrap_or("?"));
                if assistant {
                    count(&mut stop_reasons, message["stopReason"].as_str().unwrap());
                }
                if assistant && kind == "message_end" {
                    messages.push(json!({ "folded": blocks.concat(), "whole": whole(message) }));
                }
            }
            if kind == "summarization_retry_attempt_start" {
                let told = line["source"] == "compaction";
                let reason = line["reason"].as_str().filter(|_| told);
                count(&mut sources, reason.unwrap_or("?"));
            }
        }
        json!({
            "counts": counts,
            "unknown": self.lines.len() - self.known().count(),
            "deltas": deltas,
            "roles": roles,
            "stopReasons": stop_reasons,
            "sources": sources,
            "messages": messages,
        })
    }
}

fn count(table: &mut Map<String, Value>, key: &str) {
    let count = table.get(key).and_then(Value::as_u64).unwrap_or_default();
    table.insert(key.to_owned(), json!(count + 1));
}

fn whole(message: &Value) -> String {
    let blocks = message["content"].as_array().unwrap().iter();
    let texts = blocks.filter(|block| block["type"] == "text");
    texts.map(|block| block["text"].as_str().unwrap()).collect()
}

/// The value with one more field in every object.
fn grown(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let fields = map.iter().map(|(key, inner)| (key.clone(), grown(inner)));
            let mut map: Map<String, Value> = fields.collect();
            map.insert(LATER.to_owned(), json!({ "depth": [1, null] }));
            map.into()
        }
        Value::Array(items) => items.iter().map(grown).collect(),
        value => value.clone(),
    }
}

/// The value without the fields that [`grown`] adds.
pub(crate) fn shrunk(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let fields = map.iter().filter(|(key, _)| *key != LATER);
            let fields = fields.map(|(key, inner)| (key.clone(), shrunk(inner)));
            fields.collect::<Map<_, _>>().into()
        }
        Value::Array(items) => items.iter().map(shrunk).collect(),
        value => value.clone(),
    }
}

/// The lines of a run of the program with the offline model.
fn run(name: &str) -> Vec<Value> {
    let world = tempfile::tempdir().unwrap();
    let sessions = world.path().join("sessions");
    let session = name == "session";
    let run = Command::new(env!("CARGO_BIN_EXE_quipu"))
        .args(["--mode", "json", "--model", "offline"])
        .args(["--wire", if session { "quipu" } else { name }])
        .arg("--session-dir")
        .arg(&sessions)
        .arg("List the files here")
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", world.path())
        .env("QUIPU_HOME", world.path())
        .current_dir(world.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(run.status.success(), "{run:?}");
    let text = if session {
        only_file(&sessions)
    } else {
        String::from_utf8(run.stdout).unwrap()
    };
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn only_file(folder: &Path) -> String {
    let mut files = fs::read_dir(folder).unwrap();
    let text = fs::read_to_string(files.next().unwrap().unwrap().path()).unwrap();
    assert!(files.next().is_none());
    text
}
