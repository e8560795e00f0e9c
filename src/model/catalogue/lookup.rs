//! From a name to a model.

use std::collections::BTreeSet;

use crate::config::models_file::ModelsFile;

use super::listed::{self, listed};
use super::{OFFLINE, Origin, PROVIDERS, SelectError};

/// Names less alike than this are no slip of the finger.
const ALIKE: f64 = 0.75;

/// A model found.
pub(super) struct Found {
    pub(super) provider: String,
    pub(super) id: String,
    /// Whether the catalogue or `models.json` has it.
    pub(super) listed: bool,
}

impl Found {
    fn new((provider, id): (&str, &str), listed: bool) -> Self {
        Self {
            provider: provider.to_owned(),
            id: id.to_owned(),
            listed,
        }
    }
}

pub(super) fn full_name((provider, id): (&str, &str)) -> String {
    format!("{provider}/{id}")
}

pub(super) struct Lookup<'a> {
    pub(super) file: &'a ModelsFile,
    /// What gave the name, for messages.
    pub(super) origin: Origin,
    /// The provider that wins among several with the same id.
    pub(super) prefer: Option<&'a str>,
    /// Providers whose key is at hand.
    pub(super) keys: &'a BTreeSet<String>,
}

impl<'a> Lookup<'a> {
    /// Every provider that a name may begin with.
    fn providers(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let file = self.file;
        let built_in = PROVIDERS.iter().map(|provider| provider.name);
        let own = file.providers().map(|(name, _)| name);
        built_in.chain(own.filter(|name| PROVIDERS.iter().all(|known| known.name != *name)))
    }

    /// Every model: those of the file, then the others of the catalogue.
    pub(super) fn models(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        let file = self.file;
        let known = listed().iter().map(|model| (&*model.provider, model.id()));
        let others = known.filter(|known| file.models().all(|own| own != *known));
        file.models().chain(others)
    }

    /// Whether the user's file has the model.
    pub(super) fn is_own(&self, model: (&str, &str)) -> bool {
        self.file.models().any(|own| own == model)
    }

    /// An error that suggests others unless there is such a provider.
    pub(super) fn known_provider(&self, name: &str, origin: Origin) -> Result<(), SelectError> {
        if self.providers().any(|known| known == name) {
            return Ok(());
        }
        Err(SelectError::UnknownProvider {
            origin,
            name: name.to_owned(),
            suggestions: alike(name, self.providers().chain([OFFLINE]).map(str::to_owned)),
            known: self.providers().map(str::to_owned).collect(),
            models_file: self.file.path().to_owned(),
        })
    }

