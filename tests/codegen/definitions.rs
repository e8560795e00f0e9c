//! `quipu schema generate`, and what definitions cannot be made from. That they compile is shown in
//! [`crate::clients`].

use crate::codegen::bundle::{self, Mode};
use crate::codegen::client::{Client, Language};
use crate::schema;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn generate(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_quipu"))
        .args(["schema", "generate"])
        .args(args)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap()
}

fn printed(args: &[&str]) -> String {
    let output = generate(args);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(output.stderr, b"");
    String::from_utf8(output.stdout).unwrap()
}

fn refused(args: &[&str], status: i32) -> String {
    let output = generate(args);
    assert_eq!(output.status.code(), Some(status), "{output:?}");
    assert_eq!(output.stdout, b"");
    String::from_utf8(output.stderr).unwrap()
}

fn stored(language: Language, name: &str) -> String {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(package.join("generated").join(language.path(name))).unwrap()
}

#[test]
fn the_command_prints_what_is_checked_in() {
    for language in Language::ALL {
        for name in ["quipu", "senpi", "dreb", "session"] {
            let text = printed(&[language.name(), "--wire", name]);
            assert!(text == stored(language, name), "{} {name}", language.name());
        }
        assert!(printed(&[language.name()]) == stored(language, "quipu"));
    }
}

#[test]
fn a_folder_is_as_good_as_what_is_built_in() {
    for name in ["quipu", "session"] {
        let text = printed(&["typescript", "--dir", "schema", "--wire", name]);
        assert!(text == stored(Language::TypeScript, name));
    }
}

/// A bundle has no version; but for that, and for what a strict one leaves out, it gives the same.
#[test]
fn a_bundle_is_as_good_as_what_is_built_in() {
    let text = printed(&["go", "--bundle", "generated/bundle/senpi.open.json"]);
    let whole = stored(Language::Go, "senpi");
    let lines: Vec<&str> = whole
        .split("\n\n")
        .filter(|part| !part.contains("const SchemaVersion"))
        .collect();
    assert_eq!(text, lines.join("\n\n"));

    let text = printed(&["go", "--bundle", "generated/bundle/senpi.strict.json"]);
    assert!(text.contains("\ntype TextDelta struct {"));
    assert!(text.contains("\tStopReasonToolUse StopReason = \"toolUse\"\n"));
    assert!(!text.contains("DoneDelta"));
}

#[test]
fn wrong_arguments_are_told() {
    for (args, status, word) in [
        (&["java"][..], 2, "possible values: typescript, python, go]"),
        (&["rust"], 2, "Rust has its types in the library"),
        (
            &["go", "--wire", "nope"],
            2,
            "there is no wire `nope`; name one of: quipu, senpi, dreb, session",
        ),
        (&["go", "--dir", "nowhere"], 2, "nowhere is not a folder"),
        (
            &["go", "--dir", "schema", "--wire", "nope"],
            2,
            "there is no wire `nope`; name one of: dreb, quipu, senpi, session",
        ),
        (&["go", "--dir", "schema/wire"], 1, "schema/wire/"),
        (
            &["go", "--bundle", "nowhere.json"],
            2,
            "nowhere.json cannot be read",
        ),
        (&["go", "--bundle", "README.md"], 1, "README.md is not JSON"),
        (
            &["go", "--bundle", "schema/block/text.json"],
            1,
            "the root: has no `$defs`, so it is no bundle",
        ),
    ] {
        let said = refused(args, status);
        assert!(said.contains(word), "{args:?}: {said}");
    }
}

/// A bundle with one part changed.
fn changed(pointer: &str, value: Value) -> Value {
    let mut bundle = bundle::document(&schema(), "quipu", Mode::Open).unwrap();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = bundle.pointer_mut(parent).unwrap();
    parent[key] = value;
    bundle
}

#[test]
fn what_no_bundle_has_is_told_with_its_place() {
    for (pointer, value, expected) in [
        (
            "/$defs/TextDelta/properties/delta",
            json!({ "anyOf": [] }),
            "/$defs/TextDelta/properties/delta: has `anyOf`, which no field of a bundle has",
        ),
        (
            "/$defs/TextDelta/properties/delta",
            json!({ "type": ["string", "null"] }),
            "/$defs/TextDelta/properties/delta: has a `type` that no field of a bundle has",
        ),
        (
            "/$defs/TextDelta/properties/delta",
            json!({ "$ref": "#/$defs/Nothing" }),
            "/$defs/TextDelta/properties/delta: `#/$defs/Nothing` is not in this bundle",
        ),
        (
            "/$defs/TextDelta/properties/a b",
            json!({}),
            "/$defs/TextDelta/properties/a b: has a name that cannot be a field in every language",
        ),
        (
            "/$defs/TextDelta/properties/type",
            json!({ "type": "string" }),
            "/$defs/AssistantMessageEvent: TextDelta has no const `type`",
        ),
        (
            "/$defs/TextDelta/properties/type/const",
            json!("text_end"),
            "/$defs/AssistantMessageEvent: two members have `type` \"text_end\"",
        ),
        (
            "/$defs/lower",
            json!({ "type": "object", "properties": {} }),
            "/$defs/lower: `lower` cannot be the name of a type",
        ),
        (
            "/$defs/QuipuEvent",
            json!({ "type": "object", "properties": {} }),
            "/$defs/QuipuEvent: has the title of the root",
        ),
        (
            "/$defs/AgentMessage/oneOf",
            json!([]),
            "/$defs/AgentMessage: has an empty `oneOf`",
        ),
        (
            "/$defs/StopReason/x-known-values",
            json!([]),
            "/$defs/StopReason: has no values",
        ),
        (
            "/$defs/TextDelta/required",
            json!([1]),
            "/$defs/TextDelta/required: has a list that is not one of strings",
        ),
    ] {
        let error = Client::read(&changed(pointer, value), "quipu", None).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    let error = Client::read(&json!({ "title": "A", "$defs": {} }), "quipu", None).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("the root: is none of the forms a bundle has")
    );
}

