//! Each authoring mistake: reported with file, place and remedy, alone, and before typify sees it.
//! Here those of folders, references, unions and examples; those of a single def are in `def_mistakes`.

use crate::codegen;
use crate::folder::{Folder, fault, last, remove};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn a_sound_folder_has_no_problem() {
    assert_eq!(Folder::sound().problems(), Vec::<String>::new());
    let real = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema");
    assert_eq!(codegen::read(&real).err(), None);
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
    let mut entry = folder.read("event/ping.json");
    remove(&mut entry, "$id");
    entry["title"] = json!("Entry");
    folder.json("session/entry.json", &entry);
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

    // One mistake is told once, not at the `$id` of every file.
    for (text, said) in [
        ("", "`` is not a SemVer version"),
        ("two", "`two` is not a SemVer version"),
    ] {
        folder.text("VERSION", text);
        only(&folder, said);
    }
    fs::remove_file(folder.path().join("VERSION")).unwrap();
    only(&folder, "schema/VERSION: line 1: cannot be read");
}

/// The folder has this mistake and no other.
#[track_caller]
fn only(folder: &Folder, said: &str) {
    let problems = folder.problems();
    assert!(
        problems.len() == 1 && problems[0].contains(said),
        "{said}: {problems:#?}"
    );
}

/// A pipe that nobody writes to would be waited for without end.
#[test]
fn what_is_no_regular_file_is_not_read() {
    for path in ["event/pipe.json", "grammar.json", "VERSION"] {
        let folder = Folder::sound();
        let file = folder.path().join(path);
        let _ = fs::remove_file(&file);
        let made = Command::new("mkfifo").arg(&file).status().unwrap();
        assert!(made.success());
        let said = format!("schema/{path}: line 1: is no regular file; write ");
        only(&folder, &said);
    }
    let folder = Folder::sound();
    let zero = folder.path().join("common/zero.json");
    std::os::unix::fs::symlink("/dev/zero", zero).unwrap();
    only(&folder, "common/zero.json: line 1: is no regular file");
}

#[test]
fn byte_order_marks() {
    for path in ["event/ping.json", "VERSION"] {
        let folder = Folder::sound();
        let text = fs::read_to_string(folder.path().join(path)).unwrap();
        folder.text(path, &format!("\u{feff}{text}"));
        let said = "line 1: starts with a byte order mark, which has to go; save it without";
        only(&folder, &format!("schema/{path}: {said}"));
    }
}

/// No mistake in a schema, but names that another language has a use for.
#[test]
fn titles_that_are_taken_in_another_language() {
    for (title, language) in [
        ("None", "Python"),
        ("Unknown", "Go"),
        ("SchemaVersion", "Go"),
        ("MainEventValue", "Go"),
    ] {
        let folder = Folder::sound();
        let mut level = folder.read("common/level.json");
        level["title"] = title.into();
        folder.text("common/level.json", &level.to_string());
        let said = format!("`{title}` is the name of something else in {language}; write another");
        only(&folder, &said);
    }
}

#[test]
fn wire_without_a_name() {
    for name in ["1x", "Main", "ma in"] {
        let folder = Folder::sound();
        let mut wire = folder.read("wire/main.json");
        let path = format!("wire/{name}.json");
        wire["$id"] = format!("https://example.org/v1/{path}").into();
        fs::remove_file(folder.path().join("wire/main.json")).unwrap();
        folder.text(&path, &wire.to_string());
        only(
            &folder,
            &format!("schema/{path}: file name: `{name}` cannot be the name of a wire; begin with"),
        );
    }
}

/// Each value is looked at once, not held against all before it.
#[test]
fn as_many_values_as_you_like() {
    let folder = Folder::sound();
    let mut level = folder.read("common/level.json");
    let values: Vec<String> = (0..50_000).map(|i| format!("low{i}")).collect();
    level["enum"] = json!(values);
    level["examples"] = json!(["low7"]);
    folder.text("common/level.json", &level.to_string());
    let mut ping = folder.read("event/ping.json");
    ping["examples"] = json!([{ "type": "ping" }]);
    folder.text("event/ping.json", &ping.to_string());
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
            "initial": "start", "final": ["start"],
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