    /// Splits `provider/id` at the longest known provider.
    fn split<'n>(&self, name: &'n str) -> Option<(&'a str, &'n str)> {
        self.providers()
            .filter_map(|known| Some((known, name.strip_prefix(known)?.strip_prefix('/')?)))
            .max_by_key(|(known, _)| known.len())
    }

    /// The listed model of exactly this name.
    pub(super) fn exact(
        &self,
        provider: Option<&str>,
        name: &str,
    ) -> Result<Option<Found>, SelectError> {
        let is_listed =
            |(provider, id): (&str, &str)| self.models().any(|model| model == (provider, id));
        if let Some(provider) = provider {
            // `--provider p --model p/id` says the provider twice.
            let short = name
                .strip_prefix(provider)
                .and_then(|rest| rest.strip_prefix('/'));
            let ids = [Some(name), short].into_iter().flatten();
            let found = ids.map(|id| (provider, id)).find(|model| is_listed(*model));
            return Ok(found.map(|model| Found::new(model, true)));
        }
        if let Some(model) = self.split(name).filter(|model| is_listed(*model)) {
            return Ok(Some(Found::new(model, true)));
        }
        self.only(name, self.models().filter(|(_, id)| *id == name))
    }

    /// A model whose name differs in case or holds this one; else one of a known provider that is
    /// not listed.
    pub(super) fn loose(
        &self,
        provider: Option<&str>,
        name: &str,
        warnings: &mut Vec<String>,
    ) -> Result<Found, SelectError> {
        let named = match provider {
            Some(provider) => {
                let short = name
                    .strip_prefix(provider)
                    .and_then(|rest| rest.strip_prefix('/'));
                Some((provider, short.unwrap_or(name)))
            }
            None => self.split(name),
        };
        let wanted = named.map_or(name, |(_, id)| id);
        let lower = wanted.to_lowercase();
        let models = || {
            let of_provider = named.map(|(provider, _)| provider);
            self.models()
                .filter(move |(name, _)| of_provider.is_none_or(|of| of == *name))
        };
        if !wanted.is_empty() {
            let same = models().filter(|model| {
                model.1.to_lowercase() == lower || full_name(*model).to_lowercase() == lower
            });
            if let Some(found) = self.only(name, same)? {
                return Ok(found);
            }
            let holding = models().filter(|(provider, id)| {
                // Of a named provider, a name that a known one only goes on from may be a model of
                // its own that is not known yet.
                if named.is_some()
                    && id.to_lowercase().starts_with(&lower)
                    && !self.is_own((provider, id))
                {
                    return false;
                }
                // The provider's name counts unless it is settled.
                let whole = if named.is_some() {
                    (*id).to_owned()
                } else {
                    full_name((provider, id))
                };
                whole.to_lowercase().contains(&lower) || self.label(provider, id).contains(&lower)
            });
            if let Some(found) = self.only(name, holding)? {
                warnings.push(format!(
                    "`{name}` is taken for the model `{}`",
                    full_name((&found.provider, &found.id))
                ));
                return Ok(found);
            }
            if let Some(model) = named {
                return Ok(Found::new(model, false));
            }
        }
        Err(match (named, name.split_once('/')) {
            // `provider/` without an id.
            (Some((provider, _)), _) => SelectError::NoModelOfProvider {
                origin: self.origin,
                provider: provider.to_owned(),
                listed: models().map(full_name).collect(),
                wanted: "the model's id after it",
            },
            (None, Some((provider, _))) if !alike_any(provider, self.providers()).is_empty() => {
                SelectError::UnknownProvider {
                    origin: self.origin,
                    name: provider.to_owned(),
                    suggestions: alike_any(provider, self.providers()),
                    known: self.providers().map(str::to_owned).collect(),
                    models_file: self.file.path().to_owned(),
                }
            }
            (None, _) => SelectError::UnknownModel {
                origin: self.origin,
                name: name.to_owned(),
                suggestions: self.suggestions(name),
                models_file: self.file.path().to_owned(),
            },
        })
    }

    /// The one model of an iterator, none, or an error with all of them. Of several, that of the
    /// preferred provider is meant, else that of the user's file, else that of a provider whose key
    /// is at hand.
    fn only<'m>(
        &self,
        name: &str,
        models: impl Iterator<Item = (&'m str, &'m str)>,
    ) -> Result<Option<Found>, SelectError> {
        let models: Vec<_> = models.collect();
        let one = |fits: &dyn Fn((&str, &str)) -> bool| {
            let mut fitting = models.iter().filter(|model| fits(**model));
            fitting.next().filter(|_| fitting.next().is_none())
        };
        let found = one(&|_| true)
            .or_else(|| one(&|(provider, _)| Some(provider) == self.prefer))
            .or_else(|| one(&|model| self.is_own(model)))
            .or_else(|| one(&|(provider, _)| self.keys.contains(provider)));
        match found {
            Some(model) => Ok(Some(Found::new(*model, true))),
            None if models.is_empty() => Ok(None),
            None => Err(SelectError::Ambiguous {
                origin: self.origin,
                name: name.to_owned(),
                candidates: models.iter().map(|model| full_name(*model)).collect(),
            }),
        }
    }

    /// What people call a listed model, in lower case.
    fn label(&self, provider: &str, id: &str) -> String {
        let own = self.file.provider(provider).map(|entry| entry.entries(id));
        let own = own.into_iter().flatten().rev().flatten();
        let known = listed::find(provider, id).map(|known| &known.entry);
        own.chain(known)
            .find_map(|model| model.name.as_deref())
            .unwrap_or_default()
            .to_lowercase()
    }

    /// Names of models close to `name`.
    pub(super) fn suggestions(&self, name: &str) -> Vec<String> {
        let models: Vec<_> = self.models().collect();
        let mut close = alike(name, models.iter().map(|model| full_name(*model)));
        let by_id = models.iter().filter(|(_, id)| likeness(name, id) >= ALIKE);
        let longer = models.iter().map(|model| full_name(*model));
        let longer = longer.filter(|full| full.starts_with(name));
        for model in by_id
            .map(|model| full_name(*model))
            .chain(longer)
            .chain(alike(name, [OFFLINE.to_owned()]))
        {
            if close.len() < SUGGESTIONS && !close.contains(&model) {
                close.push(model);
            }
        }
        close
    }
}

const SUGGESTIONS: usize = 3;

fn likeness(a: &str, b: &str) -> f64 {
    strsim::normalized_damerau_levenshtein(&a.to_lowercase(), &b.to_lowercase())
}

fn alike_any<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    alike(name, names.map(str::to_owned))
}

/// The names most like `name`, best first.
fn alike(name: &str, names: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut close: Vec<_> = names
        .into_iter()
        .map(|other| (likeness(name, &other), other))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .collect();
    close.sort_by(|a, b| b.0.total_cmp(&a.0));
    close
        .into_iter()
        .take(SUGGESTIONS)
        .map(|(_, name)| name)
        .collect()
}