/// A bundle is named after what it says of itself, not after the native wire.
#[test]
fn a_bundle_of_another_is_named_after_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("1x.json");
    let mut bundle = changed("/title", "RadioEvent".into());
    let first_line = |bundle: &Value| {
        fs::write(&path, bundle.to_string()).unwrap();
        let text = printed(&["python", "--bundle", path.to_str().unwrap()]);
        text.lines().next().unwrap().to_owned()
    };
    bundle["$id"] = "https://example.org/v1/bundle/radio.open.json".into();
    assert!(first_line(&bundle).contains(" --wire radio`"));
    bundle["$id"] = "https://example.org/mine.json".into();
    assert!(first_line(&bundle).contains(" --wire radio_event`"));

    fs::write(&path, format!("\u{feff}{bundle}")).unwrap();
    let said = refused(&["python", "--bundle", path.to_str().unwrap()], 1);
    assert!(said.contains("starts with a byte order mark"), "{said}");
}

#[test]
fn consts_and_objects_that_not_every_language_has_are_told() {
    let place = "/$defs/TextDelta/properties/contentIndex";
    for value in [json!(1.5), json!(1_u64 << 53), json!(null), json!([1])] {
        let bundle = changed(place, json!({ "const": value }));
        let error = Client::read(&bundle, "quipu", None).unwrap_err();
        let expected = format!("{place}: has a `const` that not every language has exactly");
        assert_eq!(error.to_string(), expected);
    }
    let bundle = changed(
        "/$defs/Cost",
        json!({ "type": "object", "required": ["usage"], "properties": {
            "usage": { "$ref": "#/$defs/Usage" }
        } }),
    );
    let error = Client::read(&bundle, "quipu", None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "/$defs/Cost: holds itself in a required field"
    );
    let document = json!({ "title": "A", "type": "object", "properties": {}, "$defs": {} });
    let error = Client::read(&document, "quipu", None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the root: is no union of lines, so it is no bundle"
    );
}

/// Whatever a text ends in, it ends where the string ends.
#[test]
fn texts_that_end_in_quotes() {
    for (said, printed) in [
        (r#"a "b""#, r#"a "b\""#),
        (r#"a "b"""#, r#"a "b"\""#),
        (r#"a """"#, r#"a \"\"\""#),
        (r#"a """""#, r#"a \"\"\"\""#),
        (r#"a """b""""""#, r#"a \"\"\"b\"\"\""\""#),
        (r"a \", r"a \\"),
        (r#"a \""#, r#"a \\\""#),
    ] {
        let bundle = changed("/$defs/Cost/description", said.into());
        let client = Client::read(&bundle, "quipu", None).unwrap();
        let text = Language::Python.definitions(&client).unwrap();
        let expected = format!("class Cost(typing.TypedDict):\n    \"\"\"{printed}\"\"\"\n");
        assert!(text.contains(&expected), "{expected}");
    }
}

/// A union that holds only itself ends nowhere.
#[test]
fn a_union_of_itself_is_told() {
    let bundle = changed(
        "/$defs/AgentMessage/oneOf",
        json!([{ "$ref": "#/$defs/AgentMessage" }]),
    );
    let error = Client::read(&bundle, "quipu", None).unwrap_err();
    let expected = "/$defs/AgentMessage: AgentMessage has no const `role`";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn names_that_meet_in_go_are_told() {
    let object = json!({ "type": "object", "properties": {}, "required": [] });
    for (pointer, value, expected) in [
        (
            "/$defs/TextDelta/properties/Delta",
            json!({}),
            "/$defs/TextDelta/properties/Delta: would be the same field as `delta` in Go, `Delta`",
        ),
        (
            "/$defs/AgentMessageValue",
            object.clone(),
            "/$defs/AgentMessageValue: `AgentMessageValue` is the name of something else in Go",
        ),
        (
            "/$defs/Unknown",
            object,
            "/$defs/Unknown: `Unknown` is the name of something else in Go",
        ),
    ] {
        let client = Client::read(&changed(pointer, value), "quipu", None).unwrap();
        assert!(Language::TypeScript.definitions(&client).is_ok());
        let error = Language::Go.definitions(&client).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}
