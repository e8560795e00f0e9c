//! What of a conversation is summarised and what stays.

use std::ops::Range;

use super::estimate::{is_broken, tokens, tokens_of};
use crate::event::AgentMessage;
use crate::session::ContextEntry;

/// Where the context is cut. Indexes are those of its entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// Whether the first entry is the summary of an earlier compaction, which the new one takes in.
    pub(super) previous: bool,
    /// What is summarised as a whole: everything that is not kept but the turn below.
    pub(super) history: Range<usize>,
    /// The beginning of the turn whose rest is kept; empty when the cut lies between turns.
    pub(super) turn: Range<usize>,
}

impl Plan {
    /// The first entry that stays as it is.
    pub(super) fn kept_from(&self) -> usize {
        self.turn.end
    }

    /// Everything that is summarised, the earlier summary left out.
    pub(super) fn summarised(&self) -> Range<usize> {
        self.history.start..self.turn.end
    }
}

/// Finds the cut that keeps about `keep` tokens of the latest messages; `None` if nothing would lie
/// before it. A `forced` cut is made wherever one is possible, be it that all is short.
///
/// What an earlier compaction kept is looked at like everything after it, so that it ends up either
/// in the new summary or among what is kept.
pub(super) fn plan(context: &[ContextEntry], keep: u64, forced: bool) -> Option<Plan> {
    let previous = matches!(
        context.first().map(|entry| &entry.message),
        Some(AgentMessage::CompactionSummary(_))
    );
    let start = usize::from(previous);
    let worth = |cut: &usize| tokens_of(&context[start..*cut]) > 0;
    let cut = usual_cut(context, start, keep).filter(worth);
    let cut = match cut {
        None if forced => last_cut(context, start).filter(worth),
        cut => cut,
    }?;
    let begins_turn = |at: &usize| starts_turn(&context[*at].message);
    let turn_start = if begins_turn(&cut) {
        cut
    } else {
        // Without one, an earlier compaction has taken the beginning of the turn.
        (start..cut).rev().find(begins_turn).unwrap_or(cut)
    };
    Some(Plan {
        previous,
        history: start..turn_start,
        turn: turn_start..cut,
    })
}

/// Walks back until `keep` tokens are found, then forward to where a cut may be.
fn usual_cut(context: &[ContextEntry], start: usize, keep: u64) -> Option<usize> {
    let mut sum = 0_u64;
    let reached = (start..context.len()).rev().find(|at| {
        sum = sum.saturating_add(tokens(&context[*at].message));
        sum >= keep
    })?;
    let may = |at: &usize| may_begin(&context[*at].message);
    // Results at the very end stay together with their calls.
    (reached..context.len())
        .find(may)
        .or_else(|| (start..reached).rev().find(may))
}

/// The cut that keeps as little as a conversation needs: its latest turn, or of a single turn the
/// latest answer and what follows it.
fn last_cut(context: &[ContextEntry], start: usize) -> Option<usize> {
    let later = start + 1..context.len();
    later
        .clone()
        .rev()
        .find(|at| starts_turn(&context[*at].message))
        .or_else(|| later.rev().find(|at| may_begin(&context[*at].message)))
}

/// Whether the kept part may begin with this message. It never begins with a result, whose call
/// would be missing.
fn may_begin(message: &AgentMessage) -> bool {
    match message {
        AgentMessage::ToolResult(_) => false,
        AgentMessage::Assistant(answer) => !is_broken(answer),
        _ => true,
    }
}

/// Whether a turn begins with this message.
fn starts_turn(message: &AgentMessage) -> bool {
    !matches!(
        message,
        AgentMessage::Assistant(_) | AgentMessage::ToolResult(_)
    )
}
