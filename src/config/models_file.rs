//! `models.json`: providers and models of the user's own, and changes to the built-in providers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::json::{self, UnknownKeys};
use super::{ConfigError, ConfigValue, compat};

#[cfg(test)]
mod tests;

const REMEDY: &str = "Correct the value; `--model offline` works without this file.";

/// The content of a `models.json`. What it says of a model is judged when that model is selected,
/// so an entry for an API that is not supported does no harm.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct ModelsFile {
    #[serde(skip)]
    path: PathBuf,
    #[serde(default)]
    providers: BTreeMap<String, ProviderEntry>,
    #[serde(flatten)]
    unknown: UnknownKeys,
}

/// One provider of the file; for a built-in provider, what differs from it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ProviderEntry {
    /// Root of the service, such as `https://host/v1`.
    pub base_url: Option<String>,
    /// Name of the API, such as `anthropic-messages`.
    pub api: Option<String>,
    /// The key, where the key file and the environment have none.
    pub api_key: Option<ConfigValue>,
    /// Headers of every request.
    pub headers: Option<BTreeMap<String, ConfigValue>>,
    /// Send the key as `Authorization: Bearer`.
    pub auth_header: Option<bool>,
    /// Switches for services that differ from their API.
    pub compat: Option<Map<String, Value>>,
    /// The models.
    #[serde(deserialize_with = "with_ids")]
    pub models: Vec<ModelEntry>,
    /// Changes to models that are not in `models`, by id.
    pub model_overrides: BTreeMap<String, ModelEntry>,
    #[serde(flatten)]
    unknown: UnknownKeys,
}

/// One model; absent fields leave the provider's value or the default.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ModelEntry {
    /// What the service calls it; empty in `modelOverrides`, where the key is the id.
    pub id: String,
    /// What people call it.
    pub name: Option<String>,
    /// Name of the API, if it is not the provider's.
    pub api: Option<String>,
    /// Root of the service, if it is not the provider's.
    pub base_url: Option<String>,
    /// Whether it can think.
    pub reasoning: Option<bool>,
    /// What it takes: `text`, `image`.
    pub input: Option<Vec<String>>,
    /// Its prices.
    pub cost: Option<CostEntry>,
    /// Size of its context window in tokens.
    #[serde(deserialize_with = "some_tokens")]
    pub context_window: Option<u64>,
    /// Longest answer in tokens.
    #[serde(deserialize_with = "some_tokens")]
    pub max_tokens: Option<u64>,
    /// Further headers of every request.
    pub headers: Option<BTreeMap<String, ConfigValue>>,
    /// Further switches, over the provider's.
    pub compat: Option<Map<String, Value>>,
    /// What the service calls each thinking level; null for one it does not have.
    pub thinking_level_map: Option<BTreeMap<String, Option<String>>>,
    #[serde(flatten)]
    unknown: UnknownKeys,
}

/// Prices in US dollars per million tokens; one that is absent is not known.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct CostEntry {
    /// Input that no cache held.
    #[serde(deserialize_with = "price")]
    pub input: Option<f64>,
    /// Output.
    #[serde(deserialize_with = "price")]
    pub output: Option<f64>,
    /// Input read from a cache.
    #[serde(deserialize_with = "price")]
    pub cache_read: Option<f64>,
    /// Input written to a cache.
    #[serde(deserialize_with = "price")]
    pub cache_write: Option<f64>,
    #[serde(flatten)]
    unknown: UnknownKeys,
}

