//! The parts that need no model.

use serde_json::json;

use super::files::Files;
use super::*;
use crate::event::{BashExecutionMessage, CustomMessage, UserMessage};
use crate::model::tests::{answer, call, from, result, text, user};

fn context(messages: Vec<AgentMessage>) -> Vec<ContextEntry> {
    let entry = |(at, message)| ContextEntry {
        id: format!("{at}"),
        message,
    };
    messages.into_iter().enumerate().map(entry).collect()
}

fn said(words: &str) -> AgentMessage {
    answer(StopReason::Stop, vec![text(words)])
}

fn counted(total: u64) -> AgentMessage {
    let AgentMessage::Assistant(mut answer) = said("x") else {
        unreachable!()
    };
    answer.usage.total_tokens = total;
    answer.into()
}

fn summary(text: &str) -> AgentMessage {
    from::<CompactionSummaryMessage>(json!({
        "role": "compactionSummary", "summary": text, "tokensBefore": 9, "timestamp": 1,
        "details": { "readFiles": ["a", "b"], "modifiedFiles": ["c"] },
    }))
}

/// 40 characters, which count as 10 tokens.
const TEN: &str = "0123456789012345678901234567890123456789";

#[test]
fn tokens_are_characters_by_four_and_images_have_their_price() {
    let image = json!({"role": "user", "timestamp": 1, "content": [
        {"type": "text", "text": "12345"}, {"type": "image", "data": "AA==", "mimeType": "image/png"}]});
    let hidden = json!({"role": "bashExecution", "command": TEN, "output": TEN, "cancelled": false,
        "truncated": false, "timestamp": 1, "excludeFromContext": true});
    for (message, tokens) in [
        (user(TEN), 10),
        (user("1"), 1),
        (user("ääää"), 1),
        (from::<UserMessage>(image), 1202),
        (answer(StopReason::ToolUse, vec![call("a", "read")]), 4),
        (answer(StopReason::Error, vec![text(TEN)]), 0),
        (result("a", TEN, false), 10),
        (from::<BashExecutionMessage>(hidden), 0),
        (summary(TEN), 10),
    ] {
        assert_eq!(estimate::tokens(&message), tokens, "{message:?}");
    }
}

#[test]
fn the_last_count_of_the_service_is_the_base_of_the_estimate() {
    let all = context(vec![
        user(TEN),
        counted(500),
        user(TEN),
        answer(StopReason::Error, vec![text(TEN)]),
        user(TEN),
    ]);
    assert_eq!(estimate::context_tokens(&all, 0, Scale::default()), 520);
    // That answer was given to another context.
    assert_eq!(estimate::context_tokens(&all, 2, Scale::default()), 31);
    let uncounted = context(vec![user(TEN), counted(0), user(TEN)]);
    assert_eq!(
        estimate::context_tokens(&uncounted, 0, Scale::default()),
        21
    );
}

fn scale(asked: AgentMessage, input: u64, overhead: u64) -> Option<Scale> {
    let AgentMessage::Assistant(mut answer) = said("x") else {
        unreachable!()
    };
    answer.usage.input = input;
    // Thought that is not shown says nothing of how text is counted.
    answer.usage.total_tokens = input + 9000;
    Scale::of(&context(vec![asked, answer.into()]), 0, overhead)
}

#[test]
fn estimates_are_scaled_by_what_the_service_counted() {
    let long = || user(&TEN.repeat(100));
    for (input, overhead, of_ten) in [
        (2000, 0, 20),
        (2000, 200, 17),
        // Between the estimate itself and a token for each character.
        (800, 0, 10),
        (1900, 900, 10),
        (9000, 0, 40),
    ] {
        let scale = scale(long(), input, overhead).unwrap();
        assert_eq!(scale.up(10), of_ten, "{input} {overhead}");
        assert_eq!(scale.down(scale.up(1000)), 1000);
    }
    // Too little to tell, or not counted.
    assert_eq!(scale(user(TEN), 2000, 0), None);
    assert_eq!(scale(long(), 0, 0), None);
}

