//! From the entries of `models.json` to a model.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde_json::{Map, Value};

use super::listed;
use super::lookup::{Found, full_name};
use super::{BuiltIn, PROVIDERS, SUPPORTED_APIS, SelectError};
use crate::config::ConfigValue;
use crate::config::credentials::{self, Access};
use crate::config::models_file::{CostEntry, ModelEntry, ModelsFile, ProviderEntry};
use crate::model::{Api, Model, Prices};

/// Limits of a listed model that gives none.
const CONTEXT_WINDOW: u64 = 128_000;
const MAX_TOKENS: u64 = 16_384;

/// What is said of one model.
struct Entries<'a> {
    built_in: Option<&'static BuiltIn>,
    provider: &'a ProviderEntry,
    /// What is known without the file.
    known: Option<&'a ModelEntry>,
    /// What the file says, the weaker first.
    model: [Option<&'a ModelEntry>; 2],
}

impl<'a> Entries<'a> {
    /// A field of the model, from the strongest entry of the file that has it.
    fn given<T>(&self, field: impl Fn(&'a ModelEntry) -> Option<T>) -> Option<T> {
        self.model.into_iter().rev().flatten().find_map(field)
    }

    /// The same, or what is known without the file.
    fn pick<T>(&self, field: impl Fn(&'a ModelEntry) -> Option<T> + Copy) -> Option<T> {
        self.given(field).or_else(|| field(self.known?))
    }

    fn price(&self, of: impl Fn(&CostEntry) -> Option<f64> + Copy) -> Option<f64> {
        self.pick(|model| of(model.cost.as_ref()?))
    }

    fn headers(&self) -> Vec<(String, ConfigValue)> {
        let of_model = self
            .model
            .into_iter()
            .flatten()
            .filter_map(|model| model.headers.as_ref());
        let mut headers: Vec<(String, ConfigValue)> = Vec::new();
        for (name, value) in self.provider.headers.iter().chain(of_model).flatten() {
            headers.retain(|(old, _)| !old.eq_ignore_ascii_case(name));
            headers.push((name.clone(), value.clone()));
        }
        headers
    }

    /// The switches, with the model's names of thinking levels under `thinkingLevelMap`.
    fn compat(&self) -> Map<String, Value> {
        let known = self.known.and_then(|known| known.compat.clone());
        let mut compat = known.unwrap_or_default();
        compat.extend(self.provider.compat.clone().unwrap_or_default());
        let mut levels = Map::new();
        for entry in [self.known].into_iter().chain(self.model).flatten() {
            let names = entry.thinking_level_map.iter().flatten();
            levels.extend(names.map(|(level, name)| (level.clone(), Value::from(name.clone()))));
        }
        for entry in self.model.into_iter().flatten() {
            compat.extend(entry.compat.clone().unwrap_or_default());
        }
        if !levels.is_empty() {
            compat.insert("thinkingLevelMap".to_owned(), Value::Object(levels));
        }
        compat
    }
}

/// What the entries say of a model.
pub(super) struct Built {
    pub(super) model: Model,
    pub(super) access: Access,
    /// The prices that no entry gives.
    pub(super) unpriced: Unpriced,
}

/// Which prices of a model are not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unpriced {
    /// None that matters.
    None,
    /// That of input read from a cache.
    CacheRead,
    /// All of them.
    All,
}

/// The model as its entries describe it: those of the file for the model, then for its provider, then
/// what is known without the file.
pub(super) fn build(file: &ModelsFile, found: &Found) -> Result<Built, SelectError> {
    let Found { provider, id, .. } = found;
    let full = full_name((provider, id));
    let none = ProviderEntry::default();
    let entry = file.provider(provider).unwrap_or(&none);
    let entries = Entries {
        built_in: PROVIDERS.iter().find(|known| known.name == provider),
        provider: entry,
        known: listed::find(provider, id).map(|known| &known.entry),
        model: entry.entries(id),
    };
    let unusable = |problem: String| SelectError::Unusable {
        models_file: file.path().to_owned(),
        model: full.clone(),
        problem,
    };
    let lacks = |field, example| {
        unusable(format!(
            "has no `{field}`; add one to `providers.{provider}`, such as \"{example}\""
        ))
    };

    let from_file = entries.given(|m| m.api.as_deref()).or(entry.api.as_deref());
    let api = from_file
        .or(entries.known.and_then(|known| known.api.as_deref()))
        .or(entries.built_in.map(|known| known.api))
        .ok_or_else(|| lacks("api", SUPPORTED_APIS[0]))?;
    if !SUPPORTED_APIS.contains(&api) {
        return Err(SelectError::UnsupportedApi {
            model: full,
            api: api.to_owned(),
            place: match from_file {
                Some(_) => file.path().display().to_string(),
                None => "built in".to_owned(),
            },
        });
    }
    let base_url = entries
        .pick(|m| m.base_url.as_deref())
        .or(entry.base_url.as_deref())
        .or(entries.built_in.map(|known| known.base_url))
        .ok_or_else(|| lacks("baseUrl", "http://127.0.0.1:8080"))?;
    if !base_url.starts_with("http://") && !base_url.starts_with("https://") {
        return Err(unusable(
            "has a `baseUrl` that begins with neither http:// nor https://; correct it".to_owned(),
        ));
    }

    let headers = entries.headers();
    let access = Access {
        api_key: entry.api_key.clone(),
        key_optional: entries.built_in.is_some_and(|known| known.local)
            || is_this_machine(base_url)
            || headers.iter().any(|(name, _)| credentials::opens(name)),
        headers,
        variables: entries.built_in.map_or(&[], |known| known.variables),
        models_file: file.path().to_owned(),
    };
    // The defaults are for a model that the file lists; of one that only an override names, what is
    // not known stays so.
    let is_listed = entries.model[0].is_some();
    let limit = |given: Option<u64>, default| given.or(is_listed.then_some(default));
    let [input, output] = [entries.price(|c| c.input), entries.price(|c| c.output)];
    let cache_read = entries.price(|c| c.cache_read);
    let unpriced = match (input.or(output), cache_read) {
        (None, _) => Unpriced::All,
        (Some(_), None) => Unpriced::CacheRead,
        _ => Unpriced::None,
    };
    let model = Model {
        provider: provider.clone(),
        id: id.clone(),
        name: entries.pick(|m| m.name.as_deref()).unwrap_or(id).to_owned(),
        api: Api::from(api),
        base_url: base_url.trim_end_matches('/').to_owned(),
        headers: Vec::new(),
        reasoning: entries.pick(|m| m.reasoning).unwrap_or(false),
        images: entries
            .pick(|m| m.input.as_ref())
            .is_some_and(|input| input.iter().any(|kind| kind == "image")),
        cost: Prices {
            input: input.unwrap_or_default(),
            output: output.unwrap_or_default(),
            cache_read: cache_read.unwrap_or_default(),
            cache_write: entries.price(|c| c.cache_write).unwrap_or_default(),
        },
        context_window: limit(entries.pick(|m| m.context_window), CONTEXT_WINDOW),
        max_tokens: limit(entries.pick(|m| m.max_tokens), MAX_TOKENS),
        auth_header: entry.auth_header.unwrap_or(false),
        compat: entries.compat(),
        thinking_budgets: BTreeMap::new(),
    };
    Ok(Built {
        model,
        access,
        unpriced,
    })
}

/// Whether a base URL names this machine.
#[must_use]
pub fn is_this_machine(base_url: &str) -> bool {
    let rest = base_url
        .split_once("://")
        .map_or(base_url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = match host.strip_prefix('[') {
        Some(host) => host.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    host.eq_ignore_ascii_case("localhost")
        || host
            .parse()
            .is_ok_and(|address: IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::is_this_machine;

    #[test]
    fn only_loopback_addresses_are_this_machine() {
        for (base_url, here) in [
            ("http://127.0.0.1:8080/v1", true),
            ("http://localhost", true),
            ("http://[::1]:1/v1", true),
            ("http://user:word@localhost/", true),
            ("https://127.0.0.1.example.com/v1", false),
            ("https://localhost.example.com", false),
            ("https://localhost@example.com", false),
            ("https://example.com/localhost", false),
            ("https://example.com", false),
        ] {
            assert_eq!(is_this_machine(base_url), here, "{base_url}");
        }
    }
}
