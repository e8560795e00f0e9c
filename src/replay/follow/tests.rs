use serde_json::{Value, json};

use super::*;
use crate::event::sample::{answer, pair, rich, update, user};

const TERM: Interrupt = Interrupt {
    name: "SIGTERM",
    exit_code: 143,
};

fn follow(lines: &[Value]) -> Follower {
    let mut follower = Follower::default();
    for line in lines {
        follower.observe(format!("{line}\n").into_bytes());
    }
    follower
}

/// The closing lines after these.
fn closed(lines: &[Value]) -> Vec<Value> {
    let mut buffer = Vec::new();
    follow(lines).close(TERM, &mut buffer);
    let text = String::from_utf8(buffer).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn kinds(lines: &[Value]) -> Vec<&str> {
    lines
        .iter()
        .filter_map(|line| line["type"].as_str())
        .collect()
}

fn native() -> Vec<Value> {
    let lines = rich().into_iter();
    lines
        .map(|event| serde_json::to_value(event).unwrap())
        .collect()
}

/// A stream up to the middle of an answer.
fn begun(header: Value) -> Vec<Value> {
    let mut lines = vec![
        header,
        json!({"type": "agent_start"}),
        json!({"type": "turn_start"}),
    ];
    lines.extend(pair(&user("go")));
    lines.extend([
        json!({"type": "message_start", "message": answer(&json!([]), "pending")}),
        update(&json!({"type": "text_start", "contentIndex": 0})),
        update(&json!({"type": "text_delta", "contentIndex": 0, "delta": "Hal"})),
    ]);
    lines
}

fn senpi_header() -> Value {
    json!({"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/"})
}

#[test]
fn a_native_stream_is_closed_wherever_it_is_cut() {
    let lines = native();
    for cut in 1..=lines.len() {
        let ends = closed(&lines[..cut]);
        let mut tracker = Tracker::default();
        for line in lines[..cut].iter().chain(&ends) {
            let event = serde_json::from_value(line.clone()).unwrap();
            assert_eq!(tracker.observe(&event), Ok(()), "cut at {cut}");
        }
        assert_eq!(tracker.place(), Place::End);
        let end = ends.last().unwrap();
        assert_eq!(end["outcome"], "interrupted");
        assert_eq!(end["exitCode"], 143);
        assert_eq!(end["error"]["message"], "The run was ended by SIGTERM.");
        assert_eq!(end["lines"], cut + ends.len());
    }
    assert!(closed(&[]).is_empty(), "nothing was begun");
}

#[test]
fn a_stream_at_its_end_or_within_a_line_is_left_alone() {
    let mut lines = native();
    let end = closed(&lines).pop().unwrap();
    lines.push(end);
    assert!(closed(&lines).is_empty());

    let mut follower = follow(&lines[..3]);
    follower.observe(br#"{"type":"tur"#.to_vec());
    let mut buffer = Vec::new();
    follower.close(TERM, &mut buffer);
    assert!(buffer.is_empty());
}

#[test]
fn stamps_go_on() {
    let mut lines = native();
    lines.truncate(7);
    for (seq, line) in lines.iter_mut().enumerate() {
        line["seq"] = json!(seq);
        line["at"] = json!(1000 + seq);
    }
    let ends = closed(&lines);
    assert!(ends.len() > 1);
    for (index, line) in ends.iter().enumerate() {
        assert_eq!(
            (&line["seq"], &line["at"]),
            (&json!(7 + index), &json!(1006))
        );
    }
}

#[test]
fn senpi_is_closed_without_a_terminal_line() {
    let ends = closed(&begun(senpi_header()));
    assert_eq!(kinds(&ends), ["message_end", "turn_end", "agent_end"]);
    assert_eq!(ends[0]["message"]["content"][0]["text"], "Hal");
    assert_eq!(ends[0]["message"]["stopReason"], "aborted");
}

#[test]
fn dreb_just_stops() {
    let mut lines = begun(senpi_header());
    lines[1]["model"] = json!({"provider": "p", "id": "m"});
    lines.truncate(5);
    assert!(closed(&lines).is_empty());
    assert_eq!(follow(&lines).exit_code(), 143);
    lines.push(json!({"type": "agent_end", "messages": []}));
    assert_eq!(follow(&lines).exit_code(), 0);
}

#[test]
fn lines_that_are_no_event_are_passed_over() {
    let mut lines = native();
    lines.truncate(9);
    let ends = closed(&lines);
    lines.insert(4, json!({"type": "from_the_future", "x": 1}));
    lines.insert(4, json!([1]));
    let mut others = closed(&lines);
    others.last_mut().unwrap()["lines"] = ends.last().unwrap()["lines"].clone();
    assert_eq!(kinds(&others), kinds(&ends));
}

#[test]
fn the_status_is_that_of_the_recording() {
    let mut lines = native();
    assert_eq!(
        follow(&lines).exit_code(),
        1,
        "a native stream without its end"
    );
    let mut end = closed(&lines).pop().unwrap();
    end["exitCode"] = json!(3);
    lines.push(end);
    assert_eq!(follow(&lines).exit_code(), 3);
    assert_eq!(follow(&begun(senpi_header())).exit_code(), 0);
    assert_eq!(follow(&[]).exit_code(), 0);
    assert_eq!(follow(&[json!("no stream")]).exit_code(), 0);
}
