//! API keys: where they are looked for, and what is said when there is none.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use super::models_file::ModelsFile;
use super::value::usable;
use super::{ConfigError, ConfigValue, Environment, Secrets, ValueError, json};
use crate::event::ErrorCode;
use crate::model::{Model, Secret, catalogue};

#[cfg(test)]
mod tests;

/// How long a command that prints a key may take.
pub const COMMAND_TIMEOUT: Duration = Duration::from_secs(10);

const REMEDY: &str =
    "The file looks like {\"PROVIDER\": {\"type\": \"api_key\", \"key\": \"…\"}}; correct it.";

/// What the configuration says of the way into a model's service. Made by
/// [`catalogue::select`](crate::model::catalogue::select).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Access {
    /// The provider's key in `models.json`.
    pub api_key: Option<ConfigValue>,
    /// Headers of every request.
    pub headers: Vec<(String, ConfigValue)>,
    /// Variables that hold a key of this provider, the first that is set counts.
    pub variables: &'static [&'static str],
    /// Whether the service may be asked without a key: a server on this machine, or one that a
    /// header opens.
    pub key_optional: bool,
    /// The `models.json` that this comes from.
    pub models_file: PathBuf,
}

/// Where to look for keys.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'a> {
    /// `--api-key`.
    pub flag: Option<&'a Secret>,
    /// The key file; it need not exist.
    pub auth_file: &'a Path,
    /// The environment.
    pub environment: &'a Environment,
    /// How long a command may take; normally [`COMMAND_TIMEOUT`].
    pub command_timeout: Duration,
}

/// What opens a model's service.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    /// The key; `None` if the service needs none and none was found.
    pub key: Option<Secret>,
    /// The key and the secret header values, for taking them out of what leaves the process.
    pub secrets: Secrets,
    /// Variables of the key file that gave a key.
    pub variables: Vec<String>,
    /// What the user should hear once.
    pub warnings: Vec<String>,
}

/// Why there are no credentials. No text quotes a key.
#[derive(Debug, thiserror::Error)]
pub enum CredentialsError {
    /// No place has a key.
    #[error(
        "no API key for provider `{provider}`. Looked at: {looked_at}. {remedy}; `--model offline` \
         needs no key"
    )]
    Missing {
        /// The provider.
        provider: String,
        /// Every place and what it holds.
        looked_at: String,
        /// How to give a key.
        remedy: String,
    },
    /// A place has a key or header that cannot be used.
    #[error("{place} {source}. Correct it, or use `--model offline`, which needs no key")]
    Value {
        /// Where it stands.
        place: String,
        /// What is wrong.
        source: ValueError,
    },
    /// Other users can read the key file.
    #[error(
        "{}: every user of this machine can read the keys (mode {mode:03o}). Run `chmod 600 {}`; \
         change the keys if others use this machine", file.display(), file.display()
    )]
    Exposed {
        /// The key file.
        file: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The key file cannot be read.
    #[error(transparent)]
    File(#[from] ConfigError),
}

impl CredentialsError {
    /// The code of the failed run.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::File(error) => error.code(),
            Self::Missing { .. } | Self::Value { .. } | Self::Exposed { .. } => {
                ErrorCode::Credentials
            }
        }
    }
}

/// The key file: one entry a provider.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
struct AuthFile(BTreeMap<String, AuthEntry>);

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct AuthEntry {
    #[serde(rename = "type")]
    kind: Option<String>,
    key: Option<ConfigValue>,
}

