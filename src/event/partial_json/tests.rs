use super::{JsonFault, MAX_DEPTH, PartialJson};
use proptest::prelude::*;
use serde_json::{Value, json};

fn read(pieces: &[&str]) -> PartialJson {
    let mut parser = PartialJson::default();
    for piece in pieces {
        parser.push(piece);
    }
    parser
}

fn so_far(text: &str) -> Value {
    Value::Object(read(&[text]).into_value())
}

#[test]
fn shows_what_is_certain() {
    for (text, value) in [
        ("", json!({})),
        ("  ", json!({})),
        (r#"{"pa"#, json!({})),
        (r#"{"path""#, json!({})),
        (r#"{"path":"#, json!({})),
        (r#"{"path":""#, json!({"path": ""})),
        (r#"{"path":"a\"#, json!({"path": "a"})),
        (r#"{"path":"a\u00e"#, json!({"path": "a"})),
        (r#"{"path":"a\u00e9"#, json!({"path": "aé"})),
        (r#"{"path":"\ud83d"#, json!({"path": ""})),
        (r#"{"path":"\ud83d\ude0"#, json!({"path": ""})),
        (r#"{"path":"\ud83d\ude00"#, json!({"path": "😀"})),
        (r#"{"n":12"#, json!({})),
        (r#"{"n":12,"#, json!({"n": 12})),
        (r#"{"b":tru"#, json!({})),
        (r#"{"b":true}"#, json!({"b": true})),
        (r#"{"a":[1,"x"#, json!({"a": [1, "x"]})),
        (r#"{"a":[1,{"b":"#, json!({"a": [1, {}]})),
        (r#"{"a":1,"a":["x"#, json!({"a": ["x"]})),
    ] {
        assert_eq!(so_far(text), value, "{text}");
    }
}

#[test]
fn a_repeated_key_keeps_the_first_place_and_the_last_value() {
    let text = r#"{"a":1,"b":{"x":1,"x":{"y":"1"},"z":2},"a":{"deep":"er"}}"#;
    let whole: Value = serde_json::from_str(text).unwrap();
    let pieces: Vec<String> = text.chars().map(String::from).collect();
    let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
    let value = Value::Object(read(&pieces).finish().unwrap());
    assert_eq!(value.to_string(), whole.to_string());
}

#[test]
fn lone_surrogates_are_replaced() {
    for (text, value) in [
        (r#"{"s":"\ud83d"}"#, "\u{fffd}"),
        (r#"{"s":"\ud83dx"}"#, "\u{fffd}x"),
        (r#"{"s":"\ud83d\n"}"#, "\u{fffd}\n"),
        (r#"{"s":"\ude00"}"#, "\u{fffd}"),
        (r#"{"s":"\ud83d\ud83d\ude00"}"#, "\u{fffd}😀"),
        (r#"{"s":"\ud83d\u0041"}"#, "\u{fffd}A"),
    ] {
        assert_eq!(read(&[text]).finish().unwrap()["s"], value, "{text}");
    }
    let key = read(&[r#"{"\ud83d":1}"#]).finish().unwrap();
    assert!(key.contains_key("\u{fffd}"));
}

#[test]
fn faults_name_place_and_need() {
    let syntax = |at, expected| JsonFault::Syntax { at, expected };
    for (text, fault) in [
        ("[1]", JsonFault::NotAnObject),
        ("null", JsonFault::NotAnObject),
        (r#"{"a":1"#, JsonFault::Incomplete),
        (r#"{"a":1} x"#, syntax(8, "the end of the text")),
        (r#"{"a":1}{}"#, syntax(7, "the end of the text")),
        ("{a:1}", syntax(1, "a key or `}`")),
        (r#"{"a":1,}"#, syntax(7, "a key")),
        (r#"{"a" 1}"#, syntax(5, "`:`")),
        (r#"{"a":}"#, syntax(5, "a value")),
        (r#"{"a":[1}"#, syntax(7, "`,` or `]`")),
        ("{\"a\":\"\n\"}", syntax(6, "no bare control character")),
        (r#"{"a":"\q"}"#, syntax(7, "an escape")),
        (r#"{"a":"\u00g0"}"#, syntax(10, "a hexadecimal digit")),
        (
            r#"{"a":truth}"#,
            syntax(10, "a number, true, false or null before this"),
        ),
        (
            r#"{"a":01}"#,
            syntax(7, "a number, true, false or null before this"),
        ),
    ] {
        let (first, second) = text.split_at(text.len() / 2);
        assert_eq!(read(&[first, second]).finish(), Err(fault), "{text}");
    }
    assert_eq!(so_far("[1]"), json!({}));
    assert_eq!(so_far(r#"{"a":1,"b":oops,"c":2}"#), json!({"a": 1}));
}

#[test]
fn depth_is_bounded() {
    let nested = |depth: usize| {
        let inner = depth - 1;
        format!("{{\"a\":{}{}}}", "[".repeat(inner), "]".repeat(inner))
    };
    assert!(read(&[&nested(MAX_DEPTH)]).finish().is_ok());
    let at = MAX_DEPTH + 4;
    assert_eq!(
        read(&[&nested(MAX_DEPTH + 1)]).finish(),
        Err(JsonFault::TooDeep { at })
    );
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
        "[\"\\\\/\u{8}\n\u{2028}é😀a]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec(("[a-c\"\\\\é]{0,3}", inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// The text with every character outside ASCII as `\u` escapes.
fn escaped(text: &str) -> String {
    let one = |unit| match u8::try_from(unit) {
        Ok(byte) if byte.is_ascii() => char::from(byte).to_string(),
        _ => format!("\\u{unit:04x}"),
    };
    text.encode_utf16().map(one).collect()
}

/// Whether `later` can have grown out of `earlier`.
fn grew(earlier: &Value, later: &Value) -> bool {
    match (earlier, later) {
        (Value::String(a), Value::String(b)) => b.starts_with(a.as_str()),
        (Value::Array(a), Value::Array(b)) => {
            a.len() <= b.len() && a.iter().zip(b).all(|(a, b)| grew(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.iter().all(|(k, a)| b.get(k).is_some_and(|b| grew(a, b)))
        }
        _ => earlier == later,
    }
}

proptest! {
    #[test]
    fn every_split_gives_what_serde_json_gives(
        members in prop::collection::vec(("[a-d]{1,2}", any_json()), 0..5),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        ascii: bool,
        pretty: bool,
    ) {
        let value = Value::Object(members.into_iter().collect());
        let mut text = if pretty {
            serde_json::to_string_pretty(&value).unwrap()
        } else {
            value.to_string()
        };
        if ascii {
            text = escaped(&text);
        }
        let mut cuts: Vec<usize> = cuts
            .iter()
            .map(|cut| text.floor_char_boundary(cut.index(text.len())))
            .collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let mut parser = PartialJson::default();
        let mut earlier = Value::Object(parser.value().clone());
        for pair in cuts.windows(2) {
            parser.push(&text[pair[0]..pair[1]]);
            let later = Value::Object(parser.value().clone());
            prop_assert!(grew(&earlier, &later), "{earlier} then {later}");
            earlier = later;
        }
        let expected: Value = serde_json::from_str(&text).unwrap();
        let got = Value::Object(parser.finish().unwrap());
        prop_assert_eq!(got.to_string(), expected.to_string());
    }

    #[test]
    fn garbage_never_panics_and_never_passes_for_json(
        start in r#"(\{("a":)?)?"#,
        rest in r#"[{}\[\]",:\\ud80c0-9e.+a-f \ntrue\u{1}é]{0,24}"#,
        cut: prop::sample::Index,
    ) {
        let text = start + &rest;
        let at = text.floor_char_boundary(cut.index(text.len() + 1));
        let split = read(&[&text[..at], &text[at..]]);
        prop_assert_eq!(&split, &{
            let mut whole = read(&[&text]);
            // Where the pieces began is all that may differ.
            whole.parser.before = split.parser.before;
            whole
        });
        let lone_surrogate = text.contains("\\ud");
        match (split.finish(), serde_json::from_str::<Value>(&text)) {
            (Ok(ours), Ok(theirs)) => prop_assert_eq!(Value::Object(ours), theirs),
            (Ok(_), Err(_)) => prop_assert!(lone_surrogate || text.trim().is_empty()),
            (Err(_), Ok(theirs)) => prop_assert!(!theirs.is_object()),
            (Err(_), Err(_)) => {}
        }
    }
}
