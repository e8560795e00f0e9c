//! The bundles: valid schemas, true to their examples, and our own validator agrees with an
//! independent one on them.

use crate::codegen::bundle::{self, Mode};
use crate::codegen::model::Schema;
use crate::codegen::validate::Validator;
use crate::{documents, holds, mutants, schema};
use serde_json::{Value, json};

fn document(schema: &Schema, mode: Mode) -> Value {
    bundle::document(schema, "quipu", mode).unwrap()
}

/// Independent validators for every part of `document`.
fn witnesses(document: &Value) -> jsonschema::ValidatorMap {
    jsonschema::validator_map_for(document).unwrap()
}

/// Where the def `title` stands in `document`: the root is a union itself.
fn place(document: &Value, title: &str) -> String {
    if document["title"] == title {
        "#".to_owned()
    } else {
        format!("#/$defs/{title}")
    }
}

#[test]
fn bundles_are_valid_schemas() {
    for mode in Mode::ALL {
        for document in documents(&schema(), mode) {
            assert!(
                jsonschema::draft202012::meta::is_valid(&document),
                "{}",
                document["$id"]
            );
        }
    }
}

#[test]
fn every_example_is_valid() {
    let schema = schema();
    for mode in Mode::ALL {
        let documents = documents(&schema, mode);
        for def in schema.defs.values() {
            // The stamp is part of each line, and what only readers meet is not strict.
            let nowhere = def.title == "Stamp" || (def.read_only && mode == Mode::Strict);
            let found = documents.iter().any(|document| holds(document, &def.title));
            assert_eq!(found, !nowhere, "{}", def.path);
        }
        for document in documents {
            let witnesses = witnesses(&document);
            for def in schema.defs.values() {
                let Some(witness) = witnesses.get(&place(&document, &def.title)) else {
                    continue;
                };
                for example in &def.examples {
                    let errors: Vec<String> = witness
                        .iter_errors(example)
                        .map(|error| error.to_string())
                        .collect();
                    assert_eq!(errors, Vec::<String>::new(), "{} {example}", def.path);
                }
            }
        }
    }
}

#[test]
fn both_validators_give_the_same_verdict() {
    let schema = schema();
    let (mut valid, mut invalid) = (0, 0);
    let all = Mode::ALL.map(|mode| documents(&schema, mode));
    for document in all.iter().flatten() {
        let witnesses = witnesses(document);
        let own = Validator::new(document);
        for (title, def) in &schema.defs {
            let Some(witness) = witnesses.get(&place(document, title)) else {
                continue;
            };
            for example in &def.examples {
                for instance in std::iter::once(example.clone()).chain(mutants(example)) {
                    let verdict = own.check(title, &instance);
                    let expected = witness.is_valid(&instance);
                    assert_eq!(
                        verdict.is_ok(),
                        expected,
                        "{title} ({}): {instance}: {verdict:?}",
                        document["$id"]
                    );
                    if expected { valid += 1 } else { invalid += 1 }
                }
            }
        }
    }
    assert!(
        valid > 1000 && invalid > 10_000,
        "too few cases: {valid} valid, {invalid} invalid"
    );
}

#[test]
fn a_violation_names_the_place() {
    let schema = schema();
    let document = document(&schema, Mode::Strict);
    let check = |line: Value| {
        let violation = Validator::new(&document)
            .check("QuipuEvent", &line)
            .unwrap_err();
        format!("{}: {}", violation.pointer, violation.message)
    };
    assert_eq!(
        check(json!({ "type": "nope" })),
        "/type: \"nope\" is not a known type"
    );
    assert_eq!(check(json!({})), ": the discriminator \"type\" is missing");
    assert_eq!(
        check(json!({ "type": "summarization_retry_attempt_start", "source": "x" })),
        "/source: \"x\" is not a known source"
    );
    assert_eq!(
        check(json!({ "type": "turn_start", "x/y": 1 })),
        "/x~1y: there is no such field"
    );
    assert_eq!(
        check(json!({
            "type": "message_end",
            "message": { "role": "user", "content": [{ "type": "text" }], "timestamp": 0 }
        })),
        "/message/content/0: the required field \"text\" is missing"
    );
}