#[test]
fn a_service_that_gives_no_total_is_counted_by_its_parts() {
    let AgentMessage::Assistant(mut message) = said("x") else {
        unreachable!()
    };
    (message.usage.input, message.usage.output) = (3, 4);
    (message.usage.cache_read, message.usage.cache_write) = (10, 20);
    assert_eq!(
        estimate::context_tokens(&context(vec![message.into()]), 0, Scale::default()),
        37
    );
}

fn cut(messages: &[AgentMessage], keep: u64, forced: bool) -> Option<(Range, Range)> {
    let plan = prepare::plan(&context(messages.to_vec()), keep, forced)?;
    let pair = |range: std::ops::Range<usize>| (range.start, range.end);
    Some((pair(plan.history), pair(plan.turn)))
}

type Range = (usize, usize);

#[test]
fn the_cut_is_where_enough_is_kept() {
    let talk = [user(TEN), said(TEN), user(TEN), said(TEN)];
    // Between turns.
    assert_eq!(cut(&talk, 15, false), Some(((0, 2), (2, 2))));
    assert_eq!(cut(&talk, 20, false), Some(((0, 2), (2, 2))));
    // Within a turn: its beginning is summed up by itself.
    assert_eq!(cut(&talk, 10, false), Some(((0, 2), (2, 3))));
    assert_eq!(cut(&talk, 25, false), Some(((0, 0), (0, 1))));
    // Everything would be kept.
    assert_eq!(cut(&talk, 40, false), None);
    assert_eq!(cut(&talk, 41, false), None);
    assert_eq!(cut(&[], 10, true), None);
}

#[test]
fn a_result_is_never_parted_from_its_call() {
    let calls = || answer(StopReason::ToolUse, vec![call("a", "read")]);
    let talk = [user(TEN), calls(), result("a", TEN, false), said(TEN)];
    assert_eq!(cut(&talk, 20, false), Some(((0, 0), (0, 3))));
    assert_eq!(cut(&talk[..3], 5, false), Some(((0, 0), (0, 1))));
    assert_eq!(cut(&talk[..3], 11, false), Some(((0, 0), (0, 1))));
}

#[test]
fn a_forced_cut_is_made_if_one_can_be() {
    let turn = [user(TEN), said(TEN), said(TEN)];
    assert_eq!(cut(&turn, 1000, true), Some(((0, 0), (0, 2))));
    let turns = [user(TEN), said(TEN), user(TEN), said(TEN)];
    assert_eq!(cut(&turns, 1000, true), Some(((0, 2), (2, 2))));
    assert_eq!(cut(&[user(TEN)], 1000, true), None);
    // A broken answer is nothing to sum up and nothing to begin with.
    let broken = || answer(StopReason::Error, vec![text(TEN)]);
    assert_eq!(cut(&[broken(), user(TEN)], 1, true), None);
    assert_eq!(cut(&[user(TEN), broken()], 1000, true), None);
}

#[test]
fn what_an_earlier_compaction_kept_is_looked_at_again() {
    let talk = [summary("S"), user(TEN), said(TEN), user(TEN), said(TEN)];
    assert_eq!(cut(&talk, 15, false), Some(((1, 3), (3, 3))));
    assert!(
        prepare::plan(&context(talk.to_vec()), 15, false)
            .unwrap()
            .previous
    );
    // It had cut this turn, so there is no beginning of it to sum up by itself.
    let cut_turn = [summary("S"), said(TEN), said(TEN), user(TEN), said(TEN)];
    assert_eq!(cut(&cut_turn, 30, false), Some(((1, 2), (2, 2))));
    assert_eq!(cut(&[summary("S"), user(TEN), said(TEN)], 20, false), None);
}