impl ModelsFile {
    /// Reads the file; one that is not there is empty.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let mut file = match json::read(path)? {
            Some(text) => json::parse(path, &text, REMEDY)?,
            None => Self::default(),
        };
        path.clone_into(&mut file.path);
        Ok(file)
    }

    /// Where it was read from, or would stand.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The entry of a provider.
    #[must_use]
    pub fn provider(&self, name: &str) -> Option<&ProviderEntry> {
        self.providers.get(name)
    }

    /// Every provider, by name.
    pub fn providers(&self) -> impl Iterator<Item = (&str, &ProviderEntry)> {
        self.providers
            .iter()
            .map(|(name, entry)| (name.as_str(), entry))
    }

    /// Every model as provider and id: those of `models` in their order, then those of
    /// `modelOverrides`.
    pub fn models(&self) -> impl Iterator<Item = (&str, &str)> {
        self.providers()
            .flat_map(|(name, entry)| entry.ids().map(move |id| (name, id)))
    }

    /// The environment variables that keys and headers may be taken from.
    pub(super) fn variables(&self) -> impl Iterator<Item = &str> {
        self.providers
            .values()
            .flat_map(|provider| {
                let models = provider
                    .models
                    .iter()
                    .chain(provider.model_overrides.values());
                let headers = models
                    .map(|model| &model.headers)
                    .chain([&provider.headers]);
                provider
                    .api_key
                    .iter()
                    .chain(headers.flatten().flat_map(BTreeMap::values))
            })
            .flat_map(ConfigValue::variables)
    }

    /// The paths of the keys that nothing reads, of those that bear on the model `id` of
    /// `provider`.
    #[must_use]
    pub fn unknown_keys(&self, provider: &str, id: &str) -> Vec<String> {
        let mut paths = Vec::new();
        self.unknown.collect("", &mut paths);
        let Some(entry) = self.provider(provider) else {
            return paths;
        };
        let at = format!("providers.{provider}");
        entry.unknown.collect(&at, &mut paths);
        if let Some(switches) = &entry.compat {
            compat::unknown(switches, &format!("{at}.compat"), &mut paths);
        }
        for (path, model) in entry.of_model(provider, id) {
            model.collect_unknown(&path, &mut paths);
        }
        paths
    }

    /// A sentence for each switch whose value makes no sense, of those that bear on the model `id` of
    /// `provider`.
    #[must_use]
    pub fn nonsense(&self, provider: &str, id: &str) -> Vec<String> {
        let mut told = Vec::new();
        let Some(entry) = self.provider(provider) else {
            return told;
        };
        let models = entry.of_model(provider, id);
        let models = models.map(|(path, model)| (path, &model.compat));
        let own = (format!("providers.{provider}"), &entry.compat);
        for (path, switches) in [own].into_iter().chain(models) {
            if let Some(switches) = switches {
                compat::nonsense(switches, &format!("{path}.compat"), &mut told);
            }
        }
        told
    }
}

impl ProviderEntry {
    /// The ids that the entry lists.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        let models = self.models.iter().map(|model| model.id.as_str());
        let is_listed = |id: &str| self.models.iter().any(|model| model.id == id);
        models.chain(
            self.model_overrides
                .keys()
                .map(String::as_str)
                .filter(move |id| !is_listed(id)),
        )
    }

    /// The entries of this provider that speak of the model `id`, with their paths.
    fn of_model<'a>(
        &'a self,
        provider: &str,
        id: &str,
    ) -> impl Iterator<Item = (String, &'a ModelEntry)> + use<'a> {
        let at = format!("providers.{provider}");
        let index = self.models.iter().position(|model| model.id == id);
        let listed = index.map(|index| (format!("{at}.models[{index}]"), &self.models[index]));
        let over = self.model_overrides.get(id);
        let over = over.map(|model| (format!("{at}.modelOverrides.{id}"), model));
        listed.into_iter().chain(over)
    }

    /// The entries that speak of the model `id`, the weaker first.
    pub(crate) fn entries(&self, id: &str) -> [Option<&ModelEntry>; 2] {
        [
            self.models.iter().find(|model| model.id == id),
            self.model_overrides.get(id),
        ]
    }
}

impl ModelEntry {
    /// The paths of the keys that nothing reads.
    #[cfg(test)]
    pub(crate) fn unknown_keys(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.collect_unknown("", &mut paths);
        paths
    }

    fn collect_unknown(&self, at: &str, paths: &mut Vec<String>) {
        self.unknown.collect(at, paths);
        if let Some(cost) = &self.cost {
            cost.unknown.collect(&format!("{at}.cost"), paths);
        }
        let dot = if at.is_empty() { "" } else { "." };
        if let Some(levels) = &self.thinking_level_map {
            let path = format!("{at}{dot}thinkingLevelMap");
            compat::unknown_levels(levels.keys(), &path, paths);
        }
        if let Some(switches) = &self.compat {
            compat::unknown(switches, &format!("{at}{dot}compat"), paths);
        }
    }
}

/// A model of a list needs its id. The check is made on each, so that the error names its place.
fn with_ids<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ModelEntry>, D::Error> {
    struct Listed(ModelEntry);
    impl<'de> Deserialize<'de> for Listed {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let model = ModelEntry::deserialize(deserializer)?;
            if model.id.is_empty() {
                return Err(serde::de::Error::custom(
                    "lacks `id`, the model's name at its service",
                ));
            }
            Ok(Self(model))
        }
    }
    let models = Vec::<Listed>::deserialize(deserializer)?;
    Ok(models.into_iter().map(|Listed(model)| model).collect())
}

fn some_tokens<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let tokens = Option::<u64>::deserialize(deserializer)?;
    if tokens == Some(0) {
        return Err(serde::de::Error::custom(
            "is 0, expected a number of tokens (1 or more)",
        ));
    }
    Ok(tokens)
}

fn price<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let price = Option::<f64>::deserialize(deserializer)?;
    if price.is_some_and(|price| price < 0.0) {
        return Err(serde::de::Error::custom(
            "is negative, expected US dollars per million tokens (0 or more)",
        ));
    }
    Ok(price)
}
