//! How many tokens a conversation is likely to take.

use crate::event::{
    AgentMessage, AssistantContent, AssistantMessage, InputContent, StopReason, UserContent,
};
use crate::model::estimate_tokens;
use crate::session::ContextEntry;

/// What an image counts as, in characters.
const IMAGE_CHARS: usize = 4800;

/// Estimates below this say too little about how the service counts.
const LEAST: u64 = 256;
/// Most tokens that a character is taken for, in quarters.
const MOST: u64 = 4;

/// How many tokens the service counts for one of the estimate. Text that is not in Latin letters has
/// up to one for each character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scale {
    counted: u64,
    estimated: u64,
}

impl Default for Scale {
    fn default() -> Self {
        Self {
            counted: 1,
            estimated: 1,
        }
    }
}

impl Scale {
    /// What the service counted for its last good answer's input, against the estimate of the same;
    /// `overhead` is the estimate of what else was in the request. `None` if that says nothing.
    pub(super) fn of(context: &[ContextEntry], counted_from: usize, overhead: u64) -> Option<Self> {
        let (at, answer) = last_counted(context, counted_from)?;
        let usage = &answer.usage;
        let input = [usage.cache_read, usage.cache_write];
        let input = input.into_iter().fold(usage.input, u64::saturating_add);
        let estimated = tokens_of(&context[..at]);
        if input == 0 || estimated < LEAST {
            return None;
        }
        // The overhead may be more than its estimate too, and must not be taken for the conversation.
        let counted = input.saturating_sub(overhead.saturating_add(overhead / 2));
        Some(Self {
            counted: counted.clamp(estimated, estimated.saturating_mul(MOST)),
            estimated,
        })
    }

    /// Tokens as the service is likely to count them.
    pub(super) fn up(self, estimated: u64) -> u64 {
        scaled(estimated, self.counted, self.estimated)
    }

    /// The estimate that so many tokens of the service have.
    pub(super) fn down(self, tokens: u64) -> u64 {
        scaled(tokens, self.estimated, self.counted)
    }
}

fn scaled(tokens: u64, by: u64, of: u64) -> u64 {
    let scaled = u128::from(tokens) * u128::from(by) / u128::from(of);
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

/// Tokens of the context: what the service counted for the last good answer, and an estimate of what
/// follows it. Answers before index `counted_from` were given to another context and do not count; if
/// there is no other, or the service counts nothing, everything is estimated.
pub(super) fn context_tokens(context: &[ContextEntry], counted_from: usize, scale: Scale) -> u64 {
    let counted = last_counted(context, counted_from);
    let counted = counted.and_then(|(at, answer)| Some((at, total(answer)?)));
    let (tokens, rest) = match counted {
        Some((at, tokens)) => (tokens, &context[at + 1..]),
        None => (0, context),
    };
    tokens.saturating_add(scale.up(tokens_of(rest)))
}

/// The last good answer that the service has counted, and where it stands.
fn last_counted(
    context: &[ContextEntry],
    counted_from: usize,
) -> Option<(usize, &AssistantMessage)> {
    let entries = context.iter().enumerate().skip(counted_from).rev();
    let mut answers = entries.filter_map(|(at, entry)| match &entry.message {
        AgentMessage::Assistant(answer) => Some((at, answer)),
        _ => None,
    });
    answers.find(|(_, answer)| total(answer).is_some())
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

fn total(answer: &AssistantMessage) -> Option<u64> {
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
