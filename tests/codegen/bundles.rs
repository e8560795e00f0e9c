//! The bundles: valid schemas, true to their examples, and our own validator agrees with an
//! independent one on them.

use crate::codegen::bundle::{self, Mode};
use crate::codegen::model::Schema;
use crate::codegen::validate::Validator;
use crate::schema;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

fn document(schema: &Schema, mode: Mode) -> Value {
    bundle::document(schema, "quipu", mode).unwrap()
}

/// An independent validator for each def of `document`, and for the root under its own title.
fn witnesses(document: &Value) -> BTreeMap<String, jsonschema::Validator> {
    let mut all = BTreeMap::new();
    let root = document["title"].as_str().unwrap().to_owned();
    all.insert(root, jsonschema::draft202012::new(document).unwrap());
    for title in document["$defs"].as_object().unwrap().keys() {
        // The root itself moves to `$defs`, where its own references still lead.
        let text = document
            .to_string()
            .replace("\"$ref\":\"#\"", "\"$ref\":\"#/$defs/Root\"");
        let mut root: Map<String, Value> = serde_json::from_str(&text).unwrap();
        let mut defs = root.remove("$defs").unwrap();
        root.remove("$schema");
        root.remove("$id");
        defs["Root"] = Value::Object(root);
        let one = json!({ "$ref": format!("#/$defs/{title}"), "$defs": defs });
        all.insert(title.clone(), jsonschema::draft202012::new(&one).unwrap());
    }
    all
}

/// `value` and what it becomes by one small change: a key gone, renamed or new, a value of another
/// type or beyond its limits.
fn mutants(value: &Value) -> Vec<Value> {
    let mut all = vec![
        json!(null),
        json!("?"),
        json!(-1),
        json!(0.5),
        json!(3.0),
        json!(true),
        json!([]),
        json!({}),
    ];
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                let mut without = map.clone();
                without.shift_remove(key);
                all.push(Value::Object(without.clone()));
                without.insert(format!("{key}X"), inner.clone());
                all.push(Value::Object(without));
                for mutant in mutants(inner) {
                    let mut changed = map.clone();
                    changed[key] = mutant;
                    all.push(Value::Object(changed));
                }
            }
            let mut more = map.clone();
            more.insert("more".into(), json!(1));
            all.push(Value::Object(more));
        }
        Value::Array(list) => {
            for (i, inner) in list.iter().enumerate() {
                for mutant in mutants(inner) {
                    let mut changed = list.clone();
                    changed[i] = mutant;
                    all.push(Value::Array(changed));
                }
            }
        }
        _ => {}
    }
    all
}

#[test]
fn bundles_are_valid_schemas() {
    for mode in Mode::ALL {
        let document = document(&schema(), mode);
        assert!(
            jsonschema::draft202012::meta::is_valid(&document),
            "{}",
            mode.name()
        );
    }
}

#[test]
fn every_example_is_valid() {
    let schema = schema();
    for mode in Mode::ALL {
        let witnesses = witnesses(&document(&schema, mode));
        for def in schema.defs.values() {
            let Some(witness) = witnesses.get(&def.title) else {
                // The stamp is part of each line, and what only readers meet is not strict.
                assert!(def.title == "Stamp" || (def.read_only && mode == Mode::Strict));
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

#[test]
fn both_validators_give_the_same_verdict() {
    let schema = schema();
    let (mut valid, mut invalid) = (0, 0);
    for mode in Mode::ALL {
        let document = document(&schema, mode);
        let witnesses = witnesses(&document);
        let own = Validator::new(&document);
        for (title, witness) in &witnesses {
            for example in &schema.defs[title].examples {
                for instance in std::iter::once(example.clone()).chain(mutants(example)) {
                    let verdict = own.check(title, &instance);
                    let expected = witness.is_valid(&instance);
                    assert_eq!(
                        verdict.is_ok(),
                        expected,
                        "{title} ({}): {instance}: {verdict:?}",
                        mode.name()
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
    walk(&document(&schema(), Mode::Open), "", &mut unions);
    assert_eq!(
        unions,
        schema()
            .defs
            .values()
            .filter(|def| def.union().is_some())
            .count()
    );
}
