//! Compaction: a summary takes the place of the older part of a conversation that grows too long.
//!
//! It is tried when the service refuses the conversation as too long, and when the conversation comes
//! near the window of the model: after a run, before a prompt, and between two turns of a run.

mod estimate;
mod files;
mod guard;
mod prepare;
mod prompt;
mod summarise;
#[cfg(test)]
mod tests;
mod write;

use std::time::Instant;

use uuid::Uuid;

use super::{Agent, Halt, RunEnd, now};
use crate::event::{
    AgentMessage, CompactionEndEvent, CompactionReason, CompactionRejectionCause, CompactionResult,
    CompactionStartEvent, CompactionSummaryMessage, ErrorCode, StopReason, StreamError, Usage,
    UserMessage,
};
use crate::model::{ToolSpec, estimate_tokens};
use crate::session::ContextEntry;
use estimate::Scale;
use guard::Guard;
use prepare::Plan;
use summarise::{NoSummary, Summariser};

/// When and how far a conversation is compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompactionPolicy {
    /// Whether it is compacted by itself.
    pub enabled: bool,
    /// Tokens of the model's window that are kept free for an answer; at most half the window is.
    pub reserve_tokens: u64,
    /// Tokens of the latest messages that stay as they are; at most half of what the window has
    /// beside the reserve.
    pub keep_recent_tokens: u64,
}

impl CompactionPolicy {
    /// Tokens kept free in a window of this size.
    fn reserve(&self, window: Option<u64>) -> u64 {
        self.reserve_tokens
            .min(window.map_or(u64::MAX, |all| all / 2))
    }

    /// Tokens of the window for the conversation; `None` if the window is not known.
    fn room(&self, window: Option<u64>) -> Option<u64> {
        Some(window? - self.reserve(window))
    }

    /// Tokens that stay as they are.
    fn keep(&self, window: Option<u64>) -> u64 {
        let most = self.room(window).map_or(u64::MAX, |room| room / 2);
        self.keep_recent_tokens.min(most)
    }
}

/// What an agent has to remember of its compactions.
#[derive(Debug, Default)]
pub(super) struct Compactions {
    guard: Guard,
    /// Answers before this index of the context were given to another context.
    counted_from: usize,
    /// How the service counted before the last compaction.
    scale: Scale,
    /// Whether the context is what the last compaction left, up to this length.
    left: Option<usize>,
    /// Whether a compaction has answered an overflow that no good answer came after.
    recovered: bool,
    /// Whether one was refused since the last prompt; what refused it is not asked again at once.
    refused: bool,
    /// Whether one was tried after the last run, which spares a short prompt a further one.
    tried: bool,
}

impl Compactions {
    /// For a conversation that goes on from `context`.
    pub(super) fn resumed(context: &[ContextEntry]) -> Self {
        let mut this = Self::default();
        if let Some(AgentMessage::CompactionSummary(summary)) =
            context.first().map(|entry| &entry.message)
        {
            let newer = |entry: &ContextEntry| matches!(&entry.message, AgentMessage::Assistant(answer) if answer.timestamp > summary.timestamp);
            this.counted_from = context.iter().position(newer).unwrap_or(context.len());
        }
        this
    }
}

/// When a compaction is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    AfterRun,
    BeforePrompt,
    BetweenTurns,
    /// The service refused the context, or left no room for an answer: the request is made again.
    Overflow,
    /// The answer is good, though the service counted more than the window.
    SilentOverflow,
}

/// What became of a compaction.
#[derive(Debug, PartialEq, Eq)]
enum Ended {
    Accepted,
    /// Refused, failed, or there was nothing to compact.
    Without,
    Aborted,
}

/// How a compaction went, before it is told.
#[derive(Default)]
struct Outcome {
    result: Option<CompactionResult>,
    aborted: bool,
    rejection_cause: Option<CompactionRejectionCause>,
    error_message: Option<String>,
    /// Usage of requests that led to no result.
    usage: Option<Usage>,
}

impl Agent {
    /// A prompt begins.
    pub(super) fn reset_compactions(&mut self) {
        self.compactions.recovered = false;
        self.compactions.refused = false;
    }

    /// A good answer has come.
    pub(super) fn note_answer(&mut self) {
        if self.overflow_of_answer().is_none() {
            self.compactions.recovered = false;
        }
    }

