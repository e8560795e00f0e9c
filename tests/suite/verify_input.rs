//! What the verifier says of a stream before its order: frames, JSON, the header and the wire.

use quipu::contract::json::MAX_DEPTH;
use quipu::contract::verify::{Options, Severity};
use quipu::wire::Wire;
use serde_json::{Value, json};

use crate::sample::{bytes, stream};
use crate::verify::{at, edited, first, ours, verify};

#[test]
fn frames_are_judged() {
    let whole = bytes(&stream());
    let rules = |bytes: &[u8]| -> Vec<String> {
        let (findings, _) = verify(bytes, ours(Wire::Quipu));
        let errors = findings
            .iter()
            .filter(|finding| finding.severity == Severity::Error);
        errors
            .map(|finding| format!("{} {}", finding.line, finding.rule))
            .collect()
    };
    let text = String::from_utf8(whole.clone()).unwrap();
    let replaced = |from: &str, to: &[u8]| {
        let at = text.find(from).unwrap();
        [&whole[..at], to, &whole[at + from.len()..]].concat()
    };
    assert_eq!(rules(b""), ["0 wire/empty"]);
    assert_eq!(
        rules(&[&b"\xEF\xBB\xBF"[..], &whole].concat()),
        ["1 framing/byte_order_mark"]
    );
    assert_eq!(
        rules(&replaced("\n", b"\r\n")),
        ["1 framing/carriage_return"]
    );
    assert_eq!(rules(&replaced("\n", b"\n\n")), ["2 framing/blank"]);
    assert_eq!(rules(&replaced("hello", b"hel\xfflo")), ["4 framing/utf8"]);
    assert_eq!(rules(&replaced("}\n", b"}")), ["1 framing/two_values"]);
    assert_eq!(rules(&replaced("\"hello\"", b"hello")), ["4 json/syntax"]);
    let (findings, _) = verify(&replaced("hello", b"hel\xfflo"), ours(Wire::Quipu));
    let offset = text.find("hello").unwrap() + 3;
    let utf8 = findings
        .iter()
        .find(|finding| finding.rule == "framing/utf8")
        .unwrap();
    assert!(
        utf8.message
            .ends_with(&format!("(byte {offset} of the stream)")),
        "{utf8}"
    );
}

#[test]
fn a_reader_of_newer_streams_gets_notes() {
    let newer = edited(|lines| {
        lines[1]["mood"] = "good".into();
        let index = at(lines, "turn_start", 1);
        lines.insert(index, json!({ "type": "weather", "sky": "blue" }));
        let last = lines.len();
        lines[last - 1]["lines"] = last.into();
        lines[last - 1]["error"]["code"] = "bad_luck".into();
    });
    let open = Options {
        open: true,
        ..Options::default()
    };
    let (findings, summary) = verify(&bytes(&newer), open);
    assert!(summary.valid, "{findings:#?}");
    let rules: Vec<&str> = findings
        .iter()
        .map(|finding| finding.rule.as_str())
        .collect();
    let new = ["schema/additionalProperties", "schema/oneOf", "schema/enum"];
    assert!(new.iter().all(|rule| rules.contains(rule)), "{rules:?}");
    assert_eq!(first(&newer).0, "2 schema/additionalProperties");
    // A stream that says that it is newer is read in the same way.
    let mut told = newer.clone();
    told[0]["stream"]["version"] = "1.99.0".into();
    let (findings, summary) = verify(&bytes(&told), Options::default());
    assert!(summary.valid, "{findings:#?}");
    // What is known still has to be right.
    let mut wrong = newer;
    wrong[1]["type"] = Value::Null;
    assert!(!verify(&bytes(&wrong), open).1.valid);
}

/// Findings as `LINE RULE SEVERITY`.
fn found(bytes: &[u8], options: Options) -> Vec<String> {
    let (findings, _) = verify(bytes, options);
    findings
        .iter()
        .map(|found| format!("{} {} {}", found.line, found.rule, found.severity.name()))
        .collect()
}

#[test]
fn a_line_may_nest_up_to_a_limit() {
    let deep = |levels: usize| format!("{}{}\n", "[".repeat(levels), "]".repeat(levels));
    let rules = |levels| found(deep(levels).as_bytes(), ours(Wire::Quipu));
    assert!(
        rules(MAX_DEPTH)[0].contains("schema/"),
        "{:?}",
        rules(MAX_DEPTH)
    );
    assert_eq!(rules(MAX_DEPTH + 1)[0], "1 json/depth error");
    let (findings, _) = verify(deep(MAX_DEPTH + 1).as_bytes(), ours(Wire::Quipu));
    assert!(findings[0].message.contains("127"), "{}", findings[0]);
}

