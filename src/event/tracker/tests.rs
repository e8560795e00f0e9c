use std::collections::BTreeSet;

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{CloseReason, OrderError, Place, Tracker};
use crate::event::sample::{answer, event, pair, rich, update, user};
use crate::event::{
    AgentMessage, AssistantContent, Number, QUIPU_EVENT_TYPES, QuipuEvent, StopReason,
    StreamEndEvent,
};

fn aborted() -> CloseReason {
    CloseReason {
        stop_reason: StopReason::Aborted,
        message: "Stopped.".to_owned(),
    }
}

fn end_of(tracker: &Tracker) -> QuipuEvent {
    let totals = tracker.totals();
    let end = StreamEndEvent {
        outcome: crate::event::Outcome::Completed,
        exit_code: 0,
        error: None,
        usage: totals.usage.clone(),
        turns: totals.turns,
        lines: 1,
    };
    end.into()
}

/// Takes a stream and fails at its first fault.
fn check(events: &[QuipuEvent]) -> Result<Tracker, OrderError> {
    let mut tracker = Tracker::default();
    for event in events {
        tracker.observe(event)?;
    }
    Ok(tracker)
}

/// The stream up to `cut`, closed.
fn closed(events: &[QuipuEvent], cut: usize) -> Vec<QuipuEvent> {
    let mut tracker = check(&events[..cut]).unwrap();
    let mut stream = events[..cut].to_vec();
    stream.extend(tracker.close(&aborted()));
    stream.push(end_of(&tracker));
    stream
}

fn types(events: &[QuipuEvent]) -> Vec<&'static str> {
    events.iter().map(QuipuEvent::kind).collect()
}

#[test]
fn the_sample_holds_every_event() {
    let mut known: BTreeSet<_> = QUIPU_EVENT_TYPES.iter().copied().collect();
    known.remove("stream_end");
    let held: BTreeSet<_> = types(&rich()).into_iter().collect();
    assert_eq!(held, known);
}

