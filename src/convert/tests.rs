//! Conversion between all wires, of samples and of what is made of them.

use serde_json::Value;

use super::fuzz::in_order;
use super::{ConvertError, Converter, Loss, Report};
use crate::contract::Wire;
use crate::contract::lines::Lines;
use crate::event::sample::rich;
use crate::event::tracker::{CloseReason, Tracker};
use crate::event::{Outcome, QuipuEvent, StopReason, StreamEndEvent};
use crate::sample::Sample;
use crate::wire::line;

fn convert(from: Wire, to: Wire, bytes: &[u8]) -> (String, Result<(), ConvertError>, Report) {
    let mut converter = Converter::new(from, to);
    let mut out = Vec::new();
    let mut lines = Lines::new(bytes);
    let mut told = Ok(());
    while let Some(frame) = lines.next_line().unwrap()
        && told.is_ok()
    {
        told = converter.line(&frame, &mut out);
    }
    let report = converter.finish(&mut out);
    (String::from_utf8(out).unwrap(), told, report)
}

fn good(from: Wire, to: Wire, bytes: &[u8]) -> (String, Report) {
    let (out, told, report) = convert(from, to, bytes);
    assert_eq!(told, Ok(()));
    if to == Wire::Quipu && from != to {
        in_order(&out, &report);
    }
    (out, report)
}

fn sample(wire: Wire, seed: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    Sample::new(wire).seed(seed).write(&mut bytes).unwrap();
    bytes
}

/// The stream of every event, cut after `len` events and closed as the program closes it.
fn cut(len: usize, outcome: Outcome) -> Vec<u8> {
    let events = rich();
    let mut tracker = Tracker::default();
    let mut bytes = Vec::new();
    let mut lines = 1;
    let mut write = |event: &QuipuEvent| {
        line::append(&mut bytes, event).unwrap();
        lines += 1;
    };
    for event in events.iter().take(len) {
        tracker.observe(event).unwrap();
        write(event);
    }
    let reason = CloseReason {
        stop_reason: StopReason::Aborted,
        message: "stop".to_owned(),
    };
    for event in tracker.close(&reason) {
        write(&event);
    }
    let end = StreamEndEvent {
        outcome,
        exit_code: 0,
        error: None,
        usage: tracker.totals().usage.clone(),
        turns: tracker.totals().turns,
        lines,
    };
    line::append(&mut bytes, &QuipuEvent::from(end)).unwrap();
    bytes
}

fn changed(report: &Report) -> Vec<String> {
    let bad = [
        Loss::UnknownEvent,
        Loss::UnknownValue,
        Loss::Malformed,
        Loss::Misplaced,
        Loss::Moved,
        Loss::Contradiction,
    ];
    let bad = report.entries().filter(|(loss, ..)| bad.contains(loss));
    bad.map(|(loss, name, count)| format!("{} {name} × {count}", loss.name()))
        .collect()
}

#[test]
fn a_sample_of_a_wire_is_itself_on_that_wire() {
    for wire in Wire::ALL {
        // Even seeds of the native wire are stamped, which is no part of an event.
        let text = sample(wire, 1);
        let (out, report) = good(wire, wire, &text);
        alike(&out, &text, wire.name());
        assert!(report.is_empty(), "{report}");
    }
}

#[test]
fn dreb_to_native_and_back_is_the_identity() {
    for seed in 0..2 {
        same_again(&sample(Wire::Dreb, seed), &format!("seed {seed}"));
        let native = sample(Wire::Quipu, seed);
        same_again(
            good(Wire::Quipu, Wire::Dreb, &native).0.as_bytes(),
            &format!("projected, seed {seed}"),
        );
    }
    for len in 1..=rich().len() {
        for outcome in [Outcome::Completed, Outcome::Interrupted] {
            let (dreb, _) = good(Wire::Quipu, Wire::Dreb, &cut(len, outcome));
            same_again(dreb.as_bytes(), &format!("cut at {len}, {outcome:?}"));
        }
    }
}

#[track_caller]
fn same_again(dreb: &[u8], what: &str) {
    let (native, report) = good(Wire::Dreb, Wire::Quipu, dreb);
    assert_eq!(changed(&report), Vec::<String>::new(), "{what}");
    let (again, _) = good(Wire::Quipu, Wire::Dreb, native.as_bytes());
    let dreb = std::str::from_utf8(dreb).unwrap();
    alike(&without_state(&again), without_state(dreb).as_bytes(), what);
}