    /// Whether the conversation is compacted by itself.
    pub(super) fn compacts(&self) -> bool {
        self.config.compaction.enabled
    }

    /// Compacts before a prompt if it would come too near the window; gives the end of the run if it
    /// cannot go on.
    pub(super) async fn compact_before(
        &mut self,
        prompt: &UserMessage,
    ) -> Result<Option<RunEnd>, Halt> {
        let moment = Moment::BeforePrompt;
        let incoming = self.scale().up(estimate::tokens(&prompt.clone().into()));
        let tried = std::mem::take(&mut self.compactions.tried);
        let spared = tried && self.leaves_room(incoming);
        if spared || !self.is_due(incoming) || self.plan(moment, incoming).is_none() {
            return Ok(None);
        }
        self.end_after(moment, incoming).await
    }

    /// Whether a prompt leaves half of the reserve to the answer.
    fn leaves_room(&self, incoming: u64) -> bool {
        let window = self.config.model.context_window;
        let reserve = self.config.compaction.reserve(window);
        let tokens = self.tokens().saturating_add(incoming);
        window.is_none_or(|window| tokens <= window - reserve / 2)
    }

    /// The same between two turns of a run.
    pub(super) async fn compact_between_turns(&mut self) -> Result<Option<RunEnd>, Halt> {
        let moment = Moment::BetweenTurns;
        if self.compactions.refused || !self.is_due(0) || self.plan(moment, 0).is_none() {
            return Ok(None);
        }
        self.end_after(moment, 0).await
    }

    async fn end_after(&mut self, moment: Moment, incoming: u64) -> Result<Option<RunEnd>, Halt> {
        let ended = self.compact(moment, incoming).await?;
        if ended == Ended::Aborted {
            return Ok(Some(RunEnd::Aborted));
        }
        Ok(self.limit_reached().map(RunEnd::Limit))
    }

    /// Compacts after a run if the conversation is near the window or beyond; gives the end of the
    /// prompt.
    pub(super) async fn compact_after(&mut self, end: RunEnd) -> Result<RunEnd, Halt> {
        let pointless = !self.compacts()
            || self.compactions.refused
            || self.limit_reached().is_some()
            || self.config.cancel.is_cancelled();
        if end != RunEnd::Completed || pointless {
            return Ok(end);
        }
        let moment = match self.overflow_of_answer() {
            Some(Moment::SilentOverflow) => Moment::SilentOverflow,
            _ if self.is_due(0) => Moment::AfterRun,
            _ => return Ok(end),
        };
        self.compactions.tried = true;
        Ok(match self.compact(moment, 0).await? {
            Ended::Aborted => RunEnd::Aborted,
            Ended::Accepted | Ended::Without => end,
        })
    }

    /// Compacts after an overflow that ended a run; gives the end of the prompt if it cannot go on.
    pub(super) async fn recover(&mut self, error: StreamError) -> Result<Option<RunEnd>, Halt> {
        if std::mem::replace(&mut self.compactions.recovered, true) {
            let message = "the context is still too long after one compaction. Shorten it, or choose a \
                           model with a larger window.";
            self.emit(CompactionEndEvent {
                reason: CompactionReason::Overflow,
                result: None,
                aborted: false,
                will_retry: false,
                request_id: None,
                accepted: None,
                rejection_cause: None,
                error_message: Some(Moment::Overflow.failure(message)),
                usage: None,
            })
            .await?;
            return Ok(Some(RunEnd::Failed(error)));
        }
        Ok(match self.compact(Moment::Overflow, 0).await? {
            Ended::Accepted => self.limit_reached().map(RunEnd::Limit),
            Ended::Without => Some(RunEnd::Failed(error)),
            Ended::Aborted => Some(RunEnd::Aborted),
        })
    }

    /// The failure that an answer without content stands for, if the context left it no room.
    pub(super) fn no_room(&self) -> Option<StreamError> {
        if !self.compacts() || self.overflow_of_answer() != Some(Moment::Overflow) {
            return None;
        }
        Some(StreamError {
            code: ErrorCode::ContextOverflow,
            message:
                "The conversation fills the window of the model, so it had no room for an answer."
                    .to_owned(),
            retryable: false,
        })
    }

