use serde_json::{Value as Json, json};

use super::{Checker, CompileError, Fault, Keyword};
use crate::contract::Wire;
use crate::contract::json::Document;

fn faults(checker: &Checker, line: &str) -> Vec<Fault> {
    let document = Document::read(line, Document::default()).unwrap();
    let mut faults = Vec::new();
    checker.check(document.root(), &mut faults);
    faults
}

/// One fault a line: pointer, keyword, message.
fn told(checker: &Checker, line: &str) -> Vec<String> {
    let faults = faults(checker, line).into_iter();
    faults
        .map(|fault| format!("{} {}: {}", fault.pointer, fault.keyword, fault.message))
        .collect()
}

fn native(line: &Json) -> Vec<String> {
    told(Checker::strict(Wire::Quipu), &line.to_string())
}

fn compiled(bundle: &Json) -> Checker {
    Checker::compile(bundle).unwrap()
}

fn update(delta: &Json) -> Json {
    let cost = json!({"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0});
    let usage = json!({
        "input": 1, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 1, "cost": cost,
    });
    json!({"type": "message_update", "usage": usage, "assistantMessageEvent": delta})
}

fn bundle(wire: Wire) -> Json {
    serde_json::from_str(wire.strict()).unwrap()
}

#[test]
fn every_embedded_bundle_compiles() {
    for wire in Wire::ALL {
        for checker in [Checker::strict(wire), Checker::open(wire)] {
            assert!(told(checker, r#"{"type":"agent_start"}"#).is_empty());
        }
    }
    let entry = r#"{"type":"label","id":"a","parentId":null,"timestamp":"t","targetId":"b"}"#;
    for checker in [Checker::session_strict(), Checker::session_open()] {
        assert!(told(checker, entry).is_empty());
    }
}

#[test]
fn all_faults_are_told_in_the_order_of_the_line() {
    let line = json!({
        "more": 1, "type": "turn_end",
        "message": {
            "role": "assistant", "content": [{"type": "text", "text": 5}, {"type": "txet", "text": ""}],
            "api": "a", "model": "m", "stopReason": "stopp", "timestamp": -1,
            "usage": {"inputt": 1, "output": 0.5},
        },
        "toolResults": {},
    });
    insta::assert_snapshot!(native(&line).join("\n"), @r#"
    /more additionalProperties: there is no such field
    /message required: "provider" is missing
    /message/content/0/text type: expected string, got number
    /message/content/1/type oneOf: unknown type "txet"; did you mean "text"?
    /message/stopReason enum: "stopp" is not one of "pending", "stop", "length", "toolUse", "error", "aborted"; did you mean "stop"?
    /message/timestamp minimum: -1 is less than 0
    /message/usage required: "input" is missing
    /message/usage required: "cacheRead" is missing
    /message/usage required: "cacheWrite" is missing
    /message/usage required: "totalTokens" is missing
    /message/usage required: "cost" is missing
    /message/usage/inputt additionalProperties: there is no such field; did you mean "input"?
    /message/usage/output type: expected integer, got 0.5
    /toolResults type: expected array, got object
    "#);
}

#[test]
fn a_discriminator_is_told_by_name() {
    let told = |line: Json| native(&line).join("\n");
    assert_eq!(
        told(json!({"type": "nope"})),
        r#"/type oneOf: unknown type "nope""#
    );
    assert_eq!(
        told(json!({"type": "agent_strat"})),
        r#"/type oneOf: unknown type "agent_strat"; did you mean "agent_start"?"#
    );
    assert_eq!(told(json!({"type": 5})), "/type oneOf: unknown type 5");
    assert_eq!(told(json!({"tpye": "x"})), r#" oneOf: "type" is missing"#);
    assert_eq!(told(json!([])), " oneOf: expected object, got array");
    assert_eq!(
        told(json!({"type": "summarization_retry_attempt_start", "source": "x"})),
        r#"/source oneOf: unknown source "x""#
    );
    assert_eq!(
        told(update(
            &json!({"delta": "", "contentIndex": "0", "type": "text_delta"})
        )),
        "/assistantMessageEvent/contentIndex type: expected integer, got string"
    );
    assert_eq!(
        told(update(&json!({"type": "text_delta", "contentIndex": -1}))),
        "/assistantMessageEvent required: \"delta\" is missing\n\
         /assistantMessageEvent/contentIndex minimum: -1 is less than 0"
    );
}

#[test]
fn a_fault_names_its_rule_in_the_bundle() {
    let bundle = bundle(Wire::Quipu);
    let line = update(&json!({"type": "text_delta", "contentIndex": "0", "more/~": 1}));
    let faults = faults(Checker::strict(Wire::Quipu), &line.to_string());
    let rules: Vec<(&str, &str)> = faults
        .iter()
        .map(|fault| (&*fault.pointer, &*fault.rule))
        .collect();
    assert_eq!(
        rules,
        [
            ("/assistantMessageEvent", "/$defs/TextDelta/required"),
            (
                "/assistantMessageEvent/contentIndex",
                "/$defs/TextDelta/properties/contentIndex/type"
            ),
            (
                "/assistantMessageEvent/more~1~0",
                "/$defs/TextDelta/additionalProperties"
            ),
        ]
    );
    for (_, rule) in rules {
        assert!(bundle.pointer(rule).is_some(), "{rule}");
    }
}

#[test]
fn a_key_that_stands_twice_is_a_fault_anywhere() {
    let checker = Checker::open(Wire::Quipu);
    let line = r#"{"type":"agent_start","x":[{"a":1,"b":{"k":1,"k":1}}],"type":"agent_start"}"#;
    assert_eq!(
        told(checker, line),
        [
            r#"/x/0/b/k duplicate: "k" stands twice in one object"#,
            r#"/type duplicate: "type" stands twice in one object"#
        ]
    );
    assert_eq!(faults(checker, line)[0].rule, "");
    let many: Vec<String> = (0..100).map(|key| format!(r#""k{key}":{key}"#)).collect();
    let line = |last: &str| format!(r#"{{"type":"agent_start",{},"{last}":0}}"#, many.join(","));
    assert!(told(checker, &line("k100")).is_empty());
    assert_eq!(faults(checker, &line("k7"))[0].keyword, Keyword::Duplicate);
}

#[test]
fn a_branch_that_lost_its_constant_is_a_branch_for_any() {
    let mut bundle = bundle(Wire::Quipu);
    let line = update(&json!({"type": "nope", "contentIndex": 0, "delta": ""})).to_string();
    assert_eq!(told(&compiled(&bundle), &line).len(), 1);
    let tag = bundle
        .pointer_mut("/$defs/TextDelta/properties/type")
        .unwrap();
    tag.as_object_mut().unwrap().remove("const");
    let checker = compiled(&bundle);
    assert!(told(&checker, &line).is_empty());
    // Now a delta of thinking fits two.
    let line = update(&json!({"type": "thinking_delta", "contentIndex": 0, "delta": ""}));
    assert_eq!(
        told(&checker, &line.to_string()),
        ["/assistantMessageEvent oneOf: fits more than one of the forms that may stand here"]
    );
    // A delta that fits neither is told by the one that it is nearer to.
    let line = update(&json!({"type": "thinking_delta", "contentIndex": 0, "delta": 1}));
    assert_eq!(
        told(&checker, &line.to_string()),
        ["/assistantMessageEvent/delta type: expected string, got number"]
    );
}

#[test]
fn forms_of_different_types_are_told_apart_by_them() {
    let entry =
        json!({"type": "label", "id": "a", "parentId": 1, "timestamp": "t", "targetId": "b"});
    assert_eq!(
        told(Checker::session_strict(), &entry.to_string()),
        ["/parentId oneOf: expected null or string, got number"]
    );
}

#[test]
fn what_is_no_bundle_says_where() {
    let error = |bundle: &Json| Checker::compile(bundle).unwrap_err().to_string();
    let in_def = |def: Json| json!({"$ref": "#/$defs/A", "$defs": {"A": def, "B/C": {}}});
    assert!(Checker::compile(&in_def(json!({"$ref": "#/$defs/B~1C"}))).is_ok());
    assert_eq!(
        error(&in_def(json!({"properties": {"a/b": {"pattern": "x"}}}))),
        "/$defs/A/properties/a~1b/pattern: bundles have no such keyword"
    );
    assert_eq!(
        error(&in_def(json!({"items": {"$ref": "#/$defs/X"}}))),
        "/$defs/A/items/$ref: nothing is at #/$defs/X"
    );
    assert_eq!(
        error(&in_def(json!({"type": "text"}))),
        "/$defs/A/type: expected a type"
    );
    for def in [
        json!({"$ref": "#/$defs/A"}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"oneOf": [{"type": "null"}, {"$ref": "#"}]}),
        json!({"type": "object", "$ref": "#/$defs/A"}),
    ] {
        let error = Checker::compile(&in_def(def)).unwrap_err();
        assert!(matches!(error, CompileError::Endless { .. }), "{error}");
    }
    let list = json!({"type": "array", "items": {"$ref": "#"}});
    assert!(told(&compiled(&list), "[[],[[]]]").is_empty());
    assert_eq!(told(&compiled(&list), "[[],[[1]]]").len(), 1);
}

#[test]
fn a_def_is_checked_by_its_title() {
    let document = Document::read(r#"{"type":"text"}"#, Document::default()).unwrap();
    let checker = Checker::strict(Wire::Quipu);
    let mut faults = Vec::new();
    assert!(!checker.check_def("Nope", document.root(), &mut faults));
    assert!(checker.check_def("TextContent", document.root(), &mut faults));
    assert_eq!(faults.len(), 1);
    assert!(checker.check_def("QuipuEvent", document.root(), &mut faults));
    assert_eq!(faults[1].message, r#"unknown type "text""#);
}
