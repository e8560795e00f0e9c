//! Authoring mistakes in a def by itself: its head, keywords, fields and values.

use crate::folder::{Folder, fault, remove};
use serde_json::json;
use std::fs;

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
fn constants_and_types_that_rust_cannot_hold() {
    fault(
        "session/header.json",
        |file| file["properties"]["version"]["const"] = json!(1.5),
        &[
            "schema/session/header.json: /properties/version/const: 1.5 cannot be a const; write a \
           plain name, true, false or a whole number up to 2^53 - 1",
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
