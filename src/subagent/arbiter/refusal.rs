//! Why an agent gets no route.

use std::time::Duration;

use super::answer::Fault;
use crate::event::{ArbitrationErrorCode, ErrorCode};

/// Why there is no decision. The texts are our own: none holds anything of the task, the guide, the
/// request, or what the model or its service said.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The settings name no model.
    #[error("`subagentArbiter.model` is missing in the settings; it is a model as provider/id.")]
    NoModel,
    /// What the settings name is no name of a model.
    #[error("`subagentArbiter.model` of the settings is not of the form provider/id.")]
    NoName,
    /// No model may be chosen.
    #[error("There is no model to choose from: none has a key at hand.")]
    NoScope,
    /// The guide cannot be used.
    #[error("The guide, the file of `subagentArbiter.guidePath`, {0}.")]
    Guide(String),
    /// The arbiter's own model cannot be opened.
    #[error("The arbiter's model cannot be opened: {0}")]
    Model(String),
    /// The arbiter's own model lacks the thinking level that it is to have.
    #[error("The arbiter's model does not have the thinking level of the settings.")]
    Thinking,
    /// The request does not fit.
    #[error("The request is too long for the arbiter's model.")]
    TooLong,
    /// The request failed.
    #[error("The request to the arbiter's model failed ({code}{}).", shown(*.status))]
    Inference {
        /// The kind of failure.
        code: ErrorCode,
        /// The HTTP status, if there was one.
        status: Option<u16>,
    },
    /// The time was up.
    #[error("There was no decision within {}.", humantime::format_duration(*.0))]
    Timeout(Duration),
    /// The agents are to end.
    #[error("The run was stopped before there was a decision.")]
    Aborted,
    /// The answer is no route, not even on being asked again.
    #[error("The arbiter's answer cannot be used: {0}.")]
    Malformed(Fault),
    /// The definition that was asked for is not there.
    #[error("There is no agent of the name that was asked for.")]
    NoAgent,
    /// The answer names a definition that is not there.
    #[error("The arbiter chose an agent that is not defined.")]
    UnknownAgent,
    /// The answer names a model that is not to choose from.
    #[error("The arbiter chose a model that is not among those to choose from.")]
    OutOfScope,
    /// The answer names a thinking level that the model does not have.
    #[error("The arbiter chose a thinking level that its chosen model does not have.")]
    UnsupportedThinking,
    /// Our own fault.
    #[error("A fault in Quipu kept the arbiter from deciding.")]
    Internal,
    /// Nobody would know of the decision afterwards.
    #[error("The decision could not be kept in the session.")]
    Unrecorded,
}

impl Refusal {
    /// What programs are told.
    #[must_use]
    pub fn code(&self) -> ArbitrationErrorCode {
        use ArbitrationErrorCode as Code;
        match self {
            Self::NoModel | Self::NoName => Code::InvalidConfig,
            Self::NoScope => Code::MissingScope,
            Self::Guide(_) => Code::InvalidGuide,
            Self::Model(_) => Code::ArbiterModel,
            Self::Thinking => Code::ArbiterThinking,
            Self::TooLong => Code::ContextTooLarge,
            Self::Inference { .. } => Code::InferenceFailed,
            Self::Timeout(_) => Code::Timeout,
            Self::Aborted => Code::Aborted,
            Self::Malformed(_) => Code::MalformedOutput,
            Self::NoAgent | Self::UnknownAgent => Code::UnknownAgent,
            Self::OutOfScope => Code::OutOfScopeModel,
            Self::UnsupportedThinking => Code::UnsupportedThinking,
            Self::Internal => Code::InternalError,
            Self::Unrecorded => Code::ObservabilityFailed,
        }
    }
}

fn shown(status: Option<u16>) -> String {
    status.map_or_else(String::new, |status| format!(", status {status}"))
}
