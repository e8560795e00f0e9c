//! When no further compaction is tried.

use std::time::{Duration, Instant};

use crate::event::CompactionRejectionCause;

/// Compactions that a process may make.
const MOST_ACCEPTED: u32 = 10;
/// Failures in a row after which none is tried for a while.
const MOST_FAILURES: u32 = 3;
/// That while.
const PAUSE: Duration = Duration::from_mins(1);

/// What there was so far.
#[derive(Debug, Default)]
pub(super) struct Guard {
    accepted: u32,
    failures: u32,
    paused_until: Option<Instant>,
}

impl Guard {
    /// Why there can be none now.
    pub(super) fn refusal(&self, now: Instant) -> Option<CompactionRejectionCause> {
        if self.accepted >= MOST_ACCEPTED {
            Some(CompactionRejectionCause::PerTurnCap)
        } else if self.paused_until.is_some_and(|until| now < until) {
            Some(CompactionRejectionCause::CircuitBreaker)
        } else {
            None
        }
    }

    /// One took effect.
    pub(super) fn accepted(&mut self) {
        self.accepted += 1;
        self.failures = 0;
        self.paused_until = None;
    }

    /// One led to nothing, though it was asked for. After a pause a single further failure begins
    /// the next one.
    pub(super) fn failed(&mut self, now: Instant) {
        self.failures += 1;
        if self.failures >= MOST_FAILURES {
            self.paused_until = Some(now + PAUSE);
        }
    }
}

/// A refusal in words.
pub(super) fn words(cause: CompactionRejectionCause) -> String {
    let why = match cause {
        CompactionRejectionCause::WouldOverflow => {
            "the context would be too long even with the summary.".to_owned()
        }
        CompactionRejectionCause::CircuitBreaker => format!(
            "{MOST_FAILURES} in a row have failed; the next is tried {} s later.",
            PAUSE.as_secs()
        ),
        CompactionRejectionCause::PerTurnCap => {
            format!("there have been {MOST_ACCEPTED} already, and no more are made.")
        }
        CompactionRejectionCause::CancelledByExtension => "a hook said no.".to_owned(),
        CompactionRejectionCause::ExternalOwner => {
            "the provider compacts this session itself.".to_owned()
        }
    };
    format!("Compaction rejected: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_failures_in_a_row_pause_it() {
        let (mut guard, start) = (Guard::default(), Instant::now());
        for _ in 0..2 {
            guard.failed(start);
        }
        guard.accepted();
        for _ in 0..2 {
            guard.failed(start);
            assert_eq!(guard.refusal(start), None);
        }
        guard.failed(start);
        let breaker = Some(CompactionRejectionCause::CircuitBreaker);
        assert_eq!(guard.refusal(start + PAUSE / 2), breaker);
        assert_eq!(guard.refusal(start + PAUSE), None);
        guard.failed(start + PAUSE);
        assert_eq!(guard.refusal(start + PAUSE), breaker);
    }

    #[test]
    fn ten_are_enough() {
        let (mut guard, now) = (Guard::default(), Instant::now());
        for _ in 0..10 {
            assert_eq!(guard.refusal(now), None);
            guard.accepted();
        }
        let cap = Some(CompactionRejectionCause::PerTurnCap);
        assert_eq!(guard.refusal(now), cap);
    }
}