/// Finds the key of `model` and puts the header values of `access` into it.
///
/// Keys are looked for at `--api-key`, in the key file, in the environment, in `models.json`, in
/// that order. Commands are run, so this can block for [`Sources::command_timeout`] each.
pub fn unlock(
    model: &mut Model,
    access: &Access,
    sources: &Sources<'_>,
) -> Result<Credentials, CredentialsError> {
    let mut credentials = Credentials::default();
    if model.provider == catalogue::OFFLINE {
        return Ok(credentials);
    }
    let provider = &model.provider;
    credentials.key = find_key(provider, access, sources, &mut credentials)?;
    if let Some(key) = &credentials.key
        // Servers that want no key are given their own name for one: no secret, but a word that
        // stands in many texts.
        && !key.expose().eq_ignore_ascii_case(provider)
    {
        credentials.secrets.hold(key.expose());
    }
    for (name, value) in &access.headers {
        let secret = value
            .resolve(sources.environment, sources.command_timeout)
            .map_err(|source| CredentialsError::Value {
                place: format!(
                    "the header `{name}` of provider `{provider}` in {}",
                    access.models_file.display()
                ),
                source,
            })?;
        if opens(name) || value.is_indirect(sources.environment) {
            credentials.secrets.hold(secret.expose());
        }
        model
            .headers
            .retain(|(old, _)| !old.eq_ignore_ascii_case(name));
        model
            .headers
            .push((name.clone(), secret.expose().to_owned()));
    }
    Ok(credentials)
}

fn find_key(
    provider: &str,
    access: &Access,
    sources: &Sources<'_>,
    found: &mut Credentials,
) -> Result<Option<Secret>, CredentialsError> {
    let fail = |place: String| move |source| CredentialsError::Value { place, source };
    if let Some(flag) = sources.flag {
        return usable(flag.expose())
            .map(Some)
            .map_err(fail("the value of --api-key".into()));
    }
    let mut looked_at = vec!["--api-key (not given)".to_owned()];

    let auth = sources.auth_file.display();
    let held = match json::read(sources.auth_file)? {
        None => Err("no such file".to_owned()),
        Some(text) => {
            let AuthFile(mut entries) = json::parse(sources.auth_file, &text, REMEDY)?;
            match entries.remove(provider) {
                None => Err(format!("no entry `{provider}`")),
                Some(AuthEntry { kind, .. })
                    if kind.as_deref().unwrap_or("api_key") != "api_key" =>
                {
                    Err(format!(
                        "its entry `{provider}` is a login and not an API key, which is not supported"
                    ))
                }
                Some(AuthEntry { key: None, .. }) => {
                    Err(format!("its entry `{provider}` has no `key`"))
                }
                Some(AuthEntry { key: Some(key), .. }) => Ok(key),
            }
        }
    };
    match held {
        Ok(value) => {
            check_mode(sources.auth_file, &mut found.warnings)?;
            found.variables = value.variables().into_iter().map(str::to_owned).collect();
            return value
                .resolve(sources.environment, sources.command_timeout)
                .map(Some)
                .map_err(fail(format!("the key of provider `{provider}` in {auth}")));
        }
        Err(what) => looked_at.push(format!("{auth} ({what})")),
    }

    for name in access.variables {
        if let Some(value) = sources.environment.get(name) {
            let value = value.to_str().unwrap_or("\u{fffd}");
            return usable(value)
                .map(Some)
                .map_err(fail(format!("the variable {name}")));
        }
        looked_at.push(format!("the variable {name} (not set)"));
    }

    let place = format!(
        "`providers.{provider}.apiKey` in {}",
        access.models_file.display()
    );
    if let Some(value) = &access.api_key {
        if value.looks_like_an_unset_variable(sources.environment) {
            found.warnings.push(format!(
                "{place} looks like the name of a variable, but none of that name is set: it is \
                 sent as the key itself"
            ));
        }
        return value
            .resolve(sources.environment, sources.command_timeout)
            .map(Some)
            .map_err(fail(place));
    }
    if access.key_optional {
        return Ok(None);
    }
    looked_at.push(format!("{place} (absent)"));
    let set = match access.variables {
        [name, ..] => format!("Set {name}, or put"),
        [] => format!("Set {place}, or put"),
    };
    Err(CredentialsError::Missing {
        provider: provider.to_owned(),
        looked_at: looked_at.join(", "),
        remedy: format!(
            "{set} {{\"{provider}\": {{\"type\": \"api_key\", \"key\": \"…\"}}}} into {auth} (mode \
             600), or pass --api-key"
        ),
    })
}

