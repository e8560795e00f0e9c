//! What background agents mean for a conversation: their results come in as messages, and a run gives
//! way to them when it has gone on beside them for long enough.

use super::{Agent, Halt, RunEnd, now};
use crate::event::{
    Number, ParentPausedForBackgroundAgentsEvent, TextContent, UserContent, UserMessage,
};
use crate::session::ContextEntry;
use crate::subagent::{self, Manager};
use std::sync::Arc;

/// The background agents of a conversation.
pub struct Background {
    /// Who starts them and has their results.
    pub manager: Arc<Manager>,
    /// Turns that a run may take while they are at work; `None` is no bound.
    pub turn_limit: Option<f64>,
    /// Whether results that wait go into the conversation one a turn, or all together.
    pub one_at_a_time: bool,
}

/// Turns that were taken while agents were at work.
#[derive(Debug, Default)]
pub(super) struct Guard {
    /// Whether agents were at work when the current turn began.
    beside: bool,
    turns: u64,
    /// Whether the pause was told already.
    told: bool,
}

/// What the model is to hear of agents that worked for this session when its process ended.
pub(super) fn lost(context: &[ContextEntry]) -> Option<String> {
    let ids = subagent::without_result(context.iter().map(|entry| &entry.message));
    (!ids.is_empty()).then(|| subagent::lost(&ids))
}

impl Agent {
    /// Adds the results that wait; to be called when a turn has begun.
    pub(super) async fn steer(&mut self) -> Result<(), Halt> {
        while let Some(message) = self.take_result() {
            self.announce(message.into()).await?;
            let background = self.config.background.as_ref();
            if background.is_some_and(|background| background.one_at_a_time) {
                break;
            }
        }
        let background = self.config.background.as_ref();
        self.guard.beside = background.is_some_and(|background| !background.manager.is_idle());
        Ok(())
    }

    /// Counts a turn that was taken beside agents at work.
    pub(super) fn turn_ended(&mut self) {
        self.guard.turns += u64::from(self.guard.beside);
        if let Some(background) = &self.config.background {
            background.manager.note_parent_cost(self.cost);
        }
    }

    /// Whether a result waits, for which the run goes on.
    pub(super) fn has_result(&self) -> bool {
        let background = self.config.background.as_ref();
        background.is_some_and(|background| background.manager.has_result())
    }

    /// Whether the run stops here, since it has had its turns while agents are at work.
    pub(super) async fn gives_way(&mut self) -> Result<bool, Halt> {
        let Some(background) = &self.config.background else {
            return Ok(false);
        };
        let running = background.manager.at_work().len() as u64;
        if running == 0 || background.manager.has_result() {
            self.guard = Guard::default();
            return Ok(false);
        }
        let turns = self.guard.turns;
        #[expect(clippy::cast_precision_loss, reason = "nobody counts to 2^53 turns")]
        let Some(limit) = background.turn_limit.filter(|limit| turns as f64 >= *limit) else {
            return Ok(false);
        };
        if !std::mem::replace(&mut self.guard.told, true) {
            self.emit(ParentPausedForBackgroundAgentsEvent {
                running_agent_count: running,
                turns_used: turns,
                turn_limit: Number::from(limit),
            })
            .await?;
        }
        Ok(true)
    }

    /// Waits for the next result of a background agent and plays a run that answers it; `None` when
    /// there is none to wait for.
    ///
    /// # Errors
    /// [`Halt`]: the run is then left as it is.
    pub async fn answer_background(&mut self) -> Result<Option<RunEnd>, Halt> {
        let Some(background) = &self.config.background else {
            return Ok(None);
        };
        if background.manager.is_idle() && !background.manager.has_result() {
            return Ok(None);
        }
        if let Some(limit) = self.limit_reached() {
            return Ok(Some(RunEnd::Limit(limit)));
        }
        tokio::select! {
            biased;
            () = self.config.cancel.cancelled() => return Ok(Some(RunEnd::Aborted)),
            _ = background.manager.result() => {}
        }
        // An agent may have cost more than what was left.
        if let Some(limit) = self.limit_reached() {
            return Ok(Some(RunEnd::Limit(limit)));
        }
        match self.take_result() {
            Some(message) => self.play(message).await.map(Some),
            None => Ok(None),
        }
    }

    /// Ends all background agents and waits until they are gone.
    pub async fn stop_background(&self) {
        if let Some(background) = &self.config.background {
            background.manager.stop().await;
        }
    }

    /// The result that has waited longest, as a message.
    fn take_result(&mut self) -> Option<UserMessage> {
        let text = match self.lost.take() {
            Some(text) => text,
            None => self.config.background.as_ref()?.manager.take_result()?,
        };
        self.guard = Guard::default();
        let block = TextContent {
            text,
            text_signature: None,
        };
        let mut content = UserContent::Array(vec![block.into()]);
        self.scrub_prompt(&mut content);
        Some(UserMessage {
            content,
            timestamp: now(),
        })
    }
}