/// A dreb stream without the messages of the state, which only its last line tells and which
/// therefore cannot come back to the runs that had them.
fn without_state(text: &str) -> String {
    fn strip(line: &mut Value) {
        let state = ["bashExecution", "branchSummary", "compactionSummary"];
        if line["type"] == "agent_end" {
            let messages = line["messages"].as_array_mut().unwrap();
            messages.retain(|message| !state.contains(&message["role"].as_str().unwrap()));
        } else if line["type"] == "background_agent_event" {
            strip(&mut line["event"]);
        }
    }
    let lines = text.lines().map(|line| {
        let mut line = serde_json::from_str(line).unwrap();
        strip(&mut line);
        format!("{line}\n")
    });
    lines.collect()
}

/// The first line that differs is enough to see.
#[track_caller]
fn alike(text: &str, expected: &[u8], what: &str) {
    let expected = std::str::from_utf8(expected).unwrap();
    for (number, (line, other)) in (1..).zip(text.lines().zip(expected.lines())) {
        assert_eq!(line, other, "{what}: line {number}");
    }
    assert_eq!(text.len(), expected.len(), "{what}");
}

#[test]
fn senpi_to_native_and_back_is_the_identity() {
    let mut streams: Vec<Vec<u8>> = (0..2).map(|seed| sample(Wire::Senpi, seed)).collect();
    streams.extend((1..=rich().len()).map(|len| {
        let native = cut(len, Outcome::Completed);
        good(Wire::Quipu, Wire::Senpi, &native).0.into_bytes()
    }));
    for senpi in streams {
        let (native, report) = good(Wire::Senpi, Wire::Quipu, &senpi);
        assert_eq!(changed(&report), Vec::<String>::new());
        let (again, _) = good(Wire::Quipu, Wire::Senpi, native.as_bytes());
        alike(&again, &senpi, "senpi");
    }
}

#[test]
fn what_the_other_wires_cannot_carry_is_listed() {
    let native = cut(rich().len(), Outcome::Completed);
    let (senpi, report) = good(Wire::Quipu, Wire::Senpi, &native);
    assert!(!senpi.contains("background_agent_start"));
    assert!(report.count(Loss::Event, "background_agent_start") > 0);
    assert_eq!(report.count(Loss::Event, "stream_end"), 1);
    assert_eq!(report.count(Loss::Field, "session/stream"), 1);
    let (_, report) = good(Wire::Quipu, Wire::Dreb, &native);
    assert!(
        report.count(Loss::Event, "tool_hook_status") > 0,
        "{report}"
    );
    assert!(report.count(Loss::Event, "agent_start") > 0);
    // What is only invented on the way is not told of.
    let (_, report) = good(Wire::Senpi, Wire::Dreb, senpi.as_bytes());
    assert_eq!(report.count(Loss::Invented, "stream_end"), 0);
    assert_eq!(report.count(Loss::Event, "stream_end"), 0);
}

#[test]
fn a_native_stream_that_is_cut_anywhere_is_ended_on_every_wire() {
    let native = sample(Wire::Quipu, 1);
    let text = String::from_utf8(native).unwrap();
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
    for end in ends.iter().take(ends.len() - 1).step_by(397) {
        // Whole lines, and the begin of one more.
        for cut in [*end, *end + 9] {
            for to in [Wire::Senpi, Wire::Dreb] {
                let (out, report) = good(Wire::Quipu, to, &text.as_bytes()[..cut]);
                assert!(report.interrupted);
                assert!(out.ends_with('\n'));
                good(to, Wire::Quipu, out.as_bytes());
            }
        }
    }
}

