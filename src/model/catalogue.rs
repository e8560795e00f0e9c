//! The models one can choose: those of the catalogue, those of `models.json`, and the offline model.
//!
//! A built-in provider gives an address and an API. What its models hold, cost and can do stands in
//! the catalogue, each entry with its source; the user's `models.json` wins over it field by field.

mod build;
mod error;
mod listed;
mod lookup;
mod providers;

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::Model;
use crate::config::credentials::Access;
use crate::config::models_file::ModelsFile;
use crate::config::settings::Settings;
use crate::event::ThinkingLevel;
use build::{Built, build};
use error::meant;
use lookup::Lookup;

pub use build::{Unpriced, is_this_machine};
pub use error::{Origin, SelectError};
pub use listed::{Listed, listed};
pub use providers::{BuiltIn, PROVIDERS};

#[cfg(test)]
mod tests;

/// Provider and id of the offline model.
pub const OFFLINE: &str = "offline";

/// The APIs that a provider or model of `models.json` may name.
pub const SUPPORTED_APIS: [&str; 4] = [
    "anthropic-messages",
    "openai-completions",
    "openai-responses",
    "google-generative-ai",
];

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// `--provider`.
    pub provider: Option<&'a str>,
    /// `--model`: `provider/id`, an id, a part of one, each with or without `:level`.
    pub model: Option<&'a str>,
    /// Where the defaults come from.
    pub settings: &'a Settings,
    /// The user's `settings.json`, for messages.
    pub settings_file: &'a Path,
    /// The user's models.
    pub models_file: &'a ModelsFile,
    /// Providers whose key is at hand; of several models with one name, theirs is meant.
    pub keys: &'a BTreeSet<String>,
}

/// A chosen model.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    /// The model. Its headers are empty until
    /// [`unlock`](crate::config::credentials::unlock) fills them in.
    pub model: Model,
    /// The thinking level that the name asked for with `:level`.
    pub thinking: Option<ThinkingLevel>,
    /// The way into its service.
    pub access: Access,
    /// Prices that nothing tells.
    pub unpriced: Unpriced,
    /// What the user should hear once.
    pub warnings: Vec<String>,
}

impl<'a> Request<'a> {
    /// Whether the flags ask for the offline model, which needs no `models.json`: a broken one need
    /// not be read then.
    #[must_use]
    pub fn is_offline(provider: Option<&str>, model: Option<&str>) -> bool {
        provider.is_none_or(|provider| provider == OFFLINE)
            && match model {
                Some(model) => is_offline_name(level_of(model).map_or(model, |(name, _)| name)),
                None => provider.is_some(),
            }
    }

    /// The provider and name to look up, and what named them.
    fn choice(&self) -> Result<(Option<&'a str>, &'a str, Origin), SelectError> {
        let Settings {
            default_provider,
            default_model,
            ..
        } = self.settings;
        let default_provider = default_provider.as_deref();
        if let Some(model) = self.model {
            return Ok((self.provider, model, Origin::ModelFlag));
        }
        let provider = self.provider.or(default_provider);
        // A default model belongs to the default provider.
        if let Some(model) = default_model
            && (default_provider.is_none() || provider == default_provider)
        {
            return Ok((provider, model, Origin::DefaultModel));
        }
        let Some(provider) = provider else {
            return Err(SelectError::NoModel {
                listed: self.models_file.models().map(lookup::full_name).collect(),
                settings_file: self.settings_file.to_owned(),
            });
        };
        let (origin, wanted) = match self.provider {
            Some(_) => (
                Origin::ProviderFlag,
                "`--model ID`, or use `--model offline`",
            ),
            None => (
                Origin::DefaultProvider,
                "`defaultModel` there, or `--model` on the command line",
            ),
        };
        if provider == OFFLINE {
            return Ok((None, OFFLINE, origin));
        }
        // One that the user has listed alone is meant; one of the catalogue nobody has named.
        let own = self.models_file.models();
        let own: Vec<_> = own.filter(|(name, _)| *name == provider).collect();
        if let [(provider, id)] = own[..] {
            return Ok((Some(provider), id, origin));
        }
        let lookup = Lookup {
            file: self.models_file,
            origin,
            prefer: None,
            keys: self.keys,
        };
        lookup.known_provider(provider, origin)?;
        let of_provider = lookup.models().filter(|(name, _)| *name == provider);
        Err(SelectError::NoModelOfProvider {
            origin,
            provider: provider.to_owned(),
            listed: of_provider.map(lookup::full_name).collect(),
            wanted,
        })
    }
}

