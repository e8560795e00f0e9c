//! The generated types: the same bytes out as in, and nothing in that the schema forbids.

use crate::codegen::bundle::Mode;
use crate::codegen::model::{Shape, Type};
use crate::codegen::validate::Validator;
use crate::{documents, holds, mutants, schema};
use quipu::event::{
    AgentMessage, AgentStartEvent, AssistantMessageEvent, Number, QUIPU_EVENT_TYPES, QuipuEvent,
    SessionHeader, StopReason, TextDelta, TurnEndEvent, TurnStartEvent, UserContent,
};
use serde_json::{Value, json};

include!(concat!(env!("OUT_DIR"), "/round_trip.rs"));

fn written() -> impl Iterator<Item = (String, String)> {
    let schema = schema();
    let defs = schema.defs.into_values().filter(|def| !def.read_only);
    defs.flat_map(|def| {
        def.examples
            .into_iter()
            .map(move |example| (def.title.clone(), example.to_string()))
    })
}

#[test]
fn every_example_comes_back_as_the_same_bytes() {
    let mut examples = 0;
    for (title, text) in written() {
        let again =
            round_trip(&title, &text).unwrap_or_else(|error| panic!("{title}: {error}: {text}"));
        assert_eq!(again, text, "{title}");
        examples += 1;
    }
    assert!(examples > 100);
}

/// Producers write the discriminator first, but JSON objects have no order.
#[test]
fn the_order_of_keys_does_not_matter_to_a_reader() {
    fn reverse(value: Value) -> Value {
        match value {
            Value::Object(map) => map
                .into_iter()
                .rev()
                .map(|(key, value)| (key, reverse(value)))
                .collect(),
            Value::Array(list) => list.into_iter().map(reverse).collect(),
            other => other,
        }
    }
    let schema = schema();
    for (title, text) in written() {
        // An open payload keeps the order it came in.
        let open = |def: &str| {
            schema.defs[def].object().is_some_and(|object| {
                object
                    .fields
                    .iter()
                    .any(|field| matches!(field.ty, Type::Any | Type::Map))
            })
        };
        let backwards = reverse(serde_json::from_str(&text).unwrap());
        let again = round_trip(&title, &backwards.to_string())
            .unwrap_or_else(|error| panic!("{title}: {error}: {backwards}"));
        if open(&title)
            || text.contains("\"args\"")
            || text.contains("\"arguments\"")
            || text.contains("\"details\"")
        {
            let again: Value = serde_json::from_str(&again).unwrap();
            assert_eq!(
                again,
                serde_json::from_str::<Value>(&text).unwrap(),
                "{title}"
            );
        } else {
            assert_eq!(again, text, "{title}");
        }
    }
}

/// What the strict bundle refuses, the types refuse: a key gone, another discriminator or const, a
/// value of another type, a null. (Unknown fields they skip, as readers should.)
#[test]
fn types_are_as_strict_as_the_schema_about_known_fields() {
    let schema = schema();
    let documents = documents(&schema, Mode::Strict);
    let mut refused = 0;
    for (title, text) in written().filter(|(title, _)| title != "Stamp") {
        let document = documents.iter().find(|document| holds(document, &title));
        let validator = Validator::new(document.unwrap());
        for mutant in mutants(&serde_json::from_str(&text).unwrap()) {
            let verdict = validator.check(&title, &mutant);
            let unknown = verdict
                .as_ref()
                .is_err_and(|v| v.message == "there is no such field");
            // To JSON Schema 3.0 is a whole number; no producer writes one like that.
            if unknown || mutant.to_string().contains("3.0") {
                continue;
            }
            let read = round_trip(&title, &mutant.to_string());
            assert_eq!(
                read.is_ok(),
                verdict.is_ok(),
                "{title}: {mutant}: {verdict:?} {read:?}"
            );
            if let Ok(again) = read {
                assert_eq!(again, mutant.to_string(), "{title}");
            } else {
                refused += 1;
            }
        }
    }
    assert!(refused > 5000, "too few cases: {refused}");
}

#[test]
fn the_discriminator_is_written_once_and_first() {
    let mut tagged = 0;
    let schema = schema();
    for (title, text) in written() {
        let Shape::Object(object) = &schema.defs[&title].shape else {
            continue;
        };
        let Some((tag, value)) = object.tag() else {
            continue;
        };
        let again = round_trip(&title, &text).unwrap();
        let written = format!("\"{tag}\":\"{value}\"");
        assert!(again.starts_with(&format!("{{{written}")), "{again}");
        let top: serde_json::Map<String, Value> = serde_json::from_str(&again).unwrap();
        let inner: usize = top
            .values()
            .map(|value| value.to_string().matches(&written).count())
            .sum();
        assert_eq!(again.matches(&written).count(), 1 + inner, "{again}");
        tagged += 1;
    }
    assert!(tagged > 50);
}

