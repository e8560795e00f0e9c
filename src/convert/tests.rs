//! Conversion between all wires, of samples and of what is made of them.

mod listed;

use serde_json::Value;

use super::fuzz::in_order;
use super::{ConvertError, Converter, Loss, Report};
use crate::contract::Wire;
use crate::contract::lines::Lines;
use crate::contract::verify::{Options, Verifier};
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
            "line 3: is not JSON: EOF while parsing an object at column 20",
        ),
        ("[]", "line 3: a line is a JSON object"),
        (
            r#"{"type":"message_end","message":{"role":"user","content":[{"type":"text","text":1}],"timestamp":1}}"#,
            "line 3: message_end: /message/content/0/text: invalid type: integer `1`, expected a string",
        ),
        ("{\"type\":1}", "line 3: /type: invalid type: integer"),
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

/// A line is another stream's header, on each way; the first stream is whole.
#[test]
fn a_second_stream_ends_the_first() {
    for from in Wire::ALL {
        for to in Wire::ALL {
            let one = sample(from, 1);
            // With the empty one behind the last line feed.
            let line = one.split(|byte| *byte == b'\n').count() as u64;
            let (out, told, report) = convert(from, to, &[one.clone(), one.clone()].concat());
            assert_eq!(told, Err(ConvertError::Another { line }));
            assert!(!report.interrupted, "{from:?} to {to:?}");
            alike(&out, good(from, to, &one).0.as_bytes(), "the first");
        }
    }
}

#[test]
fn stamps_are_left_out_of_all_lines_alike() {
    let (_, report) = good(Wire::Quipu, Wire::Senpi, &sample(Wire::Quipu, 0));
    assert!(report.count(Loss::Field, "*/seq") > 100, "{report}");
    assert_eq!(
        report.count(Loss::Field, "*/seq"),
        report.count(Loss::Field, "*/at")
    );
    assert_eq!(report.count(Loss::UnknownField, "agent_start/seq"), 0);
    let told = report.to_string();
    assert!(told.contains("left out: event stream_end × 1"), "{told}");
}

/// An answer of one block, and its turn, on the senpi wire.
fn answer_of(updates: &[&str], block: &str, stop: &str, ends_with: &str) -> Vec<u8> {
    let message = |content: &str, stop: &str, usage: &str| {
        format!(
            r#"{{"role":"assistant","content":{content},"api":"a","provider":"p","model":"m","usage":{usage},"stopReason":"{stop}","timestamp":1}}"#
        )
    };
    let whole = message(&format!("[{block}]"), stop, ends_with);
    let mut text = vec![
        r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}"#.to_owned(),
        r#"{"type":"agent_start"}"#.to_owned(),
        r#"{"type":"turn_start"}"#.to_owned(),
        format!(
            r#"{{"type":"message_start","message":{}}}"#,
            message("[]", "pending", USAGE)
        ),
    ];
    text.extend(updates.iter().map(|delta| {
        let usage = USAGE.replacen("\"output\":0", "\"output\":1", 1);
        format!(r#"{{"type":"message_update","usage":{usage},"assistantMessageEvent":{delta}}}"#)
    }));
    text.extend([
        format!(r#"{{"type":"message_end","message":{whole}}}"#),
        format!(r#"{{"type":"turn_end","message":{whole},"toolResults":[]}}"#),
        format!(r#"{{"type":"agent_end","messages":[{whole}],"willRetry":false}}"#),
    ]);
    (text.join("\n") + "\n").into_bytes()
}

/// The rules of a native stream that a conversion breaks.
fn broken_rules(out: &str) -> Vec<String> {
    let mut verifier = Verifier::new(Options {
        wire: Some(Wire::Quipu),
        ..Options::default()
    });
    let mut findings = Vec::new();
    let mut lines = Lines::new(out.as_bytes());
    while let Some(frame) = lines.next_line().unwrap() {
        verifier.line(&frame, &mut findings);
    }
    verifier.finish(&mut findings);
    findings.iter().map(ToString::to_string).collect()
}

/// Some services write blank lines after each part of a thought and none at its end.
#[test]
fn blank_thinking_that_its_end_does_not_have_is_left_out() {
    let usage = &USAGE.replacen("\"output\":0", "\"output\":2", 1);
    let piece =
        |text: &str| format!(r#"{{"type":"thinking_delta","contentIndex":0,"delta":{text:?}}}"#);
    let end =
        |text: &str| format!(r#"{{"type":"thinking_end","contentIndex":0,"content":{text:?}}}"#);
    let start = r#"{"type":"thinking_start","contentIndex":0}"#;
    for (whole, left_out) in [("A.\n\nB.", 1), ("A.\n\nB.\n\n", 0)] {
        let stream = answer_of(
            &[
                start,
                &piece("A."),
                &piece("\n\n"),
                &piece("B."),
                &piece("\n\n"),
                &end(whole),
            ],
            &format!(r#"{{"type":"thinking","thinking":{whole:?}}}"#),
            "stop",
            usage,
        );
        let (out, report) = good(Wire::Senpi, Wire::Quipu, &stream);
        let name = "message_update (blank thinking)";
        assert_eq!(report.count(Loss::Misplaced, name), left_out, "{report}");
        assert_eq!(report.count(Loss::Contradiction, "message_end"), 0);
        assert_eq!(broken_rules(&out), Vec::<String>::new());
    }
}

/// A producer that mends cut arguments and runs them does not say that they were cut.
#[test]
fn a_call_that_was_cut_is_incomplete_in_its_message_too() {
    let usage = &USAGE.replacen("\"output\":0", "\"output\":2", 1);
    let call = r#"{"type":"toolCall","id":"c","name":"read","arguments":{"path":"x"}}"#;
    let stream = answer_of(
        &[
            r#"{"type":"toolcall_start","contentIndex":0,"id":"c","toolName":"read"}"#,
            r#"{"type":"toolcall_delta","contentIndex":0,"delta":"{\"path\":\"x\",\"li"}"#,
            &format!(r#"{{"type":"toolcall_end","contentIndex":0,"toolCall":{call}}}"#),
        ],
        call,
        "length",
        usage,
    );
    let (out, report) = good(Wire::Senpi, Wire::Quipu, &stream);
    let name = "message_end/message/content/*/incomplete";
    assert_eq!(report.count(Loss::Changed, name), 1, "{report}");
    assert_eq!(broken_rules(&out), Vec::<String>::new());
}

#[test]
fn usage_that_shrinks_is_a_contradiction() {
    let updates = [
        r#"{"type":"text_start","contentIndex":0}"#,
        r#"{"type":"text_end","contentIndex":0,"content":""}"#,
    ];
    let text = r#"{"type":"text","text":""}"#;
    let name = "message_end/message/usage";
    for (usage, count) in [
        (USAGE.to_owned(), 1),
        (USAGE.replacen("\"output\":0", "\"output\":1", 1), 0),
    ] {
        let stream = answer_of(&updates, text, "stop", &usage);
        let (out, report) = good(Wire::Senpi, Wire::Quipu, &stream);
        assert_eq!(report.count(Loss::Contradiction, name), count, "{report}");
        assert_eq!(broken_rules(&out).len() as u64, count);
    }
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