#[test]
fn a_header_is_held_to_its_form_and_time() {
    let form = edited(|lines| lines[0]["stream"]["wire"] = "senpi".into());
    for options in [ours(Wire::Quipu), Options::default()] {
        let rules = found(&bytes(&form), options);
        assert!(
            rules.contains(&"1 header/wire error".to_owned()),
            "{rules:?}"
        );
    }
    let time = edited(|lines| lines[0]["timestamp"] = "yesterday".into());
    let rules = found(&bytes(&time), ours(Wire::Quipu));
    assert!(
        rules.contains(&"1 header/timestamp note".to_owned()),
        "{rules:?}"
    );
    let header = json!({
        "type": "session", "version": 3, "id": "s", "timestamp": "2026-13-01", "cwd": "/"
    });
    let rules = found(&bytes(&[header]), Options::default());
    assert_eq!(rules[0], "1 header/timestamp note", "{rules:?}");
    let sound = found(&bytes(&stream()), ours(Wire::Quipu));
    assert!(
        sound.iter().all(|rule| rule == "1 header/schema note"),
        "{sound:?}"
    );
}

/// Lines wait until the wire is known; what is found of their frames waits with them.
#[test]
fn findings_come_in_the_order_of_lines() {
    let header = json!({
        "type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00.000Z",
        "cwd": "/", "note": 1
    });
    let text = format!("{header}\n\n{{\"type\":\"turn_start\"}}\n{{\n");
    for end in ["", "{\"type\":\"agent_end\",\"messages\":[]}\n"] {
        let (findings, _) = verify(format!("{text}{end}").as_bytes(), Options::default());
        let lines: Vec<u64> = findings.iter().map(|found| found.line).collect();
        assert!(lines.is_sorted() && lines.len() > 3, "{findings:#?}");
    }
}

/// Sets each number of that name, wherever it is; gives whether there is one.
fn set_all(value: &mut Value, key: &str, number: u64) -> bool {
    let mut found = false;
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                if name == key && value.is_number() {
                    *value = number.into();
                    found = true;
                } else {
                    found |= set_all(value, key, number);
                }
            }
        }
        Value::Array(list) => {
            for value in list {
                found |= set_all(value, key, number);
            }
        }
        _ => {}
    }
    found
}

#[test]
fn the_largest_numbers_are_judged() {
    let keys = [
        "seq",
        "at",
        "lines",
        "turns",
        "input",
        "totalTokens",
        "timestamp",
    ];
    for key in keys {
        let mut lines = stream();
        for (index, line) in lines.iter_mut().enumerate() {
            line["seq"] = index.into();
            line["at"] = index.into();
        }
        let found: Vec<bool> = lines
            .iter_mut()
            .map(|line| set_all(line, key, u64::MAX))
            .collect();
        assert!(found.contains(&true), "{key} is nowhere");
        verify(&bytes(&lines), ours(Wire::Quipu));
    }
}

#[test]
fn half_a_surrogate_pair_is_told_and_read() {
    let text = String::from_utf8(bytes(&stream())).unwrap();
    let half = text.replacen("hello", "hello \\ud83d", 1);
    let rules = found(half.as_bytes(), ours(Wire::Quipu));
    assert!(
        rules.contains(&"4 json/surrogate error".to_owned()),
        "{rules:?}"
    );
    assert!(
        rules.iter().all(|rule| !rule.contains("json/syntax")),
        "{rules:?}"
    );
    let header = "{\"type\":\"session\",\"version\":3,\"id\":\"\\udead\",\"timestamp\":\
                  \"2026-01-01T00:00:00.000Z\",\"cwd\":\"/\"}\n";
    let options = Options {
        wire: Some(Wire::Senpi),
        ..Options::default()
    };
    assert_eq!(
        found(header.as_bytes(), options)[0],
        "1 json/surrogate note"
    );
}

#[test]
fn lines_are_counted_whatever_they_are() {
    let mut lines = stream();
    lines.insert(3, json!({ "type": "new_thing" }));
    lines.last_mut().unwrap()["lines"] = 9999.into();
    let open = Options {
        open: true,
        ..ours(Wire::Quipu)
    };
    let (findings, summary) = verify(&bytes(&lines), open);
    assert!(!summary.valid);
    let error = findings
        .iter()
        .find(|found| found.severity == Severity::Error);
    assert_eq!(error.unwrap().pointer, "/lines");
}

#[test]
fn names_of_any_length_are_shown_short() {
    let long = "x".repeat(1_000_000);
    let line = json!({ "type": long, long.clone(): 1 });
    let (findings, _) = verify(&bytes(&[line]), ours(Wire::Quipu));
    assert!(!findings.is_empty());
    for found in findings {
        assert!(
            found.to_string().len() < 3000,
            "{}",
            found.to_string().len()
        );
    }
}
