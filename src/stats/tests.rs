use serde_json::{Value, json};

use super::*;
use crate::event::Number;
use crate::event::sample::{answer, rich, usage};
use crate::event::tracker::Tracker;

/// The lines of a stream.
fn written(lines: &[Value]) -> String {
    let mut text = String::new();
    for line in lines {
        text += &line.to_string();
        text.push('\n');
    }
    text
}

fn stats(lines: &[Value]) -> Stats {
    count(written(lines).as_bytes()).unwrap().stats()
}

fn of(lines: &Value) -> Stats {
    stats(lines.as_array().unwrap())
}

fn native() -> Vec<Value> {
    let lines = rich().into_iter();
    lines
        .map(|event| serde_json::to_value(event).unwrap())
        .collect()
}

#[test]
fn the_sums_are_those_of_the_tracker() {
    let mut tracker = Tracker::default();
    for event in rich() {
        tracker.observe(&event).unwrap();
    }
    let stats = stats(&native());
    assert_eq!(stats.usage, tracker.totals().usage);
    assert_eq!(stats.turns, tracker.totals().turns);
    assert_eq!(stats.wire, Some("quipu"));
    assert_eq!(stats.lines, rich().len() as u64);
    let counted: u64 = stats.events.iter().map(|row| row.lines).sum();
    assert_eq!(counted, stats.lines);
    let bytes: u64 = stats.events.iter().map(|row| row.bytes).sum();
    assert_eq!(bytes, stats.bytes);
    let share: f64 = stats.events.iter().map(|row| row.share).sum();
    assert!((share - 100.0).abs() < 0.5, "{share}");
}

#[test]
fn the_figures_of_a_rich_stream() {
    let stats = stats(&native());
    assert_eq!((stats.runs, stats.turns, stats.prompts), (5, 6, 2));
    let reasons: Vec<_> = stats
        .stop_reasons
        .iter()
        .map(|(k, n)| (k.as_str(), *n))
        .collect();
    assert_eq!(reasons, [("error", 4), ("stop", 1), ("toolUse", 1)]);
    let retries = Retries {
        count: 3,
        waited_ms: 3,
        healed: 1,
        failed: 1,
    };
    assert_eq!(stats.retries, retries);
    assert_eq!(
        stats.summary_retries,
        Summaries {
            count: 2,
            waited_ms: 2
        }
    );
    let overflow = Compactions {
        count: 2,
        aborted: 1,
        ..Compactions::default()
    };
    let threshold = Compactions {
        count: 2,
        done: 1,
        aborted: 0,
        tokens_before: 9,
    };
    let expected = [
        ("overflow".to_owned(), overflow),
        ("threshold".to_owned(), threshold),
    ];
    assert_eq!(stats.compactions, expected.into());
    let agents = Agents {
        count: 2,
        succeeded: 1,
        failed: 1,
        arbitrations: 2,
    };
    assert_eq!(stats.background_agents, agents);
    assert_eq!(stats.deltas.count, 8);
    assert_eq!(stats.tools.len(), 1);
    let bash = &stats.tools[0];
    assert_eq!(
        (bash.name.as_str(), bash.calls, bash.errors),
        ("bash", 2, 1)
    );
    assert_eq!((bash.timed, bash.source), (2, Some(TimeSource::Messages)));
    assert_eq!(stats.requests.compactions.total_tokens, 101);
    assert_eq!((stats.models.len(), stats.models[0].answers), (1, 6));
}

fn call(kind: &str, id: &str, at: Option<u64>) -> Value {
    let mut line = json!({"type": kind, "toolCallId": id, "toolName": "read", "isError": false});
    if let Some(at) = at {
        line["at"] = json!(at);
    }
    line
}

#[test]
fn tools_are_timed_by_stamps() {
    let stats = of(&json!([
        call("tool_execution_start", "a", Some(100)),
        call("tool_execution_start", "b", Some(110)),
        call("tool_execution_start", "c", Some(110)),
        call("tool_execution_end", "b", Some(115)),
        call("tool_execution_end", "a", Some(140)),
        call("tool_execution_end", "unknown", Some(150)),
    ]));
    let read = &stats.tools[0];
    assert_eq!((read.calls, read.timed, read.total_ms), (3, 2, 45));
    assert_eq!((read.median_ms, read.max_ms), (Some(5), Some(40)));
    assert_eq!(read.source, Some(TimeSource::Stamps));
    let duration = Duration {
        ms: 50,
        source: TimeSource::Stamps,
    };
    assert_eq!(stats.duration, Some(duration));
}

#[test]
fn tools_are_timed_by_messages_where_nothing_is_stamped() {
    let result = |id: &str, time: u64| {
        json!({"type": "message_end",
               "message": {"role": "toolResult", "toolCallId": id, "timestamp": time}})
    };
    let answered = |duration: Option<u64>| {
        let mut message = json!({"role": "assistant", "timestamp": 1000, "stopReason": "toolUse"});
        if let Some(duration) = duration {
            message["durationMs"] = json!(duration);
        }
        json!({"type": "message_end", "message": message})
    };
    for (duration, expected) in [(Some(30), 20), (None, 50)] {
        let stats = of(&json!([
            {"type": "session", "timestamp": "1970-01-01T00:00:00.000Z"},
            answered(duration),
            call("tool_execution_start", "a", None),
            call("tool_execution_end", "a", None),
            result("a", 1050),
        ]));
        let read = &stats.tools[0];
        assert_eq!((read.timed, read.total_ms), (1, expected));
        assert_eq!(read.source, Some(TimeSource::Messages));
        let ms = if duration.is_some() { 20 } else { 0 };
        let told = Duration {
            ms,
            source: TimeSource::Messages,
        };
        assert_eq!(stats.duration, Some(told), "the header does not count");
    }
}

