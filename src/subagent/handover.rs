//! What a parent hands to its children beside their arguments, which everybody on the machine can see.

use std::ffi::OsString;

use serde::{Deserialize, Serialize};

use super::KEY_VARIABLE;
use crate::config::Secrets;
use crate::model::Secret;

/// The key of `--api-key`, the provider that it is for, and values that the child must not tell either.
#[derive(Clone, Default, Deserialize, Serialize)]
pub struct Handover {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<(String, String)>,
    #[serde(default)]
    hidden: Vec<String>,
}

impl Handover {
    /// A key with its provider, and all that `secrets` holds.
    #[must_use]
    pub fn new(key: Option<(String, Secret)>, secrets: &Secrets) -> Self {
        Self {
            key: key.map(|(provider, key)| (provider, key.expose().to_owned())),
            hidden: secrets.expose().map(str::to_owned).collect(),
        }
    }

    /// What the parent of this process has handed to it; nothing if it has none.
    #[must_use]
    pub fn of_parent() -> Self {
        let text = std::env::var(KEY_VARIABLE).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// The value of [`KEY_VARIABLE`]; `None` if there is nothing to hand over.
    pub(super) fn value(&self) -> Option<OsString> {
        let is_empty = self.key.is_none() && self.hidden.is_empty();
        let text = serde_json::to_string(self).ok()?;
        (!is_empty).then(|| text.into())
    }

    /// The key, and the provider that it is for.
    #[must_use]
    pub fn key(&self) -> Option<(String, Secret)> {
        let (provider, key) = self.key.as_ref()?;
        Some((provider.clone(), Secret::new(key.as_str())))
    }

    /// The key, if it is for this provider.
    #[must_use]
    pub fn key_for(&self, provider: &str) -> Option<Secret> {
        let (own, key) = self.key()?;
        (own == provider).then_some(key)
    }

    /// All values that must not be told, the key included.
    #[must_use]
    pub fn secrets(&self) -> Secrets {
        let mut secrets = Secrets::default();
        let key = self.key.iter().map(|(_, key)| key);
        for value in self.hidden.iter().chain(key) {
            secrets.hold(value);
        }
        secrets
    }
}

/// Only how much.
impl std::fmt::Debug for Handover {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handover")
            .field("hidden", &self.hidden.len())
            .finish_non_exhaustive()
    }
}