/// A key file that everyone can read is refused, as ssh does; one that the group can read may be
/// meant so.
fn check_mode(file: &Path, warnings: &mut Vec<String>) -> Result<(), CredentialsError> {
    let about = std::fs::metadata(file).map_err(|source| ConfigError::Read {
        file: file.to_owned(),
        source,
    })?;
    let mode = about.permissions().mode() & 0o777;
    if mode & 0o004 != 0 {
        return Err(CredentialsError::Exposed {
            file: file.to_owned(),
            mode,
        });
    }
    if mode & 0o040 != 0 {
        warnings.push(format!(
            "{}: its group can read the keys (mode {mode:03o}); `chmod 600` keeps them to you",
            file.display()
        ));
    }
    Ok(())
}

/// Whether a header of this name carries a credential.
pub(crate) fn opens(header: &str) -> bool {
    let header = header.to_ascii_lowercase();
    header == "cookie"
        || ["authorization", "key", "token", "secret"]
            .iter()
            .any(|part| header.ends_with(part))
}

/// The providers that a key can be told to be there for, without running a command or judging it.
#[must_use]
pub fn at_hand(models: &ModelsFile, sources: &Sources<'_>) -> BTreeSet<String> {
    let text = json::read(sources.auth_file).ok().flatten();
    let entries = text.and_then(|text| json::parse(sources.auth_file, &text, REMEDY).ok());
    let AuthFile(entries) = entries.unwrap_or_default();
    let in_auth = entries.into_iter().filter(|(_, entry)| entry.key.is_some());
    let in_environment = catalogue::PROVIDERS.iter().filter(|provider| {
        let mut variables = provider.variables.iter();
        variables.any(|name| sources.environment.get(name).is_some())
    });
    let in_models = models
        .providers()
        .filter(|(_, entry)| entry.api_key.is_some());
    in_auth
        .map(|(name, _)| name)
        .chain(in_environment.map(|provider| provider.name.to_owned()))
        .chain(in_models.map(|(name, _)| name.to_owned()))
        .collect()
}

/// Remembers every key that can be told without running a command, those of other providers
/// included: what tools read and show may hold them.
pub fn hold_known(secrets: &mut Secrets, models: &ModelsFile, sources: &Sources<'_>) {
    let environment = sources.environment;
    if let Some(key) = sources.flag {
        secrets.hold(key.expose());
    }
    for name in hidden_variables(models, None) {
        secrets.hold(environment.text(&name).unwrap_or_default());
    }
    // A key file that cannot be read gives nothing to tools either, or is told of elsewhere.
    let text = json::read(sources.auth_file).ok().flatten();
    let entries = text.and_then(|text| json::parse(sources.auth_file, &text, REMEDY).ok());
    let AuthFile(entries) = entries.unwrap_or_default();
    let in_auth = entries
        .iter()
        .filter_map(|(name, entry)| Some((name.as_str(), entry.key.as_ref()?)));
    let in_models = models
        .providers()
        .filter_map(|(name, entry)| Some((name, entry.api_key.as_ref()?)));
    for (provider, value) in in_auth.chain(in_models) {
        if let Some(key) = value.known(environment)
            // Servers that want no key are given their own name for one: no secret.
            && key.expose() != provider
        {
            secrets.hold(key.expose());
        }
    }
}

/// The environment variables to keep from tools: those that hold keys of the built-in providers,
/// and those that `models.json` and the key file take values from.
#[must_use]
pub fn hidden_variables(
    models: &ModelsFile,
    credentials: Option<&Credentials>,
) -> BTreeSet<String> {
    catalogue::PROVIDERS
        .iter()
        .flat_map(|provider| provider.variables)
        .map(|name| (*name).to_owned())
        .chain(models.variables().map(str::to_owned))
        .chain(
            credentials
                .into_iter()
                .flat_map(|found| found.variables.iter().cloned()),
        )
        .collect()
}
