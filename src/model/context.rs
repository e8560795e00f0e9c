//! What of a conversation a model gets to see, whichever protocol carries it.
//!
//! Services refuse a conversation that holds answers cut in the middle, calls without results or
//! results without calls. Here such a conversation becomes one that they take.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

use crate::event::{
    AgentMessage, AssistantContent, AssistantMessage, BashExecutionMessage, ImageContent,
    InputContent, StopReason, ToolCall, ToolResultMessage, UserContent,
};
use crate::model::Model;

/// What a call that was never answered is answered with.
pub(crate) const NO_RESULT: &str = "No result: the tool call was interrupted.";

/// What stands for a result with nothing in it.
pub(crate) const NO_OUTPUT: &str = "(no output)";
/// What stands for an image that the model cannot see.
pub(crate) const NO_IMAGES: &str = "[An image was left out: this model takes none.]";

/// One side's part of the conversation. Turns of the user and of tools may follow each other.
#[derive(Debug, PartialEq)]
pub(crate) enum Turn<'a> {
    /// What the user or somebody in their place said; not empty.
    User(Vec<Part<'a>>),
    /// A whole answer.
    Assistant(&'a AssistantMessage),
    /// One result for each call of the answer before, in the order of the calls.
    Results(Vec<CallResult<'a>>),
}

/// A piece of what a model reads.
#[derive(Debug, PartialEq)]
pub(crate) enum Part<'a> {
    /// Text with something to read in it.
    Text(Cow<'a, str>),
    /// An image.
    Image(&'a ImageContent),
}

/// What came of a tool call.
#[derive(Debug, PartialEq)]
pub(crate) struct CallResult<'a> {
    pub(crate) call: &'a ToolCall,
    pub(crate) parts: Vec<Part<'a>>,
    pub(crate) is_error: bool,
}

/// The conversation as turns: answers that failed or were aborted are left out, and so are the
/// results of their calls; a call without a result gets one that says so.
pub(crate) fn turns(messages: &[AgentMessage]) -> Vec<Turn<'_>> {
    let mut turns = Vec::new();
    let mut open = OpenCalls::default();
    for message in messages {
        match message {
            AgentMessage::ToolResult(result) => open.answer(result),
            AgentMessage::Assistant(answer) => {
                open.settle(&mut turns);
                if !matches!(answer.stop_reason, StopReason::Error | StopReason::Aborted) {
                    turns.push(Turn::Assistant(answer));
                    open = OpenCalls::of(answer);
                }
            }
            other => {
                let parts = user_parts(other);
                if !parts.is_empty() {
                    open.settle(&mut turns);
                    turns.push(Turn::User(parts));
                }
            }
        }
    }
    open.settle(&mut turns);
    turns
}

/// Calls of the latest answer and the results seen so far.
#[derive(Default)]
struct OpenCalls<'a> {
    calls: Vec<&'a ToolCall>,
    /// By the id of their call. Several calls may have one id; their results come in their order.
    results: HashMap<&'a str, VecDeque<&'a ToolResultMessage>>,
}

impl<'a> OpenCalls<'a> {
    fn of(answer: &'a AssistantMessage) -> Self {
        let call = |block: &'a AssistantContent| match block {
            AssistantContent::ToolCall(call) => Some(call),
            AssistantContent::Text(_) | AssistantContent::Thinking(_) => None,
        };
        let calls = answer.content.iter().filter_map(call).collect();
        Self {
            calls,
            results: HashMap::new(),
        }
    }

    fn answer(&mut self, result: &'a ToolResultMessage) {
        let results = self.results.entry(&result.tool_call_id).or_default();
        results.push_back(result);
    }

    fn settle(&mut self, turns: &mut Vec<Turn<'a>>) {
        let Self { calls, mut results } = std::mem::take(self);
        if calls.is_empty() {
            return;
        }
        let settled = calls.into_iter().map(|call| {
            let of_id = results.get_mut(call.id.as_str());
            let result = of_id.and_then(VecDeque::pop_front);
            CallResult {
                call,
                parts: result.map_or_else(
                    || vec![Part::Text(NO_RESULT.into())],
                    |result| parts(&result.content),
                ),
                is_error: result.is_none_or(|result| result.is_error),
            }
        });
        turns.push(Turn::Results(settled.collect()));
    }
}

