//! A sound schema folder of few files, and ways to break it.

use crate::codegen;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// A small schema folder that uses the whole vocabulary, to be broken in one place.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn sound() -> Self {
        let folder = Self(TempDir::new().unwrap());
        folder.text("VERSION", "1.2.0\n");
        folder.json(
            "wire/main.json",
            &json!({
                "title": "MainEvent",
                "description": "A line.",
                "x-stamp": { "$ref": "../common/stamp.json" },
                "oneOf": [
                    { "$ref": "../session/header.json" },
                    { "$ref": "../event/ping.json" },
                    { "$ref": "../event/note_text.json" },
                    { "$ref": "../event/note_level.json" },
                    { "$ref": "../event/late.json" }
                ],
                "examples": [{ "type": "ping" }]
            }),
        );
        folder.json(
            "session/header.json",
            &object(
                "Header",
                "session",
                &json!({
                    "version": { "type": "integer", "const": 3, "description": "Always 3." },
                    "at": { "type": "number", "description": "Seconds." },
                }),
                &["version"],
                &json!([{ "type": "session", "version": 3 }]),
            ),
        );
        let mut header = folder.read("session/header.json");
        header["properties"].as_object_mut().unwrap().remove("at");
        folder.json("session/header.json", &header);
        folder.json("event/ping.json", &object("PingEvent", "ping", &json!({
            "level": { "$ref": "../common/level.json", "description": "How loud. Absent at first." },
            "count": { "type": "integer", "minimum": 0, "description": "Pings so far." },
            "extra": { "description": "Anything." },
            "open": { "type": "object", "additionalProperties": true, "description": "A map." },
            "says": { "$ref": "../block/says.json", "description": "What is said." },
        }), &[], &json!([{ "type": "ping" }, { "type": "ping", "level": "low", "says": ["a"] }])));
        folder.json(
            "event/note_text.json",
            &object(
                "NoteTextEvent",
                "note",
                &json!({
                    "source": { "type": "string", "const": "text", "description": "From a text." },
                }),
                &["source"],
                &json!([{ "type": "note", "source": "text" }]),
            ),
        );
        folder.json("event/note_level.json", &object("NoteLevelEvent", "note", &json!({
            "source": { "type": "string", "const": "level", "description": "From a level." },
            "level": {
                "oneOf": [{ "$ref": "../common/level.json" }, { "type": "null" }],
                "description": "The level; null if unknown."
            },
        }), &["source", "level"], &json!([{ "type": "note", "source": "level", "level": null }])));
        let mut late = object(
            "LateEvent",
            "late",
            &json!({}),
            &[],
            &json!([{ "type": "late" }]),
        );
        late["readOnly"] = true.into();
        folder.json("event/late.json", &late);
        folder.json(
            "common/level.json",
            &json!({
                "title": "Level",
                "description": "How loud.",
                "type": "string",
                "enum": ["low", "high"],
                "examples": ["low"]
            }),
        );
        folder.json("common/stamp.json", &json!({
            "title": "Stamp",
            "description": "Fields of every line.",
            "type": "object",
            "properties": { "seq": { "type": "integer", "minimum": 0, "description": "Number." } },
            "required": ["seq"],
            "examples": [{ "seq": 0 }]
        }));
        folder.json(
            "block/says.json",
            &json!({
                "title": "Says",
                "description": "A text or several.",
                "oneOf": [
                    { "type": "string", "description": "One text." },
                    { "type": "array", "items": { "type": "string" }, "description": "Several." }
                ],
                "examples": ["a"]
            }),
        );
        folder
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.path().join("schema")
    }

    pub(crate) fn text(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Writes a schema file, with `$schema` and `$id` unless it has its own.
    pub(crate) fn json(&self, path: &str, json: &Value) {
        let mut file = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": format!("https://example.org/v1/{path}"),
        });
        for (key, value) in json.as_object().unwrap() {
            file[key] = value.clone();
        }
        self.text(path, &serde_json::to_string_pretty(&file).unwrap());
    }

    pub(crate) fn read(&self, path: &str) -> Value {
        serde_json::from_str(&fs::read_to_string(self.path().join(path)).unwrap()).unwrap()
    }

    /// What reading the folder reports, with the folder's place in the file system left out.
    pub(crate) fn problems(&self) -> Vec<String> {
        let prefix = format!("{}/", self.0.path().display());
        let problems = codegen::read(&self.path()).err().unwrap_or_default();
        problems
            .iter()
            .map(|problem| problem.to_string().replace(&prefix, ""))
            .collect()
    }
}

fn object(title: &str, tag: &str, fields: &Value, required: &[&str], examples: &Value) -> Value {
    let mut properties = json!({
        "type": { "type": "string", "const": tag, "description": "Kind of line." }
    });
    for (name, field) in fields.as_object().unwrap() {
        properties[name] = field.clone();
    }
    let required: Vec<&str> = ["type"].iter().chain(required).copied().collect();
    json!({
        "title": title,
        "description": "It happened.",
        "type": "object",
        "properties": properties,
        "required": required,
        "examples": examples
    })
}

/// Changes one file of a sound folder and compares everything that is then reported.
pub(crate) fn fault(path: &str, change: impl FnOnce(&mut Value), expected: &[&str]) {
    let folder = Folder::sound();
    let mut file = folder.read(path);
    let before = file.to_string();
    change(&mut file);
    assert_ne!(file.to_string(), before, "the test changes nothing");
    folder.text(path, &file.to_string());
    pretty_assertions::assert_eq!(folder.problems(), expected);
}

pub(crate) fn remove(object: &mut Value, key: &str) {
    object.as_object_mut().unwrap().shift_remove(key);
}

/// Writes `object` with `key` last.
pub(crate) fn last(object: &mut Value, key: &str) {
    let value = object.as_object_mut().unwrap().shift_remove(key).unwrap();
    object[key] = value;
}
