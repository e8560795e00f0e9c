//! Each authoring mistake: reported with file, place and remedy, alone, and before typify sees it.

use crate::codegen;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A small schema folder that uses the whole vocabulary, to be broken in one place.
struct Folder(TempDir);

impl Folder {
    fn sound() -> Self {
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

    fn path(&self) -> PathBuf {
        self.0.path().join("schema")
    }

    fn text(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Writes a schema file, with `$schema` and `$id` unless it has its own.
    fn json(&self, path: &str, json: &Value) {
        let mut file = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": format!("https://example.org/v1/{path}"),
        });
        for (key, value) in json.as_object().unwrap() {
            file[key] = value.clone();
        }
        self.text(path, &serde_json::to_string_pretty(&file).unwrap());
    }

    fn read(&self, path: &str) -> Value {
        serde_json::from_str(&fs::read_to_string(self.path().join(path)).unwrap()).unwrap()
    }

    /// What reading the folder reports, with the folder's place in the file system left out.
    fn problems(&self) -> Vec<String> {
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
fn fault(path: &str, change: impl FnOnce(&mut Value), expected: &[&str]) {
    let folder = Folder::sound();
    let mut file = folder.read(path);
    let before = file.to_string();
    change(&mut file);
    assert_ne!(file.to_string(), before, "the test changes nothing");
    folder.text(path, &file.to_string());
    pretty_assertions::assert_eq!(folder.problems(), expected);
}

fn remove(object: &mut Value, key: &str) {
    object.as_object_mut().unwrap().shift_remove(key);
}

/// Writes `object` with `key` last.
fn last(object: &mut Value, key: &str) {
    let value = object.as_object_mut().unwrap().shift_remove(key).unwrap();
    object[key] = value;
}

#[test]
fn a_sound_folder_has_no_problem() {
    assert_eq!(Folder::sound().problems(), Vec::<String>::new());
    let real = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema");
    assert_eq!(codegen::read(&real).err(), None);
}

#[test]
fn unknown_keyword() {
    fault(
        "event/ping.json",
        |file| file["properties"]["count"]["maximum"] = 9.into(),
        &[
            "schema/event/ping.json: /properties/count/maximum: keyword `maximum` is not in the \
           vocabulary here; leave it out and say it in the description",
        ],
    );
    fault(
        "event/ping.json",
        |file| file["additionalProperties"] = false.into(),
        &[
            "schema/event/ping.json: /additionalProperties: keyword `additionalProperties` is not in \
           the vocabulary here; leave it out, the strict bundle closes the object itself",
        ],
    );
    fault(
        "event/ping.json",
        |file| file["properties"]["count"]["x/y"] = 9.into(),
        &[
            "schema/event/ping.json: /properties/count/x~1y: keyword `x/y` is not in the vocabulary \
           here; leave it out and say it in the description",
        ],
    );
}

#[test]
fn dangling_reference() {
    fault(
        "event/ping.json",
        |file| file["properties"]["level"]["$ref"] = "../commn/level.json".into(),
        &[
            "schema/event/ping.json: /properties/level/$ref: there is no file `../commn/level.json`; \
           did you mean ../common/level.json?",
        ],
    );
    fault(
        "wire/main.json",
        |file| file["oneOf"][1]["$ref"] = "../event/pong.json".into(),
        &[
            "schema/wire/main.json: /oneOf/1/$ref: there is no file `../event/pong.json`; write the \
           path of an existing file, relative to this one",
        ],
    );
    fault(
        "event/ping.json",
        |file| file["properties"]["level"]["$ref"] = "#/$defs/Level".into(),
        &[
            "schema/event/ping.json: /properties/level/$ref: `#/$defs/Level` is not a relative path \
           of a file; write the path of a whole file, such as ../common/usage.json",
        ],
    );
}

#[test]
fn duplicate_title() {
    fault(
        "event/ping.json",
        |file| file["title"] = "Level".into(),
        &[
            "schema/event/ping.json: /title: `Level` is already the title of \
           schema/common/level.json; write a title of its own",
        ],
    );
}

#[test]
fn example_that_does_not_validate() {
    let file = "schema/event/ping.json";
    let report = |place: &str, what: &str| {
        format!(
            "{file}: {place}: the example does not validate: {what}; correct the example or the field"
        )
    };
    fault(
        "event/ping.json",
        |file| file["examples"][1]["level"] = "loud".into(),
        &[&report(
            "/examples/1/level",
            "\"loud\" is not one of \"low\", \"high\"",
        )],
    );
    fault(
        "event/ping.json",
        |file| file["examples"][0]["countt"] = 1.into(),
        &[&report("/examples/0/countt", "there is no such field")],
    );
    fault(
        "event/ping.json",
        |file| file["examples"][0]["count"] = json!(-1),
        &[&report("/examples/0/count", "-1 is less than 0")],
    );
    fault(
        "event/ping.json",
        |file| file["examples"][0] = json!({}),
        &[&report(
            "/examples/0",
            "the required field \"type\" is missing",
        )],
    );
    fault(
        "event/ping.json",
        |file| file["examples"][1]["says"] = json!(["a", 1]),
        &[&report(
            "/examples/1/says/1",
            "expected string, found number",
        )],
    );
    fault(
        "wire/main.json",
        |file| file["examples"][0]["type"] = "pong".into(),
        &[
            "schema/wire/main.json: /examples/0/type: the example does not validate: \"pong\" is not \
           a known type; correct the example or the field",
        ],
    );
    // A read-only member is never written, so no example of the union shows it.
    fault(
        "wire/main.json",
        |file| file["examples"][0]["type"] = "late".into(),
        &[
            "schema/wire/main.json: /examples/0/type: the example does not validate: \"late\" is not \
           a known type; correct the example or the field",
        ],
    );
}

#[test]
fn missing_description() {
    fault(
        "event/ping.json",
        |file| remove(file, "description"),
        &[
            "schema/event/ping.json: /description: is missing; say what it is, or when it is written",
        ],
    );
    fault(
        "event/ping.json",
        |file| file["properties"]["count"]["description"] = " ".into(),
        &[
            "schema/event/ping.json: /properties/count/description: is missing; say what the field \
           holds, its unit, and when it is absent",
        ],
    );
}

#[test]
fn missing_examples() {
    fault(
        "event/ping.json",
        |file| file["examples"] = json!([]),
        &[
            "schema/event/ping.json: /examples: is missing; write an array of one to three instances",
        ],
    );
}

#[test]
fn two_members_with_the_same_discriminator() {
    let problem = "schema/wire/main.json: /oneOf/3/$ref: event/note_text.json and \
                   event/note_level.json both have `type` \"note\"; give them different values, or \
                   one more required const string whose values differ";
    fault(
        "event/note_level.json",
        |file| {
            file["properties"]["source"]["const"] = "text".into();
            file["examples"][0]["source"] = "text".into();
        },
        &[problem],
    );
    fault(
        "event/note_level.json",
        |file| {
            remove(&mut file["properties"]["source"], "const");
        },
        &[problem],
    );
    fault(
        "event/note_level.json",
        |file| file["required"] = json!(["type", "level"]),
        &[problem],
    );
}

#[test]
fn forms_of_an_event_without_a_common_name() {
    fault(
        "event/note_level.json",
        |file| file["title"] = "LevelNoted".into(),
        &[
            "schema/wire/main.json: /oneOf/2/$ref: the forms of \"note\" have no name in common but \
           ``; let their titles begin or end alike, in a way that is no other title",
        ],
    );
}

#[test]
fn member_listed_twice() {
    fault(
        "wire/main.json",
        |file| file["oneOf"][4]["$ref"] = "../event/ping.json".into(),
        &["schema/wire/main.json: /oneOf/4/$ref: PingEvent is listed twice; keep one"],
    );
}

#[test]
fn discriminators_that_make_one_name() {
    fault(
        "event/late.json",
        |file| {
            file["properties"]["type"]["const"] = "Ping".to_lowercase().replace('i', "i_").into();
            file["examples"][0]["type"] = "pi_ng".into();
        },
        &[
            "schema/wire/main.json: /oneOf/4/$ref: \"ping\" and \"pi_ng\" make the same name; write a \
           value that differs in more than case and separators",
        ],
    );
}

#[test]
fn discriminator_not_first_or_not_required() {
    fault(
        "event/ping.json",
        |file| last(&mut file["properties"], "type"),
        &[
            "schema/event/ping.json: /properties/type: a member of schema/wire/main.json does not \
             begin with its discriminator; make `type` the first field: {\"type\": \"string\", \
             \"const\": …}",
            "schema/event/ping.json: /properties/type: the discriminator is not the first field; \
             move it to the top of `properties`",
        ],
    );
    fault(
        "event/ping.json",
        |file| file["required"] = json!([]),
        &[
            "schema/event/ping.json: /properties/type: a discriminator is always there; name `type` \
           in `required`",
        ],
    );
    fault(
        "event/ping.json",
        |file| {
            remove(&mut file["properties"], "type");
            file["required"] = json!([]);
            file["examples"] = json!([{}]);
        },
        &[
            "schema/event/ping.json: /properties: a member of schema/wire/main.json does not begin \
           with its discriminator; make `type` the first field: {\"type\": \"string\", \"const\": …}",
        ],
    );
}

#[test]
fn id_that_leads_elsewhere() {
    let problem = "schema/event/ping.json: /$id: does not tell where this file is; write an https \
                   URL that ends in /v1/event/ping.json";
    fault(
        "event/ping.json",
        |file| file["$id"] = "https://example.org/v1/event/pong.json".into(),
        &[problem],
    );
    fault(
        "event/ping.json",
        |file| file["$id"] = "https://example.org/v2/event/ping.json".into(),
        &[problem],
    );
    fault("event/ping.json", |file| remove(file, "$id"), &[problem]);
}

#[test]
fn another_dialect() {
    fault(
        "event/ping.json",
        |file| file["$schema"] = "http://json-schema.org/draft-07/schema#".into(),
        &[
            "schema/event/ping.json: /$schema: is missing or another dialect; write \
           \"https://json-schema.org/draft/2020-12/schema\"",
        ],
    );
}

#[test]
fn title_that_is_no_type_name() {
    fault(
        "event/ping.json",
        |file| file["title"] = "ping_event".into(),
        &["schema/event/ping.json: /title: `ping_event` is not PascalCase; write PingEvent"],
    );
    fault(
        "event/ping.json",
        |file| remove(file, "title"),
        &["schema/event/ping.json: /title: is missing; write the type's name in PascalCase"],
    );
    fault(
        "common/level.json",
        |file| file["title"] = "Option".into(),
        &[
            "schema/common/level.json: /title: `Option` is a name that the generated code needs; \
           write another name",
        ],
    );
    fault(
        "common/level.json",
        |file| file["title"] = "NoteTextEventSource".into(),
        &[
            "schema/common/level.json: /title: `NoteTextEventSource` is the type of a const field of \
           event/note_text.json; write another title",
        ],
    );
}

#[test]
fn inline_object_or_enum() {
    fault(
        "event/ping.json",
        |file| {
            file["properties"]["extra"] = json!({
                "type": "object",
                "description": "Inline.",
                "properties": { "a": { "type": "string", "description": "A." } }
            });
        },
        &[
            "schema/event/ping.json: /properties/extra/properties: keyword `properties` is not in \
           the vocabulary here; move the object to a file of its own in common/ and write `$ref`",
        ],
    );
    fault(
        "event/ping.json",
        |file| file["properties"]["extra"]["type"] = "object".into(),
        &[
            "schema/event/ping.json: /properties/extra: an inline object; move it to a file of its \
           own in common/ and write `$ref`, or write \"additionalProperties\": true for an open map",
        ],
    );
    fault(
        "event/ping.json",
        |file| file["properties"]["extra"]["enum"] = json!(["a"]),
        &[
            "schema/event/ping.json: /properties/extra/enum: keyword `enum` is not in the vocabulary \
           here; move the enum to a file of its own in common/ and write `$ref`",
        ],
    );
}

#[test]
fn enum_outside_common() {
    let folder = Folder::sound();
    let level = folder.read("common/level.json");
    fs::remove_file(folder.path().join("common/level.json")).unwrap();
    let mut moved = level;
    moved["$id"] = "https://example.org/v1/block/level.json".into();
    folder.json("block/level.json", &moved);
    for path in ["event/ping.json", "event/note_level.json"] {
        let text = folder
            .read(path)
            .to_string()
            .replace("../common/level", "../block/level");
        folder.text(path, &text);
    }
    assert_eq!(
        folder.problems(),
        ["schema/block/level.json: /enum: an enum outside common/; move the file to common/"]
    );
}

#[test]
fn enum_values_that_make_no_names() {
    fault(
        "common/level.json",
        |file| file["enum"] = json!(["low", "high", "LOW", 3, "hi_gh"]),
        &[
            "schema/common/level.json: /enum/2: `LOW` cannot become a name; begin with a small \
             letter and use letters, digits, `_` and `-`",
            "schema/common/level.json: /enum/3: is not a string; write a string",
            "schema/common/level.json: /enum/4: `hi_gh` makes the same name as a value before it; \
             write a value that differs in more than case and separators",
        ],
    );
}

#[test]
fn required_names_no_field() {
    fault(
        "event/ping.json",
        |file| file["required"] = json!(["type", "cuont", "type"]),
        &[
            "schema/event/ping.json: /required/1: \"cuont\" names no field of `properties`; write \
             the name of each required field once",
            "schema/event/ping.json: /required/2: \"type\" names a field twice; write the name of \
             each required field once",
        ],
    );
}

#[test]
fn optional_field_that_may_be_null() {
    fault(
        "event/note_level.json",
        |file| file["required"] = json!(["type", "source"]),
        &[
            "schema/event/note_level.json: /properties/level: is optional and may be null; drop the \
           null (an optional field is absent instead) or name it in `required`",
        ],
    );
    fault(
        "event/ping.json",
        |file| file["properties"]["count"]["type"] = json!(["integer", "null"]),
        &["schema/event/ping.json: /properties/count/type: is not one type; write one type's name"],
    );
}

#[test]
fn union_that_holds_more_than_references() {
    fault(
        "wire/main.json",
        |file| file["oneOf"][1] = json!({ "type": "object" }),
        &[
            "schema/wire/main.json: /oneOf/1: a union holds `$ref`s only; move the member to a file \
           of its own and write {\"$ref\": …}",
        ],
    );
    fault(
        "block/says.json",
        |file| file["oneOf"][0]["type"] = "boolean".into(),
        &[
            "schema/block/says.json: /oneOf/0: only a string and an array can be told apart without \
           a discriminator; write one string and one array, or a union of `$ref`s to objects",
        ],
    );
    fault(
        "wire/main.json",
        |file| file["oneOf"][1]["$ref"] = "../common/level.json".into(),
        &[
            "schema/wire/main.json: /oneOf/1/$ref: Level is not an object; list the objects \
           themselves",
        ],
    );
}

#[test]
fn constants_and_types_that_rust_cannot_hold() {
    fault(
        "session/header.json",
        |file| file["properties"]["version"]["const"] = json!(1.5),
        &[
            "schema/session/header.json: /properties/version/const: 1.5 cannot be a const; write a \
           plain name, true, false or a whole number",
        ],
    );
    fault(
        "session/header.json",
        |file| file["properties"]["version"]["type"] = "string".into(),
        &[
            "schema/session/header.json: /properties/version/type: does not fit the const; write \
           \"type\": \"integer\"",
        ],
    );
    fault(
        "event/ping.json",
        |file| file["properties"]["count"]["minimum"] = 1.into(),
        &[
            "schema/event/ping.json: /properties/count/minimum: only 0 becomes part of the type; \
           write 0, or leave it out and say it in the description",
        ],
    );
    fault(
        "event/ping.json",
        |file| file["properties"]["count"]["type"] = "int".into(),
        &[
            "schema/event/ping.json: /properties/count/minimum: keyword `minimum` says nothing here; \
           write \"type\": \"integer\" or leave it out",
            "schema/event/ping.json: /properties/count/type: `int` is no type of the vocabulary; \
           write string, boolean, integer, number, array or object",
        ],
    );
    fault(
        "event/ping.json",
        |file| file["properties"]["extra"] = true.into(),
        &[
            "schema/event/ping.json: /properties/extra: is not an object; write {\"description\": …} \
           for any JSON value",
        ],
    );
}

#[test]
fn field_that_makes_no_name() {
    fault(
        "event/ping.json",
        |file| file["properties"]["a-b"] = json!({ "description": "A field." }),
        &[
            "schema/event/ping.json: /properties/a-b: `a-b` cannot become a field; begin with a small \
           letter and use letters, digits and `_`",
        ],
    );
    fault(
        "event/ping.json",
        |file| file["properties"]["co_unt"] = json!({ "description": "A field." }),
        &[
            "schema/event/ping.json: /properties/co_unt: `co_unt` makes the same name as a field \
           before it; write a name that differs in more than case and separators",
        ],
    );
}

#[test]
fn stamp_that_a_member_has_already() {
    fault(
        "event/ping.json",
        |file| file["properties"]["seq"] = json!({ "description": "A field." }),
        &[
            "schema/event/ping.json: /properties/seq: `seq` is a field of common/stamp.json; leave it \
           out, or name it otherwise",
        ],
    );
}

#[test]
fn event_that_no_wire_has() {
    fault(
        "wire/main.json",
        |file| {
            file["oneOf"].as_array_mut().unwrap().remove(2);
        },
        &[
            "schema/event/note_text.json: /title: no wire leads to NoteTextEvent; name the file in a \
           union or as the type of a field, or delete it",
        ],
    );
}

#[test]
fn session_lines_that_are_no_union_of_their_own() {
    let folder = Folder::sound();
    folder.json(
        "session/entry.json",
        &object(
            "Entry",
            "entry",
            &json!({}),
            &[],
            &json!([{ "type": "entry" }]),
        ),
    );
    let mut wire = folder.read("wire/main.json");
    remove(&mut wire, "$id");
    wire["title"] = json!("OtherEvent");
    folder.json("wire/session.json", &wire);
    pretty_assertions::assert_eq!(
        folder.problems(),
        [
            "schema/session/entry.json: /oneOf: a line of a session file is a union; list the header \
             and the entries as `$ref`s",
            "schema/wire/session.json: /title: the bundle `session` is that of session/entry.json; \
             give the wire another file name",
        ]
    );
}

#[test]
fn field_of_a_read_only_type() {
    fault(
        "event/ping.json",
        |file| file["properties"]["extra"]["$ref"] = "late.json".into(),
        &[
            "schema/event/ping.json: /properties/extra: names a read-only def, which is never \
           written; name another def, or mark this file readOnly too",
        ],
    );
}

#[test]
fn file_without_a_shape() {
    fault(
        "common/level.json",
        |file| remove(file, "enum"),
        &[
            "schema/common/level.json: /type: the file defines no shape; write `properties` (an \
           object), `enum` (strings) or `oneOf` (a union)",
        ],
    );
}

#[test]
fn text_that_is_not_json() {
    let folder = Folder::sound();
    folder.text(
        "event/ping.json",
        "{\n  \"title\": \"PingEvent\"\n  \"type\": 1\n}",
    );
    assert_eq!(
        folder.problems(),
        [
            "schema/event/ping.json: line 3, column 3: is not JSON (expected `,` or `}`); write one \
          JSON object"
        ]
    );
    folder.text("event/ping.json", "[]");
    assert_eq!(
        folder.problems(),
        ["schema/event/ping.json: line 1: is not an object; write one JSON object"]
    );
}

#[test]
fn version_that_is_missing_or_no_semver() {
    let folder = Folder::sound();
    folder.text("VERSION", "1.2");
    assert_eq!(
        folder.problems(),
        [
            "schema/VERSION: line 1: `1.2` is not a SemVer version; write three numbers, such as 1.0.0"
        ]
    );
    folder.text("VERSION", "1.0.0-alpha.1");
    assert_eq!(folder.problems(), Vec::<String>::new());
}

#[test]
fn folder_that_is_not_there() {
    let problems = codegen::read(Path::new("no/such/folder")).unwrap_err();
    assert!(
        problems[0]
            .to_string()
            .starts_with("no/such/folder: folder: cannot be read")
    );
}

#[test]
fn grammar_that_does_not_fit_the_wire() {
    let folder = Folder::sound();
    let grammar = |events: Value| {
        json!({ "wires": { "main": {
            "states": { "start": { "on": [{ "event": "session", "to": "start" }] } },
            "anywhere": [{ "events": events, "in": ["start"] }]
        } } })
    };
    folder.text(
        "grammar.json",
        &grammar(json!(["ping", "note", "late"])).to_string(),
    );
    assert_eq!(folder.problems(), Vec::<String>::new());
    folder.text(
        "grammar.json",
        &grammar(json!(["pong", "note", "late"])).to_string(),
    );
    assert_eq!(
        folder.problems(),
        [
            "schema/grammar.json: /wires/main: the event `ping` has no place in the order; name it \
             in a state or under `anywhere`",
            "schema/grammar.json: /wires/main/anywhere/0/events/0: `pong` is no event of the wire \
             `main`; write the `type` of one of its events",
        ]
    );
    // A file that cannot be read makes no faults of those that name it.
    folder.text("event/ping.json", "{");
    assert_eq!(folder.problems().len(), 1, "{:?}", folder.problems());
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let folder = Folder::sound();
    for path in [
        "event/ping.json",
        "session/header.json",
        "common/level.json",
    ] {
        let mut file = folder.read(path);
        remove(&mut file, "description");
        file["examples"][0] = json!(0);
        folder.text(path, &file.to_string());
    }
    let problems = folder.problems();
    let files: Vec<&str> = problems
        .iter()
        .filter_map(|problem| problem.split(": ").next())
        .collect();
    assert_eq!(
        files,
        [
            "schema/common/level.json",
            "schema/common/level.json",
            "schema/event/ping.json",
            "schema/event/ping.json",
            "schema/session/header.json",
            "schema/session/header.json",
        ]
    );
}

/// Whatever stands in the place of any value of any file, linting ends with a verdict.
#[test]
fn damage_is_a_report_never_a_panic() {
    fn pointers(value: &Value, at: &str, all: &mut Vec<String>) {
        all.push(at.to_owned());
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    pointers(value, &format!("{at}/{}", key.replace('/', "~1")), all);
                }
            }
            Value::Array(list) => {
                for (i, value) in list.iter().enumerate() {
                    pointers(value, &format!("{at}/{i}"), all);
                }
            }
            _ => {}
        }
    }
    let folder = Folder::sound();
    let (sound, problems) = codegen::load::load(&folder.path());
    assert_eq!(problems, []);
    let (mut refused, mut cases) = (0, 0);
    for at in 0..sound.files.len() {
        let mut folder = sound.clone();
        let value = sound.files[at].value.clone().unwrap();
        let mut places = Vec::new();
        pointers(&value, "", &mut places);
        for place in places {
            let replacements = [
                json!(null),
                json!(true),
                json!(-1),
                json!(""),
                json!("type"),
                json!([]),
                json!([0]),
                json!({}),
                json!({ "$ref": "../wire/main.json" }),
                json!({ "type": "array", "items": { "oneOf": [{}, { "type": "null" }] } }),
            ];
            for new in replacements {
                let mut damaged = value.clone();
                *damaged.pointer_mut(&place).unwrap() = new;
                folder.files[at].value = Some(damaged);
                cases += 1;
                refused += usize::from(codegen::lint::lint(&folder, Vec::new()).is_err());
            }
        }
    }
    assert!(refused > cases / 2 && cases > 1500, "{refused} of {cases}");
}