/// What a message that is neither an answer nor a result says to the model; may be empty.
fn user_parts(message: &AgentMessage) -> Vec<Part<'_>> {
    let summary = |lead: &str, summary: &str| {
        vec![Part::Text(
            format!("{lead}\n\n<summary>\n{summary}\n</summary>").into(),
        )]
    };
    match message {
        AgentMessage::User(user) => content_parts(&user.content),
        AgentMessage::Custom(custom) => content_parts(&custom.content),
        AgentMessage::BashExecution(run) if run.exclude_from_context == Some(true) => Vec::new(),
        AgentMessage::BashExecution(run) => vec![Part::Text(bash_text(run).into())],
        AgentMessage::BranchSummary(branch) => summary(
            "The conversation took another path for a while and came back here. In short:",
            &branch.summary,
        ),
        AgentMessage::CompactionSummary(compaction) => summary(
            "The conversation up to here was too long to keep. What happened so far:",
            &compaction.summary,
        ),
        AgentMessage::Assistant(_) | AgentMessage::ToolResult(_) => Vec::new(),
    }
}

fn content_parts(content: &UserContent) -> Vec<Part<'_>> {
    match content {
        UserContent::String(text) if text.trim().is_empty() => Vec::new(),
        UserContent::String(text) => vec![Part::Text(text.into())],
        UserContent::Array(blocks) => parts(blocks),
    }
}

/// Services refuse text with nothing but white space, so it is left out.
fn parts(blocks: &[InputContent]) -> Vec<Part<'_>> {
    blocks.iter().filter_map(part).collect()
}

fn part(block: &InputContent) -> Option<Part<'_>> {
    match block {
        InputContent::Text(text) if text.text.trim().is_empty() => None,
        InputContent::Text(text) => Some(Part::Text(Cow::Borrowed(&text.text))),
        InputContent::Image(image) => Some(Part::Image(image)),
    }
}

fn bash_text(run: &BashExecutionMessage) -> String {
    let end = match run.exit_code {
        _ if run.cancelled => "\n\nIt was stopped before its end.".to_owned(),
        Some(code) if code != 0 => format!("\n\nIt exited with code {code}."),
        _ => String::new(),
    };
    let rest = match &run.full_output_path {
        _ if !run.truncated => String::new(),
        Some(path) => format!("\n\nThis is not the whole output; all of it is in {path}."),
        None => "\n\nThis is not the whole output.".to_owned(),
    };
    format!(
        "I ran `{}`. Its output:\n\n```\n{}\n```{end}{rest}",
        run.command, run.output
    )
}

/// Whether this very model gave the answer.
pub(crate) fn is_own(answer: &AssistantMessage, model: &Model) -> bool {
    answer.api == model.api.as_str()
        && answer.provider == model.provider
        && answer.model == model.id
}

/// The text with the characters that every API takes in ids and names, at most `longest` of them.
pub(crate) fn plain(text: &str, longest: usize) -> String {
    let good = |c: char| {
        if c.is_ascii_alphanumeric() || c == '-' {
            c
        } else {
            '_'
        }
    };
    if text.is_empty() {
        "_".to_owned()
    } else {
        text.chars().map(good).take(longest).collect()
    }
}