#[test]
fn another_discriminator_is_an_error_that_says_so() {
    let read = |line: &str| {
        serde_json::from_str::<QuipuEvent>(line)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        read(r#"{"type":"nope"}"#),
        "unknown type `nope` at line 1 column 14"
    );
    assert!(read(r#"{"seq":1}"#).starts_with("missing field `type`"));
    assert!(
        read(r#"{"type":"summarization_retry_attempt_start","source":"x"}"#)
            .starts_with("unknown source `x`")
    );
    // A struct read directly, as inside of another one, checks its own.
    let error = serde_json::from_str::<TurnStartEvent>(r#"{"type":"turn_end"}"#).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("type is `turn_end` instead of `turn_start`")
    );
    let user = r#"{"type":"turn_end","message":{"role":"user","content":"","timestamp":0},"toolResults":[]}"#;
    let error = serde_json::from_str::<TurnEndEvent>(user).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("role is `user` instead of `assistant`")
    );
}

#[test]
fn variants_are_named_by_the_discriminator() {
    let event: QuipuEvent = TurnStartEvent {}.into();
    assert!(matches!(event, QuipuEvent::TurnStart(_)));
    assert_eq!(event.kind(), "turn_start");
    let delta: AssistantMessageEvent = TextDelta {
        content_index: 0,
        delta: "a".to_owned(),
    }
    .into();
    assert_eq!(delta.kind(), "text_delta");
    let line =
        r#"{"type":"summarization_retry_attempt_start","source":"compaction","reason":"manual"}"#;
    let event: QuipuEvent = serde_json::from_str(line).unwrap();
    assert!(matches!(
        event,
        QuipuEvent::SummarizationRetryAttemptStartCompaction(_)
    ));
    assert_eq!(serde_json::to_string(&event).unwrap(), line);
    assert_eq!(QUIPU_EVENT_TYPES.first(), Some(&"session"));
    assert_eq!(QUIPU_EVENT_TYPES.last(), Some(&"stream_end"));
    let unique: std::collections::BTreeSet<_> = QUIPU_EVENT_TYPES.iter().collect();
    assert_eq!(unique.len(), QUIPU_EVENT_TYPES.len());
}

#[test]
fn optional_fields_are_absent_never_null() {
    let event = AgentStartEvent {
        model: None,
        thinking_level: None,
    };
    assert_eq!(
        serde_json::to_string(&event).unwrap(),
        r#"{"type":"agent_start"}"#
    );
    assert!(
        serde_json::from_str::<AgentStartEvent>(r#"{"type":"agent_start","model":null}"#).is_err()
    );
    // Any JSON may be null, and is kept.
    let result = r#"{"content":[],"details":null}"#;
    assert_eq!(round_trip("ToolResult", result).unwrap(), result);
    // The one required nullable is written as null and may not be left out.
    let example = schema().defs["SubagentArbitrationEvent"]
        .examples
        .iter()
        .find(|example| example["final"].is_null())
        .unwrap()
        .to_string();
    assert_eq!(
        round_trip("SubagentArbitrationEvent", &example).unwrap(),
        example
    );
    let without = example.replace("\"final\":null,", "");
    assert!(round_trip("SubagentArbitrationEvent", &without).is_err());
}

#[test]
fn const_fields_hold_nothing_else() {
    let example = schema().defs["SessionHeader"].examples[0].clone();
    let mut header = example.clone();
    header["version"] = json!(4);
    let error = serde_json::from_value::<SessionHeader>(header).unwrap_err();
    assert_eq!(error.to_string(), "`4` instead of `3`");
    assert!(serde_json::from_value::<SessionHeader>(example).is_ok());
}

#[test]
fn payloads_keep_the_order_and_numbers_of_the_producer() {
    let line = r#"{"type":"tool_execution_start","toolCallId":"c","toolName":"t","args":{"z":1,"a":{"y":[1.5,-2,18446744073709551615],"b":null}}}"#;
    assert_eq!(round_trip("QuipuEvent", line).unwrap(), line);
    let cost = r#"{"input":0,"output":0.25,"cacheRead":0,"cacheWrite":0,"total":0.25}"#;
    assert_eq!(round_trip("Cost", cost).unwrap(), cost);
    assert_eq!(serde_json::to_string(&Number::from(2.0)).unwrap(), "2");
}

#[test]
fn enums_print_and_parse_as_on_the_wire() {
    for reason in StopReason::ALL {
        assert_eq!(reason.to_string(), reason.as_str());
        assert_eq!(reason.as_str().parse::<StopReason>().unwrap(), *reason);
        assert_eq!(
            serde_json::to_value(reason).unwrap(),
            json!(reason.as_str())
        );
    }
    assert!("finished".parse::<StopReason>().is_err());
}

#[test]
fn a_string_or_an_array_says_what_is_wrong_inside() {
    let text: UserContent = serde_json::from_str("\"a\"").unwrap();
    assert_eq!(text, UserContent::from("a".to_owned()));
    let error = serde_json::from_str::<UserContent>(r#"[{"type":"text"}]"#).unwrap_err();
    assert!(
        error.to_string().starts_with("missing field `text`"),
        "{error}"
    );
    let error = serde_json::from_str::<UserContent>("1").unwrap_err();
    assert!(
        error.to_string().contains("expected a string or an array"),
        "{error}"
    );
    let message = r#"{"role":"user","content":"a","timestamp":0}"#;
    assert!(serde_json::from_str::<AgentMessage>(message).is_ok());
}

/// A child's line inside a background agent's event, itself with a child: boxed, not endless.
#[test]
fn events_nest() {
    let mut line = json!({ "type": "turn_start" });
    for agent in ["a", "b", "c"] {
        line = json!({ "type": "background_agent_event", "agentId": agent, "event": line });
    }
    let line = line.to_string();
    assert_eq!(round_trip("QuipuEvent", &line).unwrap(), line);
}
