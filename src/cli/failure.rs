//! What ends the program without a run, and the one place that turns errors into exit statuses.

use crate::config::Secrets;
use crate::event::{ErrorCode, StreamError};

/// A start-up failure: nothing was asked of a model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// Its kind, as in `stream_end.error.code`.
    pub code: ErrorCode,
    /// What is wrong and what to do.
    pub message: String,
    /// Whether the user was told already.
    told: bool,
}

impl Failure {
    /// A failure of the given kind.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            told: false,
        }
    }

    /// A failure that stands on standard error already.
    #[must_use]
    pub fn told(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            told: true,
        }
    }

    /// Whether the failure stands on standard error already.
    #[must_use]
    pub fn is_told(&self) -> bool {
        self.told
    }

    /// The failure without a key that stands on the command line.
    #[must_use]
    pub fn without(self, key: Option<&str>) -> Self {
        let mut secrets = Secrets::default();
        secrets.hold(key.unwrap_or_default());
        self.without_all(&secrets)
    }

    /// The failure without any of these values.
    #[must_use]
    pub fn without_all(mut self, secrets: &Secrets) -> Self {
        self.message = secrets.scrub(&self.message).into_owned();
        self
    }

    /// A bad flag, value or input file.
    #[must_use]
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Usage, message)
    }
}

impl From<Failure> for StreamError {
    fn from(failure: Failure) -> Self {
        Self {
            code: failure.code,
            message: failure.message,
            retryable: false,
        }
    }
}

/// The exit status that tells of an error.
///
/// `2` for usage, `3` for configuration and credentials found wanting before the first request, `1` for
/// everything else. Signals have their own statuses (128 + number).
#[must_use]
pub fn exit_code(code: ErrorCode) -> u8 {
    match code {
        ErrorCode::Usage => 2,
        ErrorCode::Configuration | ErrorCode::Credentials => 3,
        _ => 1,
    }
}

/// Whether an error is one of the model's service, which ends an answer.
pub(super) fn is_model_failure(code: ErrorCode) -> bool {
    match code {
        ErrorCode::Auth
        | ErrorCode::RateLimited
        | ErrorCode::Overloaded
        | ErrorCode::ContextOverflow
        | ErrorCode::Quota
        | ErrorCode::InvalidRequest
        | ErrorCode::ContentRefused
        | ErrorCode::Network
        | ErrorCode::Timeout
        | ErrorCode::ProviderError => true,
        ErrorCode::Usage
        | ErrorCode::Configuration
        | ErrorCode::Credentials
        | ErrorCode::Session
        | ErrorCode::Limit
        | ErrorCode::Interrupted
        | ErrorCode::Internal => false,
    }
}
