//! From arguments and configuration to a connected model.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::sync::OnceLock;

use super::fallback::Chain;
use super::{Args, Failure, note};
use crate::config::credentials::{self, COMMAND_TIMEOUT, Credentials, CredentialsError, Sources};
use crate::config::models_file::ModelsFile;
use crate::config::settings::Settings;
use crate::config::{ConfigError, Environment, Paths, Secrets};
use crate::event::{ErrorCode, ModelRef, ThinkingLevel, ThinkingLevelClampedEvent};
use crate::model::catalogue::{self, Request, Selection};
use crate::model::{self, Api, Model, Offline, Provider, Script, Secret, Timeouts, clamp_thinking};

/// The level of a run that asks for none.
const DEFAULT_THINKING: ThinkingLevel = ThinkingLevel::Medium;

/// A model that can be asked.
pub(super) struct Opened {
    pub(super) model: Model,
    pub(super) provider: Box<dyn Provider>,
    pub(super) thinking: ThinkingLevel,
    /// Says that the level is another one than was asked for.
    pub(super) clamped: Option<ThinkingLevelClampedEvent>,
    /// Variables that tools do not get.
    pub(super) hidden_variables: Vec<OsString>,
    /// Values that must not get out.
    pub(super) secrets: Secrets,
    /// The models behind it.
    pub(super) chain: Option<Chain>,
}

/// Chooses the model, finds its key and connects; nothing is sent yet.
pub(super) async fn open(
    args: &Args,
    settings: &Settings,
    paths: Paths,
    environment: Environment,
    chosen: &OnceLock<ModelRef>,
) -> Result<Opened, Failure> {
    let offline = Request::is_offline(args.provider.as_deref(), args.model.as_deref());
    let models = match ModelsFile::load(&paths.models()) {
        // The offline model needs no such file, but the variables that it names stay secret.
        Err(_) if offline => ModelsFile::default(),
        models => models.map_err(|error| configuration(&error))?,
    };
    let keys = keys(&models, &paths, &environment);
    let selection = catalogue::select(&Request {
        provider: args.provider.as_deref(),
        model: args.model.as_deref(),
        settings,
        settings_file: &paths.settings(),
        models_file: &models,
        keys: &keys,
    })
    .map_err(|error| Failure::new(error.code(), error.to_string()))?;
    warn(&selection.warnings);
    chosen.get_or_init(|| ModelRef {
        provider: selection.model.provider.clone(),
        id: selection.model.id.clone(),
    });
    if args.script.is_some() && selection.model.api != Api::Offline {
        return Err(Failure::usage(format!(
            "--script is played by the offline model only: add --model offline (the model is {}/{}).",
            selection.model.provider, selection.model.id
        )));
    }

    // A level that only the settings name is a default and no request.
    let requested = args.thinking.or(selection.thinking);
    let flag = args.api_key.as_deref().map(Secret::new);
    let unlocked = unlock(flag, selection, &models, paths.clone(), environment.clone()).await?;
    let (model, credentials) = unlocked;
    warn(&credentials.warnings);
    let hidden_variables = hidden_variables(settings, &models, &credentials);
    let timeouts = timeouts(settings);
    let provider: Box<dyn Provider> = match &args.script {
        Some(file) => {
            let script = Script::load(file).map_err(|error| Failure::usage(error.to_string()))?;
            Box::new(Offline::scripted(script, timeouts))
        }
        None => model::connect(&model, credentials.key, timeouts)
            .map_err(|error| Failure::new(error.code, error.message))?,
    };
    let (thinking, clamped) = level(&model, requested, settings);
    let configured = (settings, paths, environment, models);
    let chain = Chain::behind(&model, args, configured, requested, clamped.as_ref());
    Ok(Opened {
        model,
        provider,
        thinking,
        clamped,
        hidden_variables,
        secrets: credentials.secrets,
        chain,
    })
}

/// The providers that a key is there for.
pub(super) fn keys(
    models: &ModelsFile,
    paths: &Paths,
    environment: &Environment,
) -> BTreeSet<String> {
    let sources = Sources {
        flag: None,
        auth_file: &paths.auth(),
        environment,
        command_timeout: COMMAND_TIMEOUT,
    };
    credentials::at_hand(models, &sources)
}

/// The level that a model runs at, and what is to be said if an explicit request is not met.
pub(super) fn level(
    model: &Model,
    requested: Option<ThinkingLevel>,
    settings: &Settings,
) -> (ThinkingLevel, Option<ThinkingLevelClampedEvent>) {
    let wanted = requested
        .or(settings.default_thinking_level)
        .unwrap_or(DEFAULT_THINKING);
    let (thinking, reason) = clamp_thinking(model, wanted);
    let told = requested.zip(reason);
    let clamped = told.map(|(requested_level, reason)| ThinkingLevelClampedEvent {
        provider: model.provider.clone(),
        model_id: model.id.clone(),
        requested_level,
        applied_level: thinking,
        reason,
    });
    (thinking, clamped)
}

/// The variables that tools do not get.
pub(super) fn hidden_variables(
    settings: &Settings,
    models: &ModelsFile,
    credentials: &Credentials,
) -> Vec<OsString> {
    if settings.tools_see_keys {
        return Vec::new();
    }
    let hidden = credentials::hidden_variables(models, Some(credentials));
    hidden.into_iter().map(Into::into).collect()
}

/// How long a service may be silent.
pub(super) fn timeouts(settings: &Settings) -> Timeouts {
    Timeouts {
        start: settings.stream_start_timeout(),
        idle: settings.idle_timeout(),
    }
}

/// Finds the key; commands that print keys may run, so signals are not held back meanwhile.
pub(super) async fn unlock(
    flag: Option<Secret>,
    selection: Selection,
    models: &ModelsFile,
    paths: Paths,
    environment: Environment,
) -> Result<(Model, Credentials), Failure> {
    let models = models.clone();
    let Selection {
        mut model, access, ..
    } = selection;
    tokio::task::spawn_blocking(move || {
        let sources = Sources {
            flag: flag.as_ref(),
            auth_file: &paths.auth(),
            environment: &environment,
            command_timeout: COMMAND_TIMEOUT,
        };
        let mut credentials = credentials::unlock(&mut model, &access, &sources)?;
        credentials::hold_known(&mut credentials.secrets, &models, &sources);
        Ok((model, credentials))
    })
    .await
    .map_err(|error| Failure::new(ErrorCode::Internal, error.to_string()))?
    .map_err(|error: CredentialsError| Failure::new(error.code(), error.to_string()))
}

/// A configuration file that cannot be used.
pub(super) fn configuration(error: &ConfigError) -> Failure {
    Failure::new(error.code(), error.to_string())
}

/// Tells the user what should be heard once.
pub(super) fn warn(warnings: &[String]) {
    for warning in warnings {
        note(&format!("quipu: warning: {warning}"));
    }
}
