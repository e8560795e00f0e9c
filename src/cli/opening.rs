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
use crate::model::catalogue::{self, Origin, Request, Selection};
use crate::model::{self, Api, Model, Offline, Provider, Script, Secret, Timeouts, clamp_thinking};
use crate::subagent::KEY_VARIABLE;

/// The level of a run that asks for none.
const DEFAULT_THINKING: ThinkingLevel = ThinkingLevel::Medium;

/// What a session was like before, which holds unless the flags say otherwise.
#[derive(Clone, Copy, Default)]
pub(super) struct Before<'a> {
    /// The model that answered last.
    pub(super) model: Option<&'a ModelRef>,
    /// How much it was to think.
    pub(super) thinking: Option<ThinkingLevel>,
}

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

/// The keys that are known before a model is chosen, without a command being run.
pub(super) fn known_secrets(args: &Args) -> Secrets {
    let environment = Environment::current();
    let mut secrets = Secrets::default();
    if let Some(key) = environment.text(KEY_VARIABLE) {
        secrets.hold(key);
    }
    if let Ok(paths) = Paths::from_environment(&environment) {
        // Files that cannot be read are told of when the model is chosen.
        let models = ModelsFile::load(&paths.models()).unwrap_or_default();
        let flag = args.api_key.as_deref().map(Secret::new);
        let sources = Sources {
            flag: flag.as_ref(),
            auth_file: &paths.auth(),
            environment: &environment,
            command_timeout: COMMAND_TIMEOUT,
        };
        credentials::hold_known(&mut secrets, &models, &sources);
    }
    secrets
}

/// Opens the model of a session, or the one that the flags ask for. A session's model that cannot be
/// had any more is told, and the settings decide.
pub(super) async fn open_for(
    args: &Args,
    settings: &Settings,
    (paths, environment): (Paths, Environment),
    chosen: &OnceLock<ModelRef>,
    before: Before<'_>,
) -> Result<Opened, Failure> {
    let mut defaults = settings.clone();
    if let Some(usual) = before.thinking.or(args.usual_thinking) {
        defaults.default_thinking_level = Some(usual);
    }
    let stored = match before.model {
        Some(stored) if args.provider.is_none() && args.model.is_none() => stored,
        _ => return open(args, &defaults, paths, environment, chosen).await,
    };
    let again = Settings {
        default_provider: Some(stored.provider.clone()),
        default_model: Some(stored.id.clone()),
        ..defaults.clone()
    };
    let tried = OnceLock::new();
    let reason = match open(args, &again, paths.clone(), environment.clone(), &tried).await {
        Ok(opened) if opened.model.provider == stored.provider && opened.model.id == stored.id => {
            chosen.get_or_init(|| stored.clone());
            return Ok(opened);
        }
        Ok(opened) => format!("its name now stands for {}", opened.model.id),
        Err(Failure {
            code: ErrorCode::Configuration | ErrorCode::Credentials,
            message,
            ..
        }) => [Origin::DefaultModel, Origin::DefaultProvider]
            .iter()
            .fold(message, |text, origin| {
                text.replace(&origin.to_string(), "it")
            }),
        Err(failure) => return Err(failure),
    };
    let told = format!(
        "the session's model {}/{} cannot be used: {reason}",
        stored.provider, stored.id
    );
    match open(args, &defaults, paths, environment, chosen).await {
        Ok(opened) => {
            let Model { provider, id, .. } = &opened.model;
            warn(&[format!("{told}. {provider}/{id} goes on")]);
            Ok(opened)
        }
        Err(failure) => {
            warn(&[told]);
            Err(failure)
        }
    }
}

/// Chooses the model, finds its key and connects; nothing is sent yet.
async fn open(
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
    let mut keys = keys(&models, &paths, &environment);
    keys.extend(args.handover.key().map(|(provider, _)| provider));
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
    let flag = args.key_for(&selection.model.provider);
    let unlocked = unlock(flag, selection, &models, paths.clone(), environment.clone()).await?;
    let (mut model, credentials) = unlocked;
    warn(&credentials.warnings);
    let hidden_variables = hidden_variables(settings, &models, &credentials);
    let timeouts = timeouts(settings);
    let provider: Box<dyn Provider> = match &args.script {
        Some(file) => {
            let script = Script::load(file).map_err(|error| Failure::usage(error.to_string()))?;
            model.context_window = script.context_window().or(model.context_window);
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