#[test]
fn background_agents_are_counted_once() {
    let relayed =
        |event: Value| json!({"type": "background_agent_event", "agentId": "g", "event": event});
    let ended = json!({"type": "message_end", "message": answer(&json!([]), "stop")});
    let begin = |wire: Value| json!({"type": "session", "version": 3, "stream": wire});
    let child = [
        relayed(ended.clone()),
        relayed(relayed(ended.clone())),
        relayed(json!({"type": "turn_end", "message": answer(&json!([]), "stop")})),
    ];
    let mut native = vec![begin(json!({"wire": "quipu"}))];
    native.extend(child.clone());
    let end = json!({"type": "stream_end", "usage": usage(60, 0)});
    native.extend([relayed(end.clone()), relayed(relayed(end))]);
    assert_eq!(stats(&native).usage.total_tokens, 60);

    let mut dreb = vec![
        json!({"type": "session", "version": 3}),
        json!({"type": "agent_start", "model": {}}),
    ];
    dreb.extend(child);
    let stats = stats(&dreb);
    assert_eq!(stats.wire, Some("dreb"));
    assert_eq!(stats.usage.total_tokens, 2 * 30);
    assert_eq!(stats.requests.background_agents, stats.usage);
    assert!(stats.models.is_empty());
}

#[test]
fn broken_lines_and_unknown_types_are_counted() {
    let text = b"{\"type\":\"new\"}\r\n\n{\"type\":\n[1]\n\xff\n{\"no\":1}\n{\"type\":\"new\"}";
    let stats = count(&text[..]).unwrap().stats();
    assert_eq!((stats.lines, stats.bytes), (7, text.len() as u64));
    let unreadable = Unreadable {
        count: 4,
        first_line: Some(2),
    };
    assert_eq!(stats.unreadable, unreadable);
    assert_eq!(stats.events.len(), 1);
    assert_eq!((stats.events[0].lines, stats.events[0].bytes), (2, 30));
    let longest = Longest {
        line: 1,
        bytes: 16,
        kind: Some("new".to_owned()),
    };
    assert_eq!(stats.longest_line, Some(longest));
    assert!(!count(&b"x\ny\n"[..]).unwrap().is_read());
    assert!(!count(&b""[..]).unwrap().is_read());
}

#[test]
fn a_total_is_the_sum() {
    let text = written(&native());
    let one = count(text.as_bytes()).unwrap();
    let mut total = Counter::default();
    total.add(&one);
    assert_eq!(total.stats(), one.stats(), "of one it is the same");
    total.add(&one);
    let (sum, one) = (total.stats(), one.stats());
    assert_eq!(
        (sum.lines, sum.bytes, sum.turns),
        (2 * one.lines, 2 * one.bytes, 2 * one.turns)
    );
    assert_eq!(sum.usage.total_tokens, 2 * one.usage.total_tokens);
    assert_eq!(
        sum.usage.cost.total,
        Number::from(2.0 * one.usage.cost.total.get())
    );
    assert_eq!(sum.tools[0].timed, 2 * one.tools[0].timed);
    assert_eq!(sum.events[0].share.to_bits(), one.events[0].share.to_bits());
    assert_eq!(sum.wire, one.wire);
    let mut mixed = Counter::default();
    mixed.add(&count(&b"{\"type\":\"stream_end\"}\n"[..]).unwrap());
    mixed.add(&count(&b"{\"type\":\"agent_end\",\"messages\":[]}\n"[..]).unwrap());
    assert_eq!(mixed.stats().wire, None);
}

#[test]
fn sums_of_the_largest_numbers_stay_at_the_largest() {
    let most = u64::MAX;
    let lines = [
        json!({"type": "auto_retry_start", "delayMs": most}),
        json!({"type": "summarization_retry_scheduled", "delayMs": most}),
        json!({"type": "compaction_start", "reason": "overflow"}),
        json!({"type": "compaction_end", "reason": "overflow", "result": {"tokensBefore": most}}),
        json!({"type": "tool_execution_start", "toolCallId": "a", "toolName": "read", "seq": 0, "at": 0}),
        json!({"type": "tool_execution_end", "toolCallId": "a", "toolName": "read", "seq": 1, "at": most}),
    ];
    let one = count(written(&[&lines[..], &lines[..]].concat()).as_bytes()).unwrap();
    let mut total = Counter::default();
    total.add(&one);
    total.add(&one);
    let stats = total.stats();
    assert_eq!(stats.retries.waited_ms, most);
    assert_eq!(stats.summary_retries.waited_ms, most);
    assert_eq!(stats.compactions["overflow"].tokens_before, most);
    assert_eq!((stats.tools[0].total_ms, stats.tools[0].timed), (most, 4));
    assert_eq!(stats.duration.unwrap().ms, most);
}