#[test]
fn a_line_that_is_none_is_told_with_its_place() {
    let head = r#"{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/"}"#;
    let lines = |more: &str| format!("{head}\n{{\"type\":\"agent_start\"}}\n{more}\n");
    for (more, message) in [
        (
            "{\"type\":\"turn_start\"",
            "line 3: EOF while parsing an object at column 20",
        ),
        ("[]", "line 3: a line is a JSON object"),
        (
            r#"{"type":"message_end","message":{"role":"user","content":[{"type":"text","text":1}],"timestamp":1}}"#,
            "line 3: message_end: /message/content/0/text: invalid type: integer `1`, expected a string",
        ),
        ("{\"type\":1}", "line 3: invalid type: integer"),
    ] {
        let (out, told, report) = convert(Wire::Senpi, Wire::Quipu, lines(more).as_bytes());
        let told = told.unwrap_err().to_string();
        assert!(told.starts_with(message), "{told}");
        assert!(report.interrupted);
        let last: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
        assert_eq!(last["outcome"], "interrupted");
    }
    let (out, told, _) = convert(Wire::Dreb, Wire::Quipu, b"{\"type\":\"turn_start\"}\n");
    assert_eq!(
        told.unwrap_err().to_string(),
        "line 1: turn_start: a stream begins with a session header"
    );
    assert_eq!(out, "");
}

#[test]
fn what_a_newer_producer_writes_is_passed_over() {
    let text = [
        r#"{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/","new":1}"#,
        r#"{"type":"news","of":"the day"}"#,
        r#"{"type":"agent_start"}"#,
        r#"{"type":"compaction_start","reason":"whim"}"#,
        r#"{"type":"agent_end","messages":[],"willRetry":false}"#,
    ];
    let (_, report) = good(
        Wire::Senpi,
        Wire::Dreb,
        (text.join("\r\n") + "\r\n").as_bytes(),
    );
    assert_eq!(report.count(Loss::UnknownEvent, "news"), 1);
    assert_eq!(report.count(Loss::UnknownField, "session/new"), 1);
    assert_eq!(
        report.count(Loss::UnknownValue, "compaction_start/reason"),
        1,
        "{report}"
    );
}

/// Recordings of an older senpi name no call at its begin, and none that runs.
#[test]
fn a_call_whose_begin_is_not_told_is_made_whole_by_its_end() {
    let message = |content: &str, stop: &str| {
        format!(
            r#"{{"role":"assistant","content":{content},"api":"a","provider":"p","model":"m","usage":{USAGE},"stopReason":"{stop}","timestamp":1}}"#
        )
    };
    let call = r#"{"type":"toolCall","id":"c","name":"read","arguments":{"path":"x"}}"#;
    let whole = message(&format!("[{call}]"), "length");
    let update = |delta: &str| {
        format!(r#"{{"type":"message_update","usage":{USAGE},"assistantMessageEvent":{delta}}}"#)
    };
    let text = [
        r#"{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/"}"#.to_owned(),
        r#"{"type":"agent_start"}"#.to_owned(),
        r#"{"type":"turn_start"}"#.to_owned(),
        format!(
            r#"{{"type":"message_start","message":{}}}"#,
            message("[]", "pending")
        ),
        update(r#"{"type":"toolcall_start","contentIndex":0}"#),
        update(r#"{"type":"toolcall_delta","contentIndex":0,"delta":"{\"path\":\"x\"}"}"#),
        update(&format!(
            r#"{{"type":"toolcall_end","contentIndex":0,"toolCall":{call}}}"#
        )),
        format!(r#"{{"type":"message_end","message":{whole}}}"#),
        format!(r#"{{"type":"turn_end","message":{whole},"toolResults":[]}}"#),
        format!(r#"{{"type":"agent_end","messages":[{whole}],"willRetry":false}}"#),
    ];
    let (out, report) = good(
        Wire::Senpi,
        Wire::Quipu,
        (text.join("\n") + "\n").as_bytes(),
    );
    assert_eq!(
        report.count(Loss::Malformed, "message_update/assistantMessageEvent"),
        1
    );
    assert_eq!(report.count(Loss::Misplaced, "message_update"), 1);
    assert_eq!(
        report.count(Loss::Contradiction, "message_end"),
        0,
        "{report}"
    );
    let told: Vec<&str> = out
        .lines()
        .filter(|line| line.contains("toolcall_"))
        .collect();
    assert_eq!(told.len(), 3);
    assert!(told[0].contains(r#""toolName":"read""#), "{}", told[0]);
    assert!(told[1].contains(r#"{\"path\":\"x\"}"#), "{}", told[1]);
    assert!(
        told[2].ends_with(r#""resolvedToolName":"read"}"#),
        "{}",
        told[2]
    );
}

const USAGE: &str = r#"{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}"#;