/// Whatever the conversation: each entry is in one part only, and none is lost.
#[test]
fn every_entry_is_summed_up_or_kept() {
    let kinds = [
        user(TEN),
        said(TEN),
        answer(StopReason::ToolUse, vec![call("a", "read")]),
        result("a", TEN, false),
        answer(StopReason::Error, vec![text(TEN)]),
    ];
    for number in 0..5_usize.pow(5) {
        let digits = (0..5).map(|place| number / 5_usize.pow(place) % 5);
        let talk: Vec<_> = digits.map(|digit| kinds[digit].clone()).collect();
        for keep in [1, 15, 25, 35] {
            let Some(plan) = prepare::plan(&context(talk.clone()), keep, number % 2 == 0) else {
                continue;
            };
            assert_eq!(plan.history.start, 0);
            assert_eq!(plan.history.end, plan.turn.start);
            let at = plan.kept_from();
            assert!(at > 0 && at < talk.len());
            assert!(!matches!(talk[at], AgentMessage::ToolResult(_)));
        }
    }
}

#[test]
fn files_are_listed_once_and_the_modified_ones_not_as_read() {
    let with = |tool: &str, path: &str| {
        let call =
            json!({"type": "toolCall", "id": "1", "name": tool, "arguments": {"path": path}});
        serde_json::from_value::<crate::event::ToolCall>(call)
            .unwrap()
            .into()
    };
    let calls = answer(
        StopReason::ToolUse,
        vec![
            with("read", "z"),
            with("Read", "y"),
            with("edit", "b"),
            with("write", "new"),
            with("grep", "src"),
        ],
    );
    let earlier = json!({ "readFiles": ["a", "b"], "modifiedFiles": ["c", 1] });
    let files = Files::of(Some(&earlier), &context(vec![calls]), str::to_lowercase);
    assert_eq!(
        files.details(),
        json!({ "readFiles": ["a", "y", "z"], "modifiedFiles": ["b", "c", "new"] })
    );
    let text = format!("Notes.{}", files.section());
    assert!(text.ends_with("<modified-files>\nb\nc\nnew\n</modified-files>"));
    assert_eq!(files::without_section(&text), "Notes.");
    assert_eq!(files::without_section("Notes."), "Notes.");
    assert_eq!(Files::default().section(), "");
}

#[test]
fn the_conversation_is_shown_with_long_results_cut() {
    let long = "r".repeat(2500);
    let notice = json!({"role": "custom", "customType": "x", "display": true, "content": "careful",
        "timestamp": 1});
    let talk = context(vec![
        user("do it"),
        from::<CustomMessage>(notice),
        answer(
            StopReason::ToolUse,
            vec![text("Reading."), call("a", "read")],
        ),
        result("a", &long, true),
        answer(StopReason::Error, vec![text("half")]),
    ]);
    let shown = prompt::conversation(&talk, usize::MAX);
    for part in [
        "[User]\ndo it\n\n",
        "[Notice]\ncareful\n\n",
        "[Assistant]\nReading.\n\n",
        "[Assistant called read]\n{\"path\":\"x\"}\n\n",
        "[Error of read]\nrrr",
        "r\n(500 more characters)\n\n",
    ] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    assert!(!shown.contains("half"));
    let short = prompt::conversation(&talk, 300);
    assert!(short.starts_with("[User]") && short.ends_with("(500 more characters)\n\n"));
    assert!(short.contains("characters are left out here"));
    assert!(short.chars().count() < 400);
}

#[test]
fn small_windows_shrink_the_reserve_and_what_is_kept() {
    let policy = CompactionPolicy {
        enabled: true,
        reserve_tokens: 16_384,
        keep_recent_tokens: 20_000,
    };
    for (window, reserve, room, keep) in [
        (Some(200_000), 16_384, Some(183_616), 20_000),
        (Some(32_768), 16_384, Some(16_384), 8192),
        (Some(8192), 4096, Some(4096), 2048),
        (None, 16_384, None, 20_000),
    ] {
        assert_eq!(policy.reserve(window), reserve);
        assert_eq!(policy.room(window), room);
        assert_eq!(policy.keep(window), keep);
    }
}
