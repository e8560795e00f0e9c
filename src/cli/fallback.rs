//! The models that the settings put behind the chosen one, opened when they are needed.

use std::collections::VecDeque;

use futures_util::future::BoxFuture;

use super::opening::{self, unlock, warn};
use super::{Args, Failure};
use crate::agent::{FallbackModel, FallbackModels};
use crate::config::models_file::ModelsFile;
use crate::config::settings::Settings;
use crate::config::{Environment, Paths};
use crate::event::{ErrorCode, ThinkingLevel, ThinkingLevelClampedEvent};
use crate::model::catalogue::{self, OFFLINE, Request, listed};
use crate::model::{self, Model, Secret};

/// The chain of the chosen model.
pub(super) struct Chain {
    /// The names that were not asked for yet.
    names: VecDeque<String>,
    settings: Settings,
    paths: Paths,
    environment: Environment,
    models: ModelsFile,
    /// The key beside all configuration, and the provider that it is for.
    flag: Option<(String, Secret)>,
    /// The level that was asked for, of whichever model.
    requested: Option<ThinkingLevel>,
    /// The model that answers now.
    current: (String, String),
    /// What was said of levels.
    told: Vec<ThinkingLevelClampedEvent>,
}

impl Chain {
    /// The chain that the settings have for this model, if any.
    pub(super) fn behind(
        model: &Model,
        args: &Args,
        (settings, paths, environment, models): (&Settings, Paths, Environment, ModelsFile),
        requested: Option<ThinkingLevel>,
        clamped: Option<&ThinkingLevelClampedEvent>,
    ) -> Option<Self> {
        warn(&unknown_models(settings, &models, model));
        let names = settings.retry.fallback_chain(&model.provider, &model.id);
        if names.is_empty() {
            return None;
        }
        Some(Self {
            names: names.iter().cloned().collect(),
            settings: settings.clone(),
            paths,
            environment,
            models,
            flag: match args.api_key.as_deref().map(Secret::new) {
                Some(key) => Some((model.provider.clone(), key)),
                None => args.handover.key(),
            },
            requested,
            current: (model.provider.clone(), model.id.clone()),
            told: clamped.cloned().into_iter().collect(),
        })
    }

    /// Opens the model of this name; `None` if it is the one that has just failed.
    async fn open(&mut self, name: &str) -> Result<Option<FallbackModel>, Failure> {
        let request = Request {
            provider: None,
            model: None,
            settings: &self.settings,
            settings_file: &self.paths.settings(),
            models_file: &self.models,
            keys: &opening::keys(&self.models, &self.paths, &self.environment),
        };
        let selection = catalogue::select_fallback(&request, name)
            .map_err(|error| Failure::new(error.code(), error.to_string()))?;
        let named = (selection.model.provider.clone(), selection.model.id.clone());
        if named == self.current {
            if selection.thinking.is_some() {
                let text = "it is the model that has failed, and another level does not help it";
                return Err(Failure::new(ErrorCode::Configuration, text));
            }
            return Ok(None);
        }
        warn(&selection.warnings);
        let requested = selection.thinking.or(self.requested);
        // The key on the command line opens one service and is not shown to another.
        let flag = self.flag.clone().filter(|(own, _)| *own == named.0);
        let flag = flag.map(|(_, key)| key);
        let (paths, environment) = (self.paths.clone(), self.environment.clone());
        let (model, found) = unlock(flag, selection, &self.models, paths, environment).await?;
        warn(&found.warnings);
        let hidden_variables = opening::hidden_variables(&self.settings, &self.models, &found);
        let provider = model::connect(&model, found.key, opening::timeouts(&self.settings))
            .map_err(|error| Failure::new(error.code, error.message))?;
        let (thinking, clamped) = opening::level(&model, requested, &self.settings);
        let clamped = clamped.filter(|clamped| !self.told.contains(clamped));
        self.told.extend(clamped.clone());
        self.current = named;
        Ok(Some(FallbackModel {
            model,
            provider,
            thinking,
            clamped,
            secrets: found.secrets,
            hidden_variables,
        }))
    }
}

/// What to say of chains for models that nobody knows, other than `model`, which is in use. The names
/// there are whole and in the service's own case.
fn unknown_models(settings: &Settings, models: &ModelsFile, model: &Model) -> Vec<String> {
    if !settings.retry.model_fallback {
        return Vec::new();
    }
    let is = |name: &str, (provider, id): (&str, &str)| {
        let of_provider = name.strip_prefix(provider);
        id == name || of_provider.and_then(|rest| rest.strip_prefix('/')) == Some(id)
    };
    let is_known = |name: &str| {
        is(name, (&model.provider, &model.id))
            || is(name, (OFFLINE, OFFLINE))
            || models.models().any(|known| is(name, known))
            || listed()
                .iter()
                .any(|known| is(name, (&known.provider, known.id())))
    };
    let names = settings.retry.fallback_chains.keys();
    let unknown = names.filter(|name| !is_known(name));
    let text = |name| {
        format!(
            "retry.fallbackChains has a chain for `{name}`, which is no model that is known: name it \
             as PROVIDER/ID or ID, in full, in its own case and without a level"
        )
    };
    unknown.map(text).collect()
}

impl FallbackModels for Chain {
    fn is_exhausted(&self) -> bool {
        self.names.is_empty()
    }

    fn next(&mut self) -> BoxFuture<'_, Option<FallbackModel>> {
        Box::pin(async {
            while let Some(name) = self.names.pop_front() {
                match self.open(&name).await {
                    Ok(Some(fallback_model)) => return Some(fallback_model),
                    Ok(None) => {}
                    Err(failure) => {
                        warn(&[format!(
                            "the fallback model `{name}` is left out: {failure}"
                        )]);
                    }
                }
            }
            None
        })
    }
}