    /// What the latest answer says of the window, if it is a good one.
    fn overflow_of_answer(&self) -> Option<Moment> {
        let window = self.config.model.context_window?;
        let AgentMessage::Assistant(answer) = &self.context.last()?.message else {
            return None;
        };
        let usage = &answer.usage;
        let input = usage.input.saturating_add(usage.cache_read);
        let filled = input >= window - window / 100;
        match answer.stop_reason {
            StopReason::Length if usage.output == 0 && filled => Some(Moment::Overflow),
            StopReason::Stop if input > window => Some(Moment::SilentOverflow),
            _ => None,
        }
    }

    /// Whether the context, with so many tokens more, is nearer to the window than the reserve.
    fn is_due(&self, incoming: u64) -> bool {
        let compactions = &self.compactions;
        self.compacts()
            && compactions.left != Some(self.context.len())
            && self
                .room()
                .is_some_and(|room| self.tokens().saturating_add(incoming) > room)
    }

    /// Tokens of the context.
    fn tokens(&self) -> u64 {
        estimate::context_tokens(&self.context, self.compactions.counted_from, self.scale())
    }

    /// How the service counts, as far as its last answer tells.
    fn scale(&self) -> Scale {
        let tool = |tool: &ToolSpec| {
            let parameters = tool.parameters.to_string();
            [&tool.name, &tool.description, &parameters]
                .map(|text| text.chars().count())
                .into_iter()
                .sum::<usize>()
        };
        let tools: usize = self.specs.iter().map(tool).sum();
        let overhead = estimate_tokens(tools + self.config.system_prompt.chars().count());
        Scale::of(&self.context, self.compactions.counted_from, overhead)
            .unwrap_or(self.compactions.scale)
    }

    fn room(&self) -> Option<u64> {
        let config = &self.config;
        config.compaction.room(config.model.context_window)
    }

    /// What would be summarised now; `None` if there is nothing. A cut is forced when the context
    /// is too long for the model, not just near its window.
    fn plan(&self, moment: Moment, incoming: u64) -> Option<Plan> {
        let policy = &self.config.compaction;
        let tokens = self.tokens().saturating_add(incoming);
        let mut window = self.config.model.context_window;
        let forced = moment.is_overflow() || window.is_some_and(|window| tokens > window);
        if moment == Moment::Overflow {
            // What the service has refused is more than it takes, whatever is said of the model.
            window = Some(window.map_or(tokens, |window| window.min(tokens)));
        }
        let beside = |room: u64| room.saturating_sub(incoming) / 2;
        let most = policy.room(window).map_or(u64::MAX, beside);
        let keep = policy.keep(window).min(most);
        prepare::plan(&self.context, self.scale().down(keep), forced)
    }

    /// One compaction from its start to its end. What was done stands in the session before it is
    /// told.
    async fn compact(&mut self, moment: Moment, incoming: u64) -> Result<Ended, Halt> {
        let reason = moment.reason();
        let request_id = Some(Uuid::new_v4().to_string());
        self.emit(CompactionStartEvent {
            reason,
            request_id: request_id.clone(),
        })
        .await?;
        let tokens_before = self.tokens();
        let plan = if moment == Moment::Overflow {
            // The request is made again without the answer that told of the overflow.
            self.drop_last_answer();
            self.plan(moment, 0)
        } else {
            self.plan(moment, incoming)
        };
        let outcome = match (self.compactions.guard.refusal(Instant::now()), plan) {
            (Some(cause), _) => Outcome::refused(cause),
            (None, None) => Outcome::default(),
            (None, Some(plan)) => {
                self.attempt(moment, &plan, (tokens_before, incoming))
                    .await?
            }
        };
        let usage = outcome.result.as_ref().and_then(|r| r.usage.as_ref());
        if let Some(usage) = usage.or(outcome.usage.as_ref()) {
            self.cost += usage.cost.total.get();
        }
        let accepted = outcome.result.is_some();
        let refused = outcome.rejection_cause.is_some();
        self.compactions.refused |= refused;
        let goes_on = match moment {
            Moment::BetweenTurns => !outcome.aborted,
            Moment::Overflow => accepted,
            Moment::AfterRun | Moment::BeforePrompt | Moment::SilentOverflow => false,
        };
        let ended = match (accepted, outcome.aborted) {
            (true, _) => Ended::Accepted,
            (false, true) => Ended::Aborted,
            (false, false) => Ended::Without,
        };
        self.emit(CompactionEndEvent {
            reason,
            result: outcome.result,
            aborted: outcome.aborted,
            will_retry: goes_on && self.limit_reached().is_none(),
            request_id,
            accepted: (accepted || refused).then_some(accepted),
            rejection_cause: outcome.rejection_cause,
            error_message: outcome.error_message,
            usage: outcome.usage,
        })
        .await?;
        Ok(ended)
    }

