//! The offline model: built in, needs neither network nor key.
//!
//! It drives the real loop and the real tools, either from its own small script, which does what
//! the prompt asks for, or from a scenario file ([`Script`]) with whatever a service could send.

mod builtin;
mod play;
mod script;

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::stream;

use super::{ModelDelta, ModelError, ModelRequest, ModelStream, Provider, Timeouts, http};
use play::{Answer, Beat, Opening};
pub use script::{Script, ScriptError};

/// After so many deltas in a row others get their turn.
const BREATH: u32 = 64;

/// The offline model.
#[derive(Debug)]
pub struct Offline {
    script: Option<Script>,
    state: Mutex<script::State>,
    timeouts: Timeouts,
}

impl Offline {
    /// With the built-in script.
    #[must_use]
    pub fn new(timeouts: Timeouts) -> Self {
        Self {
            script: None,
            state: Mutex::default(),
            timeouts,
        }
    }

    /// Playing a scenario. The steps go to the requests of all agents that share this provider.
    #[must_use]
    pub fn scripted(script: Script, timeouts: Timeouts) -> Self {
        Self {
            script: Some(script),
            ..Self::new(timeouts)
        }
    }

    fn answer(&self, request: &ModelRequest) -> Answer {
        let Some(script) = &self.script else {
            return builtin::answer(request);
        };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let step = script.next(request, &mut state);
        play::answer(step, state.requests())
    }
}

impl Provider for Offline {
    fn stream(&self, request: ModelRequest) -> ModelStream {
        let player = Player {
            answer: self.answer(&request),
            timeouts: self.timeouts,
            accepted: false,
            ended: false,
            deltas: 0,
            breath: 0,
        };
        // Boxed, since the state is moved for each item.
        Box::pin(stream::unfold(Box::new(player), Player::next))
    }
}

/// An answer being played.
struct Player {
    answer: Answer,
    timeouts: Timeouts,
    accepted: bool,
    ended: bool,
    /// Pieces sent so far.
    deltas: u64,
    breath: u32,
}

type Item = Result<ModelDelta, ModelError>;

impl Player {
    async fn next(mut self: Box<Self>) -> Option<(Item, Box<Self>)> {
        if self.ended {
            return None;
        }
        let item = if self.accepted {
            self.beat().await
        } else {
            self.begin().await
        };
        self.ended = matches!(item, Err(_) | Ok(ModelDelta::Finished { .. }));
        Some((item, self))
    }

    async fn begin(&mut self) -> Item {
        if let Some(hang) = self
            .answer
            .hang
            .filter(|_| self.answer.hang_after.is_none())
        {
            pause(hang, self.timeouts.start, http::start_timeout).await?;
        }
        self.accepted = true;
        match std::mem::replace(&mut self.answer.opening, Opening::Accepted) {
            Opening::Accepted => Ok(ModelDelta::Accepted),
            Opening::Refused(error) => Err(error),
        }
    }

    async fn beat(&mut self) -> Item {
        self.breath += 1;
        if self.breath.is_multiple_of(BREATH) {
            tokio::task::yield_now().await;
        }
        let Some(beat) = self.answer.beats.next() else {
            return Err(super::answer::cut_short());
        };
        if let Some(delay) = self.answer.delay {
            pause(delay, self.timeouts.idle, http::idle_timeout).await?;
        }
        let counts = matches!(&beat, Beat::Piece(_));
        if self
            .answer
            .cut_after
            .is_some_and(|n| self.deltas >= n && (self.deltas > 0 || counts))
        {
            return Err(self.answer.cut.clone());
        }
        match beat {
            Beat::Other(delta) => Ok(delta),
            Beat::Failure(error) => Err(error),
            Beat::Piece(delta) => {
                if self.answer.hang_after == Some(self.deltas)
                    && let Some(hang) = self.answer.hang
                {
                    pause(hang, self.timeouts.idle, http::idle_timeout).await?;
                }
                if let Some((after, garbage)) = &self.answer.garbage
                    && *after == self.deltas
                {
                    play::read_garbage(garbage)?;
                }
                self.deltas += 1;
                Ok(delta)
            }
        }
    }
}

/// Waits, but not for longer than the limit, which then is the error.
async fn pause(
    wait: Duration,
    limit: Option<Duration>,
    error: fn(Duration) -> ModelError,
) -> Result<(), ModelError> {
    match limit {
        Some(limit) if limit < wait => {
            tokio::time::sleep(limit).await;
            Err(error(limit))
        }
        _ => {
            tokio::time::sleep(wait).await;
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests;
