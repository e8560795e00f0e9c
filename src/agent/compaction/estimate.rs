//! How many tokens a conversation is likely to take.

use crate::event::{
    AgentMessage, AssistantContent, AssistantMessage, InputContent, StopReason, UserContent,
};
use crate::model::estimate_tokens;
use crate::session::ContextEntry;

/// What an image counts as, in characters.
const IMAGE_CHARS: usize = 4800;

/// Tokens of the context: what the service counted for the last good answer, and an estimate of what
/// follows it. Answers before index `counted_from` were given to another context and do not count; if
/// there is no other, or the service counts nothing, everything is estimated.
pub(super) fn context_tokens(context: &[ContextEntry], counted_from: usize) -> u64 {
    let counted = context
        .iter()
        .enumerate()
        .skip(counted_from)
        .rev()
        .find_map(|(at, entry)| Some((at, counted(&entry.message)?)));
    let (tokens, rest) = match counted {
        Some((at, tokens)) => (tokens, &context[at + 1..]),
        None => (0, context),
    };
    tokens.saturating_add(tokens_of(rest))
}

/// The estimate for a part of the context.
pub(super) fn tokens_of(entries: &[ContextEntry]) -> u64 {
    let tokens = entries.iter().map(|entry| tokens(&entry.message));
    tokens.fold(0, u64::saturating_add)
}

/// The estimate for one message: a token for each four characters.
pub(super) fn tokens(message: &AgentMessage) -> u64 {
    estimate_tokens(chars(message))
}

/// Whether an answer failed or was aborted: no request shows it to the model.
pub(super) fn is_broken(answer: &AssistantMessage) -> bool {
    matches!(answer.stop_reason, StopReason::Error | StopReason::Aborted)
}

fn counted(message: &AgentMessage) -> Option<u64> {
    let AgentMessage::Assistant(answer) = message else {
        return None;
    };
    let usage = &answer.usage;
    let parts = [usage.output, usage.cache_read, usage.cache_write];
    let sum = parts.into_iter().fold(usage.input, u64::saturating_add);
    let total = match usage.total_tokens {
        0 => sum,
        total => total,
    };
    (total > 0 && !is_broken(answer)).then_some(total)
}

fn chars(message: &AgentMessage) -> usize {
    match message {
        AgentMessage::User(user) => said(&user.content),
        AgentMessage::Custom(custom) => said(&custom.content),
        AgentMessage::Assistant(answer) if is_broken(answer) => 0,
        AgentMessage::Assistant(answer) => answer.content.iter().map(block).sum(),
        AgentMessage::ToolResult(result) => inputs(&result.content),
        AgentMessage::BashExecution(run) if run.exclude_from_context == Some(true) => 0,
        AgentMessage::BashExecution(run) => count(&run.command) + count(&run.output),
        AgentMessage::BranchSummary(branch) => count(&branch.summary),
        AgentMessage::CompactionSummary(compaction) => count(&compaction.summary),
    }
}

fn said(content: &UserContent) -> usize {
    match content {
        UserContent::String(text) => count(text),
        UserContent::Array(blocks) => inputs(blocks),
    }
}

fn inputs(blocks: &[InputContent]) -> usize {
    let input = |block: &InputContent| match block {
        InputContent::Text(text) => count(&text.text),
        InputContent::Image(_) => IMAGE_CHARS,
    };
    blocks.iter().map(input).sum()
}

fn block(block: &AssistantContent) -> usize {
    match block {
        AssistantContent::Text(text) => count(&text.text),
        AssistantContent::Thinking(thinking) => count(&thinking.thinking),
        AssistantContent::ToolCall(call) => {
            let arguments = serde_json::to_string(&call.arguments);
            count(&call.name) + arguments.map_or(0, |text| count(&text))
        }
    }
}

fn count(text: &str) -> usize {
    text.chars().count()
}