    fn drop_last_answer(&mut self) {
        let last = self.context.last().map(|entry| &entry.message);
        if matches!(last, Some(AgentMessage::Assistant(_))) {
            self.context.pop();
        }
    }

    /// Has the summary written and puts it in place.
    async fn attempt(
        &mut self,
        moment: Moment,
        plan: &Plan,
        (tokens_before, incoming): (u64, u64),
    ) -> Result<Outcome, Halt> {
        let files = self.files(plan);
        let mut summariser = Summariser::new(self, moment.reason());
        let written = self.write(plan, &files, &mut summariser).await?;
        let (summary, usage) = summariser.finish();
        let without = |outcome: Outcome| Outcome {
            usage: (usage.total_tokens > 0).then(|| usage.clone()),
            ..outcome
        };
        match written {
            Ok(()) => {}
            Err(NoSummary::Aborted) => {
                return Ok(without(Outcome {
                    aborted: true,
                    ..Outcome::default()
                }));
            }
            Err(NoSummary::Failed(error)) => {
                self.compactions.guard.failed(Instant::now());
                return Ok(without(Outcome {
                    error_message: Some(moment.failure(&error.message)),
                    ..Outcome::default()
                }));
            }
        }
        let details = files.details();
        let message = CompactionSummaryMessage {
            summary: summary.clone(),
            tokens_before,
            details: Some(details.clone()),
            timestamp: now(),
        };
        let message = AgentMessage::from(message);
        let kept = &self.context[plan.kept_from()..];
        let scale = self.scale();
        let after = scale.up(estimate::tokens(&message).saturating_add(estimate::tokens_of(kept)));
        let window = self.config.model.context_window;
        let limit = match window {
            // Without it the prompt would not fit at all, so it may take of the reserve.
            Some(window)
                if moment == Moment::BeforePrompt
                    && tokens_before.saturating_add(incoming) > window =>
            {
                Some(window)
            }
            _ => self.room(),
        };
        if limit.is_some_and(|limit| after.saturating_add(incoming) > limit) {
            self.compactions.guard.failed(Instant::now());
            return Ok(without(Outcome::refused(
                CompactionRejectionCause::WouldOverflow,
            )));
        }
        let Some(first_kept) = kept.first() else {
            return Ok(without(Outcome::default()));
        };
        let result = CompactionResult {
            summary,
            first_kept_entry_id: first_kept.id.clone(),
            tokens_before,
            usage: Some(usage),
            details: Some(details),
            estimated_tokens_after: Some(after),
        };
        let id = self.config.session.lock().append_compaction(&result)?;
        self.context
            .splice(..plan.kept_from(), [ContextEntry { id, message }]);
        self.compactions.guard.accepted();
        self.compactions.scale = scale;
        self.compactions.counted_from = self.context.len();
        self.compactions.left = Some(self.context.len());
        Ok(Outcome {
            result: Some(result),
            ..Outcome::default()
        })
    }
}

impl Moment {
    fn reason(self) -> CompactionReason {
        if self.is_overflow() {
            CompactionReason::Overflow
        } else {
            CompactionReason::Threshold
        }
    }

    fn is_overflow(self) -> bool {
        matches!(self, Self::Overflow | Self::SilentOverflow)
    }

    /// A failure in words.
    fn failure(self, why: &str) -> String {
        if self.is_overflow() {
            format!("Context overflow recovery failed: {why}")
        } else {
            format!("Auto-compaction failed: {why}")
        }
    }
}

impl Outcome {
    fn refused(cause: CompactionRejectionCause) -> Self {
        Self {
            rejection_cause: Some(cause),
            error_message: Some(guard::words(cause)),
            ..Self::default()
        }
    }
}