/// Chooses the model of a run: by the flags, else by the settings; never one that nobody named.
///
/// A name is taken as `provider/id` (longest known provider first), as an id of the catalogue or of
/// `models.json`, or as a part of exactly one of those; `:level` at its end is a thinking level unless
/// a model is called so. Of several models that fit, the one of `defaultProvider` wins, else the only
/// one of `models.json`, else the only one of a provider whose key is at hand. A known provider is
/// asked for an id that is not listed, with a warning.
pub fn select(request: &Request<'_>) -> Result<Selection, SelectError> {
    let (provider, name, origin) = request.choice()?;
    find(request, provider, name, origin)
}

/// Chooses a model of a fallback chain by its name there, as [`select`] does by that of `--model`. The
/// flags of the request do not count.
pub fn select_fallback(request: &Request<'_>, name: &str) -> Result<Selection, SelectError> {
    select_by_name(request, name, Origin::FallbackChain)
}

/// Chooses the model of the dispatch arbiter by its name in the settings, likewise.
pub fn select_arbiter(request: &Request<'_>, name: &str) -> Result<Selection, SelectError> {
    select_by_name(request, name, Origin::Arbiter)
}

fn select_by_name(
    request: &Request<'_>,
    name: &str,
    origin: Origin,
) -> Result<Selection, SelectError> {
    let request = Request {
        provider: None,
        model: None,
        ..*request
    };
    find(&request, None, name, origin)
}

fn find(
    request: &Request<'_>,
    provider: Option<&str>,
    name: &str,
    origin: Origin,
) -> Result<Selection, SelectError> {
    let (stem, level) = level_of(name).map_or((name, None), |(stem, level)| (stem, Some(level)));
    if provider.is_none_or(|provider| provider == OFFLINE) && is_offline_name(stem) {
        return Ok(Selection {
            model: Model::offline(),
            thinking: level,
            access: Access {
                key_optional: true,
                ..Access::default()
            },
            unpriced: Unpriced::None,
            warnings: Vec::new(),
        });
    }
    let lookup = Lookup {
        file: request.models_file,
        origin,
        prefer: request.settings.default_provider.as_deref(),
        keys: request.keys,
    };
    if provider == Some(OFFLINE) {
        return Err(SelectError::UnknownModel {
            origin,
            name: name.to_owned(),
            suggestions: vec![OFFLINE.to_owned()],
            models_file: request.models_file.path().to_owned(),
        });
    }
    if let Some(provider) = provider {
        let origin = if request.provider.is_some() {
            Origin::ProviderFlag
        } else {
            Origin::DefaultProvider
        };
        lookup.known_provider(provider, origin)?;
    }
    let mut warnings = Vec::new();
    let (found, thinking) = match lookup.exact(provider, name)? {
        Some(found) => (found, None),
        None => match lookup.exact(provider, stem)? {
            Some(found) => (found, level),
            None => (lookup.loose(provider, stem, &mut warnings)?, level),
        },
    };
    let Built {
        mut model,
        access,
        unpriced,
    } = build(request.models_file, &found)?;
    model
        .thinking_budgets
        .clone_from(&request.settings.thinking_budgets);
    let file = request.models_file.path().display();
    let full = lookup::full_name((&found.provider, &found.id));
    if !found.listed {
        warnings.push(format!(
            "the model `{full}` is neither known nor in {file}: its limits are unknown and its cost \
             counts as 0{}",
            meant(&lookup.suggestions(&full))
        ));
    } else if !lookup.is_own((&found.provider, &found.id)) {
        // What the user's file leaves out is free there.
        match unpriced {
            Unpriced::All => warnings.push(format!(
                "no price of the model `{full}` is known: its cost counts as 0"
            )),
            Unpriced::CacheRead => warnings.push(format!(
                "what the model `{full}` takes for cached input is not known: it counts as 0"
            )),
            Unpriced::None => {}
        }
    }
    let unknown = request.models_file.unknown_keys(&found.provider, &found.id);
    if !unknown.is_empty() {
        let unknown: Vec<_> = unknown.iter().map(|path| format!("`{path}`")).collect();
        warnings.push(format!("{file}: ignored unknown {}", unknown.join(", ")));
    }
    let nonsense = request.models_file.nonsense(&found.provider, &found.id);
    warnings.extend(nonsense.iter().map(|text| format!("{file}: {text}")));
    Ok(Selection {
        model,
        thinking,
        access,
        unpriced,
        warnings,
    })
}

fn is_offline_name(name: &str) -> bool {
    name == OFFLINE || name == "offline/offline"
}

/// Splits `name:level`.
fn level_of(name: &str) -> Option<(&str, ThinkingLevel)> {
    let (stem, level) = name.rsplit_once(':')?;
    let level = serde_json::from_value(Value::from(level)).ok()?;
    (!stem.is_empty()).then_some((stem, level))
}
