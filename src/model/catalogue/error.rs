//! Why no model could be chosen.

use std::fmt;
use std::path::PathBuf;

use super::SUPPORTED_APIS;
use crate::event::ErrorCode;

/// Why no model could be chosen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectError {
    /// None is named anywhere.
    #[error(
        "no model is chosen. Choose one in one of these ways: `--model PROVIDER/ID`{}; \
         \"defaultProvider\" and \"defaultModel\" in {}; or `--model offline`, the built-in model \
         that needs no network and no key", examples(listed), settings_file.display()
    )]
    NoModel {
        /// What `models.json` offers.
        listed: Vec<String>,
        /// The user's settings.
        settings_file: PathBuf,
    },
    /// A provider alone, with none or several models.
    #[error(
        "{origin} names the provider `{provider}` but no model{}. Add {wanted}",
        offered(listed)
    )]
    NoModelOfProvider {
        /// What named it.
        origin: Origin,
        /// The provider.
        provider: String,
        /// Its models.
        listed: Vec<String>,
        /// What to add.
        wanted: &'static str,
    },
    /// No such provider.
    #[error(
        "{origin} names `{name}`, which is no known provider{}. Known: {}; others go into {}, and \
         `--model offline` needs none", meant(suggestions), known.join(", "), models_file.display()
    )]
    UnknownProvider {
        /// What named it.
        origin: Origin,
        /// The name.
        name: String,
        /// Names close to it.
        suggestions: Vec<String>,
        /// Every provider.
        known: Vec<String>,
        /// The models file.
        models_file: PathBuf,
    },
    /// No such model, and no provider to ask for it.
    #[error(
        "{origin} names `{name}`, which fits no known model{}. Name it as PROVIDER/ID (`quipu models` \
         lists them), add it to {}, or use `--model offline`", meant(suggestions),
        models_file.display()
    )]
    UnknownModel {
        /// What named it.
        origin: Origin,
        /// The name.
        name: String,
        /// Names close to it.
        suggestions: Vec<String>,
        /// The models file.
        models_file: PathBuf,
    },
    /// Several models fit.
    #[error(
        "{origin} names `{name}`, which fits several models: {}. Name one of them in full",
        shortened(candidates)
    )]
    Ambiguous {
        /// What named it.
        origin: Origin,
        /// The name.
        name: String,
        /// Each as `provider/id`.
        candidates: Vec<String>,
    },
    /// The model speaks an API that is not there.
    #[error(
        "the model `{model}` uses the api `{api}` ({place}), which is not supported. Supported: {}; \
         choose another model, or `--model offline`", SUPPORTED_APIS.join(", ")
    )]
    UnsupportedApi {
        /// `provider/id`.
        model: String,
        /// Name of the API.
        api: String,
        /// The file that says so.
        place: String,
    },
    /// The entry of the model lacks something, or it cannot be used.
    #[error("{}: the model `{model}` {problem}", models_file.display())]
    Unusable {
        /// The models file.
        models_file: PathBuf,
        /// `provider/id`.
        model: String,
        /// What is wrong and how to put it right.
        problem: String,
    },
}

/// What named a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// `--model`.
    ModelFlag,
    /// `--provider`.
    ProviderFlag,
    /// `defaultModel`.
    DefaultModel,
    /// `defaultProvider`.
    DefaultProvider,
    /// `retry.fallbackChains`.
    FallbackChain,
    /// `subagentArbiter.model`.
    Arbiter,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ModelFlag => "--model",
            Self::ProviderFlag => "--provider",
            Self::DefaultModel => "`defaultModel` of the settings",
            Self::DefaultProvider => "`defaultProvider` of the settings",
            Self::FallbackChain => "`retry.fallbackChains` of the settings",
            Self::Arbiter => "`subagentArbiter.model` of the settings",
        })
    }
}

impl SelectError {
    /// The code of the failed run: [`ErrorCode::Usage`] for a wrong flag value, else
    /// [`ErrorCode::Configuration`].
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NoModelOfProvider { origin, .. }
            | Self::UnknownProvider { origin, .. }
            | Self::UnknownModel { origin, .. }
            | Self::Ambiguous { origin, .. }
                if matches!(origin, Origin::ModelFlag | Origin::ProviderFlag) =>
            {
                ErrorCode::Usage
            }
            _ => ErrorCode::Configuration,
        }
    }
}

fn shortened(names: &[String]) -> String {
    const SHOWN: usize = 10;
    let text = names[..names.len().min(SHOWN)].join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

fn examples(listed: &[String]) -> String {
    if listed.is_empty() {
        String::new()
    } else {
        format!(" (models.json has {})", shortened(listed))
    }
}

fn offered(listed: &[String]) -> String {
    if listed.is_empty() {
        String::new()
    } else {
        format!("; it has {}", shortened(listed))
    }
}

pub(super) fn meant(suggestions: &[String]) -> String {
    if suggestions.is_empty() {
        String::new()
    } else {
        format!(" (did you mean {}?)", suggestions.join(" or "))
    }
}
