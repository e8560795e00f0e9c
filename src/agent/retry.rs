//! Whether and when a failed request is made again.

use std::time::Duration;

use crate::model::ModelError;

/// How often and how long to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Retries in a row; 0 turns them off.
    pub max_retries: u32,
    /// Wait before the first retry; it doubles with each further one.
    pub base_delay: Duration,
    /// Longest wait that a service may ask for; `None` is no bound.
    pub longest_hint: Option<Duration>,
}

/// What comes after a failed answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Ask again after this wait.
    Retry(Duration),
    /// Asking again would not help, or there were enough retries.
    GiveUp,
    /// The service wants a longer wait than the settings allow.
    TooLong(Duration),
}

impl RetryPolicy {
    /// What to do after a failure, `retries` retries into a series.
    pub(super) fn next(&self, retries: u32, error: &ModelError) -> Next {
        if !error.retryable || retries >= self.max_retries {
            return Next::GiveUp;
        }
        match error.retry_after.filter(|hint| !hint.is_zero()) {
            Some(hint) if self.longest_hint.is_some_and(|longest| hint > longest) => {
                Next::TooLong(hint)
            }
            Some(hint) => Next::Retry(hint),
            None => Next::Retry(self.base_delay.saturating_mul(1 << retries.min(20))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Next, RetryPolicy};
    use crate::model::ModelError;

    const POLICY: RetryPolicy = RetryPolicy {
        max_retries: 3,
        base_delay: Duration::from_secs(2),
        longest_hint: Some(Duration::from_mins(1)),
    };

    fn after(hint: Option<u64>) -> ModelError {
        ModelError {
            retry_after: hint.map(Duration::from_secs),
            ..ModelError::network("cut")
        }
    }

    #[test]
    fn the_wait_doubles_until_the_budget_is_spent() {
        let waits: Vec<_> = (0..4)
            .map(|retries| POLICY.next(retries, &after(None)))
            .collect();
        let wait = |seconds| Next::Retry(Duration::from_secs(seconds));
        assert_eq!(waits, [wait(2), wait(4), wait(8), Next::GiveUp]);
    }

    #[test]
    fn a_hint_takes_the_place_of_the_formula_within_its_bound() {
        assert_eq!(
            POLICY.next(0, &after(Some(7))),
            Next::Retry(Duration::from_secs(7))
        );
        assert_eq!(
            POLICY.next(0, &after(Some(0))),
            Next::Retry(Duration::from_secs(2))
        );
        assert_eq!(
            POLICY.next(0, &after(Some(61))),
            Next::TooLong(Duration::from_secs(61))
        );
        let unbounded = RetryPolicy {
            longest_hint: None,
            ..POLICY
        };
        assert_eq!(
            unbounded.next(0, &after(Some(61))),
            Next::Retry(Duration::from_secs(61))
        );
    }

    #[test]
    fn what_cannot_heal_is_not_retried() {
        let fatal = ModelError {
            retryable: false,
            ..after(None)
        };
        assert_eq!(POLICY.next(0, &fatal), Next::GiveUp);
        assert_eq!(
            RetryPolicy {
                max_retries: 0,
                ..POLICY
            }
            .next(0, &after(None)),
            Next::GiveUp
        );
    }
}
