//! What is wrong with a grammar, and that what lint lets pass can be followed.

use crate::codegen::grammar::{self, RULES};
use crate::codegen::model::Schema;
use crate::schema;
use pretty_assertions::assert_eq;
use quipu::contract::grammar::Grammar;
use serde_json::{Value, json};

fn embedded() -> Value {
    schema().grammar.unwrap()
}

fn problems(schema: &Schema, grammar: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    grammar::check(grammar, "g", &schema.defs, &schema.wires, &mut problems);
    problems.iter().map(ToString::to_string).collect()
}

/// With `value` at `key` in `place`, `at` is told to be wrong.
#[track_caller]
fn told(schema: &Schema, place: &str, key: &str, value: Value, (at, said): (&str, &str)) {
    let mut grammar = embedded();
    grammar.pointer_mut(place).unwrap()[key] = value;
    let problems = problems(schema, &grammar);
    let expected = format!("g: {at}: {said}");
    assert!(problems.contains(&expected), "{expected}\n{problems:#?}");
}

#[test]
fn each_mistake_is_told_with_its_place() {
    let schema = schema();
    let (quipu, start) = ("/wires/quipu", "/wires/quipu/states/start/on/0");
    let state = "there is no state `nowhere`; write the name of one in `states`";
    let event = "`nope` is no event of the wire `quipu`; write the `type` of one of its events";
    let field = "no line has a field at `/nope`; write a JSON pointer to a field of the event";
    for (place, key, value, at, said) in [
        (
            "",
            "extra",
            json!(1),
            "/extra",
            "there is no key `extra` here; there are description, format, wires",
        ),
        (
            "",
            "wires",
            json!([]),
            "/wires",
            "is not an object; write one",
        ),
        (
            "/wires",
            "pi",
            json!({}),
            "/wires/pi",
            "there is no wire `pi`; add wire/pi.json, or leave the grammar out",
        ),
        (
            quipu,
            "initial",
            json!("nowhere"),
            "/wires/quipu/initial",
            state,
        ),
        (
            quipu,
            "final",
            json!(["nowhere"]),
            "/wires/quipu/final/0",
            state,
        ),
        (
            quipu,
            "interrupted",
            json!(["start"]),
            "/wires/quipu/interrupted/0",
            "`start` is no final state; name it under `final` too",
        ),
        (
            quipu,
            "extra",
            json!(1),
            "/wires/quipu/extra",
            "there is no key `extra` here; there are initial, final, interrupted, undocumented, \
             states, anywhere, pairs, rules",
        ),
        (
            start,
            "to",
            json!("nowhere"),
            "/wires/quipu/states/start/on/0/to",
            state,
        ),
        (
            start,
            "event",
            json!("nope"),
            "/wires/quipu/states/start/on/0/event",
            event,
        ),
        (
            start,
            "where",
            json!({ "/nope": [1] }),
            "/wires/quipu/states/start/on/0/where/~1nope",
            field,
        ),
    ] {
        told(&schema, place, key, value, (at, said));
    }
}

#[test]
fn each_mistake_in_pairs_and_rules_is_told_with_its_place() {
    let schema = schema();
    let event = "`nope` is no event of the wire `quipu`; write the `type` of one of its events";
    let field = "no line has a field at `/nope`; write a JSON pointer to a field of the event";
    let rule = format!("there is no rule `luck`; there are {}", RULES.join(", "));
    for (place, key, value, at, said) in [
        (
            "/wires/quipu/states/start",
            "promise",
            json!("me"),
            "/wires/quipu/states/start/promise",
            "is not \"quipu\"; write that or leave it out",
        ),
        (
            "/wires/quipu/anywhere/0",
            "in",
            json!("start"),
            "/wires/quipu/anywhere/0/in",
            "is not a list; write an array",
        ),
        (
            "/wires/quipu/pairs/0",
            "name",
            json!("turn"),
            "/wires/quipu/pairs/1/name",
            "there are two `turn`; give each a name of its own",
        ),
        (
            "/wires/quipu/pairs/0",
            "key",
            json!("/nope"),
            "/wires/quipu/pairs/0/key",
            field,
        ),
        (
            "/wires/quipu/pairs/0",
            "unique",
            json!("yes"),
            "/wires/quipu/pairs/0/unique",
            "is neither true nor false; write one of them",
        ),
        (
            "/wires/quipu/rules/0",
            "name",
            json!("luck"),
            "/wires/quipu/rules/0/name",
            &rule,
        ),
        (
            "/wires/quipu/rules/0",
            "events",
            json!(["nope"]),
            "/wires/quipu/rules/0/events/0",
            event,
        ),
        (
            "/wires/senpi/undocumented",
            "nope",
            json!([""]),
            "/wires/senpi/undocumented/nope",
            "`nope` is no event of the wire `senpi`; write the `type` of one of its events",
        ),
    ] {
        told(&schema, place, key, value, (at, said));
    }
    let mut grammar = embedded();
    grammar["wires"]
        .as_object_mut()
        .unwrap()
        .shift_remove("dreb");
    assert_eq!(
        problems(&schema, &grammar),
        ["g: /wires: there is no order for the wire `dreb`; add one, or leave the whole file out"]
    );
    assert_eq!(
        problems(&schema, &json!({})),
        ["g: : `wires` is missing; add it"]
    );
}

fn places(value: &Value, at: &str, all: &mut Vec<String>) {
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| (key.clone(), value))
            .collect(),
        Value::Array(list) => {
            let items = list.iter().enumerate();
            items.map(|(i, value)| (i.to_string(), value)).collect()
        }
        _ => Vec::new(),
    };
    for (key, value) in inner {
        let at = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
        places(value, &at, all);
        all.push(at);
    }
}

/// Whatever stands in any place of it: a grammar that passes compiles.
#[test]
fn what_passes_can_be_followed() {
    let schema = schema();
    // One wire is enough, and quicker.
    let mut sound = embedded();
    sound["wires"]
        .as_object_mut()
        .unwrap()
        .retain(|wire, _| wire == "dreb");
    let mut only = schema.clone();
    only.wires.retain(|wire, _| wire == "dreb");
    assert_eq!(problems(&only, &sound), Vec::<String>::new());
    let mut all = Vec::new();
    places(&sound, "", &mut all);
    let mut refused = 0;
    for place in &all {
        let (parent, key) = place.rsplit_once('/').unwrap();
        let key = key.replace("~1", "/").replace("~0", "~");
        let new = [
            json!(null),
            json!("start"),
            json!([]),
            json!(true),
            json!({}),
        ];
        for new in new.map(Some).into_iter().chain([None]) {
            let mut grammar = sound.clone();
            match (grammar.pointer_mut(parent).unwrap(), new) {
                (Value::Object(map), Some(new)) => drop(map.insert(key.clone(), new)),
                (Value::Object(map), None) => drop(map.shift_remove(&key)),
                (Value::Array(list), Some(new)) => list[key.parse::<usize>().unwrap()] = new,
                (Value::Array(list), None) => drop(list.remove(key.parse().unwrap())),
                _ => unreachable!("a place has a parent"),
            }
            if problems(&only, &grammar).is_empty() {
                let compiled = Grammar::compile(&grammar);
                assert!(compiled.is_ok(), "{place}: {:?}", compiled.err());
            } else {
                refused += 1;
            }
        }
    }
    assert!(refused > all.len(), "{refused} of {}", all.len());
}