#[test]
fn a_whole_stream_is_legal_and_needs_no_ends() {
    let mut tracker = check(&rich()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(tracker.close(&aborted()), []);
    tracker.observe(&end_of(&tracker)).unwrap();
    assert_eq!(tracker.place(), Place::End);
    assert_eq!(tracker.close(&aborted()), []);
}

#[test]
fn messages_of_the_state_may_stand_in_the_end_of_a_run() {
    let with = |message: Value| {
        let mut events = rich();
        let end = events.iter_mut().find_map(|event| match event {
            QuipuEvent::AgentEnd(end) => Some(end),
            _ => None,
        });
        let message = serde_json::from_value(message).unwrap();
        end.unwrap().messages.insert(1, message);
        check(&events).map(drop)
    };
    let bash = json!({
        "role": "bashExecution", "command": "ls", "output": "", "cancelled": false,
        "truncated": false, "timestamp": 1,
    });
    let summaries = ["branchSummary", "compactionSummary"].map(|role| {
        let mut summary = json!({"role": role, "summary": "s", "timestamp": 1});
        summary["fromId"] = json!("root");
        summary["tokensBefore"] = json!(1);
        let other = ["tokensBefore", "fromId"][usize::from(role == "compactionSummary")];
        summary.as_object_mut().unwrap().remove(other);
        summary
    });
    for message in [bash].into_iter().chain(summaries) {
        assert_eq!(with(message), Ok(()));
    }
    assert!(with(user("never said")).is_err());
}

#[test]
fn every_cut_can_be_closed() {
    let events = rich();
    for cut in 1..=events.len() {
        let stream = closed(&events, cut);
        let last = events[cut - 1].kind();
        let tracker = check(&stream).unwrap_or_else(|error| panic!("cut after {last}: {error}"));
        assert_eq!(tracker.place(), Place::End);
    }
    assert_eq!(
        Tracker::default().close(&aborted()),
        [],
        "nothing can be said without a header"
    );
}

#[test]
fn sums_count_each_request_once() {
    let tracker = check(&rich()).unwrap();
    let totals = tracker.totals();
    // Six answers and one compaction; the child's turn is not one of ours.
    assert_eq!((totals.usage.input, totals.usage.output), (160, 121));
    assert_eq!(totals.usage.total_tokens, 281);
    assert_eq!(totals.usage.cost.total, Number::from(5.25));
    assert_eq!(totals.usage.reasoning, None);
    assert_eq!(totals.turns, 6);
}

/// The events that close a stream, each as its type and what matters of it.
fn ends_after(events: &[QuipuEvent], last: impl Fn(&QuipuEvent) -> bool) -> Vec<Value> {
    let cut = events.iter().position(last).unwrap() + 1;
    let stream = closed(events, cut);
    stream[cut..]
        .iter()
        .map(|event| serde_json::to_value(event).unwrap())
        .collect()
}

#[test]
fn a_cut_answer_ends_with_what_its_deltas_said() {
    let is_delta = |event: &QuipuEvent| match event {
        QuipuEvent::MessageUpdate(update) => {
            update.assistant_message_event.kind() == "toolcall_delta"
        }
        _ => false,
    };
    let ends = ends_after(&rich(), is_delta);
    let kinds: Vec<_> = ends
        .iter()
        .map(|end| end["type"].as_str().unwrap())
        .collect();
    let expected = [
        "message_end",
        "turn_end",
        "agent_end",
        "auto_retry_end",
        "stream_end",
    ];
    assert_eq!(kinds, expected);
    let message = &ends[0]["message"];
    assert_eq!(message["stopReason"], "aborted");
    assert_eq!(message["errorMessage"], "Stopped.");
    assert_eq!(message["usage"]["output"], 5, "as the latest update has it");
    let content = message["content"].as_array().unwrap();
    assert_eq!(content[2], json!({"type": "text", "text": "Hallo"}));
    assert_eq!(content[3]["arguments"], json!({"command": "l"}));
    assert_eq!(content[3]["incomplete"], true);
    assert_eq!(ends[1]["message"], *message);
    assert_eq!(ends[2]["messages"], json!([message]));
    assert_eq!(ends[2]["willRetry"], false);
    assert_eq!(ends[3]["finalError"], "Stopped.");
}

#[test]
fn running_tools_end_as_errors_and_all_get_results_in_source_order() {
    let ends = ends_after(&rich(), |event| event.kind() == "background_agent_start");
    let kinds: Vec<_> = ends
        .iter()
        .map(|end| end["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "tool_hook_status",
            "tool_execution_end",
            "message_start",
            "message_end",
            "message_start",
            "message_end",
            "turn_end",
            "agent_end",
            "background_agent_end",
            "stream_end",
        ]
    );
    let stopped = json!({"content": [{"type": "text", "text": "Stopped."}], "details": {}});
    assert_eq!(ends[1]["toolCallId"], "a");
    assert_eq!(ends[1]["result"], stopped);
    assert_eq!(ends[1]["isError"], true);
    assert_eq!(ends[3]["message"]["toolCallId"], "a");
    assert_eq!(
        ends[5]["message"]["content"][0]["text"], "yes",
        "what the tool that ended said"
    );
    assert_eq!(ends[8]["success"], false);
}

#[test]
fn a_turn_without_an_answer_gets_an_aborted_one() {
    let ends = ends_after(&rich(), |event| event.kind() == "turn_start");
    assert_eq!(ends[0]["message"]["provider"], "p");
    assert_eq!(ends[0]["message"]["stopReason"], "aborted");
    assert_eq!(ends[0]["message"], ends[1]["message"]);
}

#[test]
fn an_announced_retry_is_announced_and_given_up() {
    let is_announcement =
        |event: &QuipuEvent| matches!(event, QuipuEvent::AgentEnd(end) if end.will_retry);
    let ends = ends_after(&rich(), is_announcement);
    assert_eq!(ends[0]["type"], "auto_retry_start");
    assert_eq!(ends[0]["errorMessage"], "It broke.");
    assert_eq!(ends[1]["type"], "auto_retry_end");
    assert_eq!(ends[1]["success"], false);
}

fn stream(lines: impl IntoIterator<Item = Value>) -> Vec<QuipuEvent> {
    let header = rich().swap_remove(0);
    [header]
        .into_iter()
        .chain(lines.into_iter().map(event))
        .collect()
}

/// A run up to a place inside its first answer, then `rest`.
fn in_answer(rest: impl IntoIterator<Item = Value>) -> String {
    let start = [
        json!({"type": "agent_start"}),
        json!({"type": "turn_start"}),
        json!({"type": "message_start", "message": answer(&json!([]), "pending")}),
    ];
    check(&stream(start.into_iter().chain(rest)))
        .unwrap_err()
        .to_string()
}

#[test]
fn faults_say_what_was_expected() {
    let text = |delta: &str| update(&json!({"type": delta, "contentIndex": 0}));
    let end = |content: &Value, reason| json!({"type": "message_end", "message": answer(content, reason)});
    let says = |content: &str| json!([{"type": "text", "text": content}]);
    let piece = update(&json!({"type": "text_delta", "contentIndex": 0, "delta": "a"}));
    for (error, expected) in [
        (
            in_answer([json!({"type": "turn_start"})]),
            "event 5 (turn_start): not allowed inside an answer; expected message_update, or \
             message_end with a final stop reason",
        ),
        (
            in_answer([text("text_start"), end(&says(""), "stop")]),
            "event 6 (message_end): not allowed before the end of the content block 0",
        ),
        (
            in_answer([text("text_start"), piece.clone(), end(&says("b"), "error")]),
            "event 7 (message_end): content block 0 of the message differs from its deltas in \
             its text",
        ),
        (
            in_answer([piece.clone()]),
            "event 5 (message_update): content block 0 is not open",
        ),
        (
            in_answer([text("text_start"), text("thinking_start")]),
            "event 6 (message_update): content block 0 starts where block 1 is the next one",
        ),
        (
            in_answer([text("thinking_start"), piece]),
            "event 6 (message_update): content block 0 is not a text block",
        ),
        (
            in_answer([end(&json!([]), "pending")]),
            "event 5 (message_end): not allowed inside an answer; expected message_update, or \
             message_end with a final stop reason",
        ),
        (
            in_answer([
                end(&json!([]), "stop"),
                json!({
                    "type": "tool_execution_start", "toolCallId": "x", "toolName": "t", "args": {},
                }),
            ]),
            "event 6 (tool_execution_start): its toolCallId differs from the next call of the \
             answer",
        ),
        (
            in_answer([
                end(&json!([]), "stop"),
                json!({
                    "type": "turn_end", "message": answer(&json!([]), "length"), "toolResults": [],
                }),
            ]),
            "event 6 (turn_end): its message differs from the answer's message_end",
        ),
    ] {
        assert_eq!(error, expected);
    }
}

/// Whether a stream that some edit made of the sample is found out.
fn illegal(events: &[QuipuEvent]) -> bool {
    match check(events) {
        Err(_) => true,
        Ok(mut tracker) => {
            let end = end_of(&tracker);
            tracker.observe(&end).is_err()
        }
    }
}

/// Events that may come anywhere, any number of times.
fn is_free(event: &QuipuEvent) -> bool {
    matches!(
        event.kind(),
        "queue_update"
            | "session_info_changed"
            | "thinking_level_changed"
            | "thinking_level_clamped"
            | "system_prompt_change"
    )
}

/// Events without which a stream is still one, if not the same.
fn is_optional(events: &[QuipuEvent], at: usize) -> bool {
    let free = matches!(
        events[at].kind(),
        "compaction_progress"
            | "tool_execution_update"
            | "tasks_update"
            | "suggest_next"
            | "summarization_retry_attempt_start"
            | "subagent_arbitration"
            | "background_agent_event"
            | "parent_paused_for_background_agents"
    );
    let update =
        matches!(&events[at], QuipuEvent::ToolHookStatus(hook) if hook.phase.as_str() == "update");
    let alone = matches!(&events[at], QuipuEvent::CompactionEnd(end) if end.error_message.as_deref() == Some("again"));
    free || update || alone
}

#[test]
fn a_stream_without_one_of_its_events_is_illegal() {
    let events = rich();
    for at in 0..events.len() {
        let mut fewer = events.clone();
        let gone = fewer.remove(at);
        if !is_free(&gone) && !is_optional(&events, at) {
            assert!(illegal(&fewer), "without event {at}, {gone:?}");
        }
    }
}

#[test]
fn a_stream_with_one_of_its_events_twice_is_illegal() {
    let events = rich();
    for at in 0..events.len() {
        let mut more = events.clone();
        more.insert(at, events[at].clone());
        let may_repeat = is_optional(&events, at)
            && events[at].kind() != "parent_paused_for_background_agents"
            && !matches!(&events[at], QuipuEvent::SubagentArbitration(a) if a.status.as_str() == "failure");
        let again = events[at].kind() == "summarization_retry_scheduled";
        if !is_free(&events[at]) && !may_repeat && !again {
            assert!(illegal(&more), "event {at} twice, {:?}", events[at]);
        }
    }
}

#[test]
fn an_event_in_a_wrong_place_changes_nothing() {
    let mut tracker = check(&rich()[..3]).unwrap();
    let before = tracker.place();
    let [start, end] = pair(&user("x"));
    tracker.observe(&event(start)).unwrap_err();
    tracker.observe(&event(end)).unwrap_err();
    assert_eq!(tracker.place(), before);
    assert_eq!(tracker.close(&aborted()), []);
}

proptest! {
    /// Any words for the deltas, cut anywhere: the closing message agrees with them.
    #[test]
    fn a_cut_fold_agrees_with_its_closing_message(
        deltas in prop::collection::vec((0_u64..4, 0_u8..9, "[a-z{}\":\\\\]{0,4}"), 0..40),
    ) {
        let start = [
            json!({"type": "agent_start"}),
            json!({"type": "turn_start"}),
            json!({"type": "message_start", "message": answer(&json!([]), "pending")}),
        ];
        let mut tracker = check(&stream(start)).unwrap();
        let mut taken = 0;
        for (index, kind, text) in deltas {
            let delta = match kind {
                0 => json!({"type": "text_start", "contentIndex": index}),
                1 | 2 => json!({"type": "text_delta", "contentIndex": index, "delta": text}),
                3 => json!({"type": "thinking_start", "contentIndex": index}),
                4 => json!({"type": "thinking_delta", "contentIndex": index, "delta": text}),
                5 => json!({"type": "thinking_end", "contentIndex": index, "content": text}),
                6 => json!({
                    "type": "toolcall_start", "contentIndex": index, "id": "i", "toolName": "t",
                }),
                _ => json!({"type": "toolcall_delta", "contentIndex": index, "delta": text}),
            };
            let opens = matches!(kind, 0 | 3 | 6);
            if tracker.observe(&event(update(&delta))).is_ok() && opens {
                taken += 1;
            }
        }
        let ends = tracker.close(&aborted());
        let QuipuEvent::MessageEnd(end) = &ends[0] else { panic!("{ends:?}") };
        let AgentMessage::Assistant(message) = &end.message else { panic!("{end:?}") };
        prop_assert_eq!(message.content.len() as u64, taken);
        let calls = message.content.iter().filter_map(|block| match block {
            AssistantContent::ToolCall(call) => Some(call.id.as_str()),
            _ => None,
        });
        prop_assert!(calls.into_iter().all(|id| id == "i"));
        prop_assert_eq!(tracker.place(), Place::BetweenRuns);
    }
}