/// Characters that a message other than an answer holds for the model.
pub(crate) fn user_chars(message: &AgentMessage) -> usize {
    let chars = |parts: Vec<Part<'_>>| -> usize {
        let text = |part: &Part<'_>| match part {
            Part::Text(text) => text.chars().count(),
            Part::Image(_) => 0,
        };
        parts.iter().map(text).sum()
    };
    match message {
        AgentMessage::ToolResult(result) => chars(parts(&result.content)),
        other => chars(user_parts(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{CompactionSummaryMessage, CustomMessage, UserMessage};
    use crate::model::tests::{answer, call, from, result, text, user};

    fn outline(messages: &[AgentMessage]) -> Vec<String> {
        let parts = |parts: &[Part<'_>]| {
            let part = |part: &Part<'_>| match part {
                Part::Text(text) => text.to_string(),
                Part::Image(_) => "image".to_owned(),
            };
            parts.iter().map(part).collect::<Vec<_>>().join("|")
        };
        let turn = |turn: &Turn<'_>| match turn {
            Turn::User(said) => format!("user {}", parts(said)),
            Turn::Assistant(answer) => format!("assistant {:?}", answer.stop_reason),
            Turn::Results(results) => {
                let one = |r: &CallResult<'_>| {
                    format!(
                        "{}{}={}",
                        r.call.id,
                        if r.is_error { "!" } else { "" },
                        parts(&r.parts)
                    )
                };
                format!(
                    "results {}",
                    results.iter().map(one).collect::<Vec<_>>().join(", ")
                )
            }
        };
        turns(messages).iter().map(turn).collect()
    }

    #[test]
    fn results_follow_their_answer_in_the_order_of_the_calls() {
        let messages = [
            user("go"),
            answer(
                StopReason::ToolUse,
                vec![call("a", "read"), call("b", "bash")],
            ),
            result("b", "two", true),
            result("a", "one", false),
            user("steered"),
            answer(StopReason::Stop, vec![text("done")]),
        ];
        assert_eq!(
            outline(&messages),
            [
                "user go",
                "assistant ToolUse",
                "results a=one, b!=two",
                "user steered",
                "assistant Stop"
            ]
        );
    }

    #[test]
    fn calls_that_share_an_id_have_their_results_in_order() {
        let calls = |ids: &[&str]| {
            let calls = ids.iter().map(|id| call(id, "read")).collect();
            answer(StopReason::ToolUse, calls)
        };
        let messages = [
            calls(&["c", "c", "d", "c"]),
            result("c", "one", false),
            result("c", "two", true),
            result("d", "other", false),
            calls(&["c"]),
            result("c", "first", false),
            result("c", "told again", false),
        ];
        assert_eq!(
            outline(&messages),
            [
                "assistant ToolUse",
                &format!("results c=one, c!=two, d=other, c!={NO_RESULT}"),
                "assistant ToolUse",
                "results c=first",
            ]
        );
    }

    #[test]
    fn broken_answers_are_left_out_and_orphaned_calls_are_answered() {
        let messages = [
            user("go"),
            answer(StopReason::Error, vec![call("lost", "read")]),
            result("lost", "never asked for", false),
            answer(StopReason::Aborted, vec![text("half")]),
            answer(
                StopReason::ToolUse,
                vec![call("a", "read"), call("b", "read")],
            ),
            result("b", "two", false),
            user("go on"),
            result("a", "too late", false),
            answer(StopReason::ToolUse, vec![call("c", "read")]),
        ];
        assert_eq!(
            outline(&messages),
            [
                "user go",
                "assistant ToolUse",
                &format!("results a!={NO_RESULT}, b=two"),
                "user go on",
                "assistant ToolUse",
                &format!("results c!={NO_RESULT}"),
            ]
        );
    }

    #[test]
    fn other_roles_speak_as_the_user_and_blank_text_is_left_out() {
        let messages = [
            from::<UserMessage>(
                serde_json::json!({"role": "user", "timestamp": 1, "content": [
                {"type": "text", "text": " \n"}, {"type": "text", "text": "see"},
                {"type": "image", "data": "AA==", "mimeType": "image/png"}]}),
            ),
            user("  "),
            from::<CustomMessage>(
                serde_json::json!({"role": "custom", "customType": "x", "display": true,
                "content": "warned", "timestamp": 1}),
            ),
            from::<BashExecutionMessage>(
                serde_json::json!({"role": "bashExecution", "command": "secret", "output": "",
                "cancelled": false, "truncated": false, "timestamp": 1, "excludeFromContext": true}),
            ),
            from::<BashExecutionMessage>(
                serde_json::json!({"role": "bashExecution", "command": "make", "output": "no",
                "exitCode": 2, "cancelled": false, "truncated": true, "fullOutputPath": "/tmp/x",
                "timestamp": 1}),
            ),
            from::<CompactionSummaryMessage>(
                serde_json::json!({"role": "compactionSummary", "summary": "We met.",
                "tokensBefore": 9, "timestamp": 1}),
            ),
        ];
        let outline = outline(&messages);
        assert_eq!(outline[..2], ["user see|image", "user warned"]);
        assert!(outline[2].contains("`make`") && outline[2].contains("exited with code 2"));
        assert!(outline[2].contains("all of it is in /tmp/x"));
        assert!(outline[3].contains("<summary>\nWe met.\n</summary>"));
        assert_eq!(outline.len(), 4);
    }
}