/// A later version may add fields and values; a reader's bundle lets them pass, the writer's not.
#[test]
fn open_accepts_what_a_later_version_may_write() {
    let schema = schema();
    let strict = jsonschema::draft202012::new(&document(&schema, Mode::Strict)).unwrap();
    let open = jsonschema::draft202012::new(&document(&schema, Mode::Open)).unwrap();
    let line = json!({ "type": "thinking_level_changed", "level": "high" });
    assert!(strict.is_valid(&line) && open.is_valid(&line));
    for later in [
        json!({ "type": "thinking_level_changed", "level": "galactic" }),
        json!({ "type": "thinking_level_changed", "level": "high", "because": 1 }),
    ] {
        assert!(!strict.is_valid(&later), "{later}");
        assert!(open.is_valid(&later), "{later}");
    }
    // What tells the lines apart stays exact.
    let wrong = json!({ "type": "thinking_level_changes", "level": "high" });
    assert!(!strict.is_valid(&wrong) && !open.is_valid(&wrong));
}

#[test]
fn read_only_members_are_in_the_open_bundle_only() {
    let schema = schema();
    for (mode, expected) in [(Mode::Strict, false), (Mode::Open, true)] {
        let document = document(&schema, mode);
        let text = document["$defs"]["AssistantMessageEvent"].to_string();
        for title in ["DoneDelta", "ErrorDelta"] {
            assert_eq!(document["$defs"].get(title).is_some(), expected, "{title}");
            assert_eq!(text.contains(title), expected, "{title}");
        }
    }
}

#[test]
fn every_line_may_carry_the_stamp_after_its_type() {
    let schema = schema();
    let union = schema.defs["QuipuEvent"].union().unwrap();
    for mode in Mode::ALL {
        let document = document(&schema, mode);
        for member in &union.members {
            let def = &document["$defs"][&member.title];
            let keys: Vec<&String> = def["properties"].as_object().unwrap().keys().collect();
            assert_eq!(keys[..3], ["type", "seq", "at"], "{}", member.title);
            let required = def["required"].as_array().unwrap();
            assert!(!required.contains(&json!("seq")) && !required.contains(&json!("at")));
        }
    }
}

/// Two branches with one discriminator value would be refused or ignored by client generators.
#[test]
fn no_discriminator_value_names_two_branches() {
    let schema = schema();
    for mode in Mode::ALL {
        let document = document(&schema, mode);
        let branches = document["oneOf"].as_array().unwrap();
        let mut values = Vec::new();
        for branch in branches {
            let pointer = branch["$ref"].as_str().unwrap().trim_start_matches('#');
            let def = document.pointer(pointer).unwrap();
            let tag = def.pointer("/properties/type/const");
            values.push(tag.or(def.pointer("/title")).unwrap().to_string());
        }
        values.sort();
        let before = values.len();
        values.dedup();
        assert_eq!(values.len(), before);
        let group = "SummarizationRetryAttemptStartEvent";
        assert!(values.contains(&format!("\"{group}\"")));
        assert_eq!(
            document["$defs"][group]["discriminator"]["propertyName"],
            "source"
        );
    }
}

/// Client generators make a second type, `Usage1`, of a reference with a description beside it.
#[test]
fn references_stand_alone() {
    fn walk(value: &Value, references: &mut usize) {
        match value {
            Value::Object(map) => {
                if map.contains_key("$ref") {
                    assert_eq!(map.len(), 1, "{value}");
                    *references += 1;
                }
                map.values().for_each(|value| walk(value, references));
            }
            Value::Array(list) => list.iter().for_each(|value| walk(value, references)),
            _ => {}
        }
    }
    let mut references = 0;
    walk(&document(&schema(), Mode::Open), &mut references);
    assert!(references > 50);
}

/// What client generators rely on.
#[test]
fn every_union_of_objects_names_its_discriminator() {
    fn walk(value: &Value, at: &str, unions: &mut usize) {
        if let Some(branches) = value.get("oneOf").and_then(Value::as_array) {
            let refs = branches
                .iter()
                .filter(|branch| branch.get("$ref").is_some())
                .count();
            let tag = value
                .pointer("/discriminator/propertyName")
                .and_then(Value::as_str);
            // A nullable field has one reference, a string or an array none.
            assert_eq!(tag.is_some(), refs > 1, "{at}");
            *unions += usize::from(tag.is_some());
        }
        match value {
            Value::Object(map) => map
                .iter()
                .for_each(|(k, v)| walk(v, &format!("{at}/{k}"), unions)),
            Value::Array(list) => list.iter().for_each(|v| walk(v, at, unions)),
            _ => {}
        }
    }
    let mut unions = 0;
    let document = document(&schema(), Mode::Open);
    walk(&document, "", &mut unions);
    let authored = schema();
    let authored = authored
        .defs
        .values()
        .filter(|def| def.union().is_some() && holds(&document, &def.title));
    assert_eq!(unions, authored.count() + 1, "and one of two forms");
}
