//! The models that are known without a `models.json`, as `models.json` beside this file has them.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::config::models_file::ModelEntry;

/// What is known of one model, and where that is from.
#[derive(Clone, Debug, Deserialize)]
pub struct Listed {
    /// Its built-in provider.
    pub provider: String,
    /// Where the facts were found: addresses, or `REPOSITORY@COMMIT:PATH` on GitHub.
    pub source: Vec<String>,
    /// The day that the source says it was checked, else the day it was read; `YYYY-MM-DD`.
    pub date: String,
    /// What the fields cannot say.
    pub note: Option<String>,
    #[serde(flatten)]
    pub(super) entry: ModelEntry,
}

impl Listed {
    /// The id that the service knows it by.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.entry.id
    }
}

#[derive(Deserialize)]
struct Catalogue {
    models: Vec<Listed>,
}

/// Read when a model is looked up, so that the offline model does not wait for it.
static MODELS: LazyLock<Vec<Listed>> = LazyLock::new(|| {
    let text = include_str!("models.json");
    // The tests read it whole.
    serde_json::from_str(text).map_or_else(|_| Vec::new(), |file: Catalogue| file.models)
});

/// Every known model.
#[must_use]
pub fn listed() -> &'static [Listed] {
    &MODELS
}

/// What is known of a model.
pub(super) fn find(provider: &str, id: &str) -> Option<&'static Listed> {
    listed()
        .iter()
        .find(|model| model.provider == provider && model.id() == id)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::event::ThinkingLevel;
    use crate::model::catalogue::{PROVIDERS, SUPPORTED_APIS};

    /// The least that the file has, so that one which cannot be read is not taken for an empty one.
    const SOME: usize = 30;

    fn is_source(text: &str) -> bool {
        let address = |text: &str| text.starts_with("https://") && text.len() > 20;
        let in_repository = |text: &str| {
            let (repository, rest) = text.split_once('@')?;
            let (commit, path) = rest.split_once(':')?;
            let hex = |c: char| c.is_ascii_hexdigit();
            let whole = repository.split('/').count() == 2 && !path.is_empty();
            Some(whole && commit.len() == 40 && commit.chars().all(hex))
        };
        address(text) || in_repository(text) == Some(true)
    }

    /// `YYYY-MM-DD` of a day since the first of these models.
    fn is_date(text: &str) -> bool {
        let parts: Vec<_> = text.split('-').collect();
        let number = |part: &str, width, range: std::ops::RangeInclusive<u32>| {
            part.len() == width && part.parse().is_ok_and(|number| range.contains(&number))
        };
        matches!(parts[..], [y, m, d]
            if number(y, 4, 2024..=2100) && number(m, 2, 1..=12) && number(d, 2, 1..=31))
    }

    #[test]
    fn every_entry_says_where_it_is_from_and_is_in_range() {
        let models = listed();
        assert!(models.len() > SOME, "{}", models.len());
        let mut seen = BTreeSet::new();
        for model in models {
            let entry = &model.entry;
            let name = format!("{}/{}", model.provider, entry.id);
            assert!(!entry.id.is_empty() && seen.insert(name.clone()), "{name}");
            assert!(
                PROVIDERS.iter().any(|known| known.name == model.provider),
                "{name}"
            );
            assert!(
                !model.source.is_empty() && model.source.iter().all(|text| is_source(text)),
                "{name}: {:?}",
                model.source
            );
            assert!(is_date(&model.date), "{name}: {}", model.date);
            assert_eq!(entry.unknown_keys(), [""; 0], "{name}");
            let api = entry.api.as_deref().unwrap_or_default();
            assert!(SUPPORTED_APIS.contains(&api), "{name}: {api}");
            assert!(entry.name.as_ref().is_some_and(|name| !name.is_empty()));
            let input = entry.input.clone().unwrap_or_default();
            assert!(input.iter().any(|kind| kind == "text"), "{name}");
            assert!(input.iter().all(|kind| kind == "text" || kind == "image"));
            assert!(entry.reasoning.is_some(), "{name}");
            let tokens = 1_000..=10_000_000;
            for limit in [entry.context_window, entry.max_tokens] {
                assert!(limit.is_none_or(|limit| tokens.contains(&limit)), "{name}");
            }
            assert!(
                entry
                    .max_tokens
                    .is_none_or(|most| entry.context_window.is_some_and(|window| most <= window))
            );
            if let Some(cost) = &entry.cost {
                let prices = [cost.input, cost.output, cost.cache_read, cost.cache_write];
                for price in prices.into_iter().flatten() {
                    assert!((0.0..1000.0).contains(&price), "{name}: {price}");
                }
                assert!(cost.input.is_some() && cost.output.is_some(), "{name}");
                assert!(cost.cache_read.is_none_or(|read| Some(read) < cost.input));
            }
            for level in entry
                .thinking_level_map
                .iter()
                .flatten()
                .map(|(key, _)| key)
            {
                let known = ThinkingLevel::ALL.iter().any(|l| l.as_str() == level);
                assert!(known && entry.reasoning == Some(true), "{name}: {level}");
            }
        }
    }

    #[test]
    fn the_checks_of_sources_and_dates_check() {
        let commit = "0".repeat(40);
        for (text, good) in [
            ("https://example.com/models", true),
            (format!("owner/name@{commit}:a/b.toml").as_str(), true),
            ("from memory", false),
            ("owner/name@main:a/b.toml", false),
            (format!("owner@{commit}:a").as_str(), false),
        ] {
            assert_eq!(is_source(text), good, "{text}");
        }
        for (text, good) in [
            ("2026-11-30", true),
            ("2026-13-01", false),
            ("2026-1-1", false),
            ("", false),
        ] {
            assert_eq!(is_date(text), good, "{text}");
        }
    }
}
