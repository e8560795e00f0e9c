//! `quipu models`: what can be named with `--model`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::cli::{Failure, exit_code, note};
use crate::config::credentials::{self, COMMAND_TIMEOUT, Sources};
use crate::config::models_file::ModelsFile;
use crate::config::settings::Settings;
use crate::config::{Environment, Paths};
use crate::event::{ErrorCode, Number};
use crate::model::catalogue::{self, PROVIDERS, Request, Selection, Unpriced};
use crate::model::{Model, discover};
use crate::wire::visible_line;

/// The arguments of `quipu models`.
#[derive(Debug, Args)]
pub(in crate::cli) struct Models {
    /// Only names that hold this text
    search: Option<String>,

    /// Do not ask servers on this machine what they offer
    #[arg(long)]
    no_discovery: bool,

    /// How to print the list
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table
    Human,
    /// A JSON array
    Json,
}

/// One row of the list.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    model: String,
    api: String,
    /// `models.json`, `catalogue`, `server` or `built in`.
    source: &'static str,
    supported: bool,
    reasoning: bool,
    images: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_window: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<Cost>,
    /// Where the catalogue has its facts from; what `models.json` says of the model wins over them.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    facts: Option<Facts>,
}

#[derive(Debug, Serialize)]
struct Facts {
    sources: &'static [String],
    date: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

/// Prices in US dollars per million tokens; those that are not known are left out.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Cost {
    input: Number,
    output: Number,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_read: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_write: Option<Number>,
}

impl Models {
    pub(super) fn run(&self) -> ExitCode {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let rows = match runtime {
            Ok(runtime) => runtime.block_on(self.rows()),
            Err(error) => Err(Failure::new(ErrorCode::Internal, error.to_string())),
        };
        match rows {
            Ok(rows) => super::print(self.render(&rows).as_bytes()),
            Err(failure) => {
                note(&format!("quipu: {failure}"));
                ExitCode::from(exit_code(failure.code))
            }
        }
    }

    async fn rows(&self) -> Result<Vec<Row>, Failure> {
        let failed =
            |error: crate::config::ConfigError| Failure::new(error.code(), error.to_string());
        let environment = Environment::current();
        let paths = Paths::from_environment(&environment).map_err(failed)?;
        let cwd = std::env::current_dir().unwrap_or_default();
        let settings = Settings::load(&paths, &cwd, &environment)
            .map_err(failed)?
            .settings;
        let file = ModelsFile::load(&paths.models()).map_err(failed)?;
        // Each is named in full.
        let keys = BTreeSet::new();
        let select = |provider: &str, id: &str| {
            catalogue::select(&Request {
                provider: Some(provider),
                model: Some(id),
                settings: &settings,
                settings_file: &paths.settings(),
                models_file: &file,
                keys: &keys,
            })
        };

        let mut rows = vec![row(&Model::offline(), Unpriced::None, "built in")];
        for (provider, id) in file.models() {
            match select(provider, id) {
                Ok(chosen) => rows.push(row(&chosen.model, chosen.unpriced, "models.json")),
                // It stands in the file for another day; say so instead of hiding it.
                Err(_) => rows.push(unsupported(&file, provider, id)),
            }
        }
        for known in catalogue::listed() {
            if file
                .models()
                .any(|own| own == (&*known.provider, known.id()))
            {
                continue;
            }
            if let Ok(chosen) = select(&known.provider, known.id()) {
                rows.push(row(&chosen.model, chosen.unpriced, "catalogue"));
            }
        }
        if !self.no_discovery {
            let known: BTreeSet<String> = rows.iter().map(|row| row.model.clone()).collect();
            for provider in local_providers(&file) {
                let Ok(Selection {
                    mut model, access, ..
                }) = select(&provider, "any")
                else {
                    continue;
                };
                let sources = Sources {
                    flag: None,
                    auth_file: &paths.auth(),
                    environment: &environment,
                    command_timeout: COMMAND_TIMEOUT,
                };
                let key = credentials::unlock(&mut model, &access, &sources)
                    .ok()
                    .and_then(|c| c.key);
                let ids = match discover(&model, key.as_ref()).await {
                    Ok(ids) => ids,
                    // A server that is not running is the usual case and no news.
                    Err(error) if error.code == ErrorCode::Network => Vec::new(),
                    Err(error) => {
                        note(&format!(
                            "quipu: warning: the models of {provider} at {} are left out: {error}",
                            model.base_url
                        ));
                        Vec::new()
                    }
                };
                // An empty one cannot be named.
                for id in ids.into_iter().filter(|id| !id.trim().is_empty()) {
                    let found = Model {
                        id,
                        reasoning: false,
                        images: false,
                        ..model.clone()
                    };
                    let found = row(&found, Unpriced::All, "server");
                    if !known.contains(&found.model) {
                        rows.push(found);
                    }
                }
            }
        }
        if let Some(search) = &self.search {
            let search = search.to_lowercase();
            rows.retain(|row| row.model.to_lowercase().contains(&search));
        }
        Ok(rows)
    }

    fn render(&self, rows: &[Row]) -> String {
        let mut text = String::new();
        match self.format {
            Format::Json => {
                // Rows of strings, numbers and booleans cannot fail to serialise.
                text = serde_json::to_string_pretty(rows).unwrap_or_default();
                text.push('\n');
            }
            Format::Human => {
                let lines: Vec<_> = rows.iter().map(Row::columns).collect();
                let lines = || {
                    [COLUMNS.map(str::to_owned)]
                        .into_iter()
                        .chain(lines.clone())
                };
                let width = |column: usize| {
                    let widths = lines().map(|line| line[column].chars().count());
                    widths.max().unwrap_or(0)
                };
                let widths: Vec<_> = (0..COLUMNS.len()).map(width).collect();
                for line in lines() {
                    let mut row = String::new();
                    for (column, (cell, width)) in line.iter().zip(&widths).enumerate() {
                        // Numbers stand under each other.
                        let _ = if NUMBERS.contains(&column) {
                            write!(row, "{cell:>width$}  ")
                        } else {
                            write!(row, "{cell:width$}  ")
                        };
                    }
                    let _ = writeln!(text, "{}", row.trim_end());
                }
            }
        }
        text
    }
}

/// The columns of the table: limits in tokens, prices in US dollars per million tokens.
const COLUMNS: [&str; 9] = [
    "MODEL", "CONTEXT", "ANSWER", "INPUT", "OUTPUT", "CACHED", "CAN", "FROM", "API",
];
const NUMBERS: std::ops::RangeInclusive<usize> = 1..=5;

impl Row {
    /// What is not known is a dash.
    fn columns(&self) -> [String; COLUMNS.len()] {
        let shown = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let tokens = |count: Option<u64>| shown(count.map(|count| count.to_string()));
        let cost = self.cost.as_ref();
        let price = |price: Option<Number>| shown(price.map(|price| price.get().to_string()));
        let can = [(self.reasoning, "think"), (self.images, "see")];
        let can: Vec<_> = can
            .iter()
            .filter(|(is, _)| *is)
            .map(|(_, word)| *word)
            .collect();
        let api = if self.supported {
            self.api.clone()
        } else {
            format!("{} (not supported)", self.api)
        };
        [
            self.model.clone(),
            tokens(self.context_window),
            tokens(self.max_tokens),
            price(cost.map(|cost| cost.input)),
            price(cost.map(|cost| cost.output)),
            price(cost.and_then(|cost| cost.cache_read)),
            shown((!can.is_empty()).then(|| can.join(", "))),
            self.source.to_owned(),
            api,
        ]
        .map(|cell| visible_line(&cell).into_owned())
    }
}

fn row(model: &Model, unpriced: Unpriced, source: &'static str) -> Row {
    let offered = source == "server";
    let price = |price: f64, known: bool| known.then(|| Number::from(price));
    let cost = (unpriced != Unpriced::All).then(|| Cost {
        input: model.cost.input.into(),
        output: model.cost.output.into(),
        cache_read: price(model.cost.cache_read, unpriced == Unpriced::None),
        cache_write: price(model.cost.cache_write, model.cost.cache_write > 0.0),
    });
    let known = catalogue::listed()
        .iter()
        .find(|known| known.provider == model.provider && known.id() == model.id);
    Row {
        model: format!("{}/{}", model.provider, model.id),
        api: model.api.as_str().to_owned(),
        source,
        supported: true,
        reasoning: model.reasoning,
        images: model.images,
        context_window: model.context_window.filter(|_| !offered),
        max_tokens: model.max_tokens.filter(|_| !offered),
        cost,
        facts: known.map(|known| Facts {
            sources: &known.source,
            date: &known.date,
            note: known.note.as_deref(),
        }),
    }
}

fn unsupported(file: &ModelsFile, provider: &str, id: &str) -> Row {
    let api = file.provider(provider).and_then(|entry| entry.api.clone());
    Row {
        model: format!("{provider}/{id}"),
        api: api.unwrap_or_else(|| "unknown".to_owned()),
        source: "models.json",
        supported: false,
        reasoning: false,
        images: false,
        context_window: None,
        max_tokens: None,
        cost: None,
        facts: None,
    }
}

/// Providers whose server is on this machine: built in, or so configured.
fn local_providers(file: &ModelsFile) -> BTreeSet<String> {
    let built_in = PROVIDERS
        .iter()
        .filter(|provider| provider.local)
        .map(|provider| provider.name);
    let configured = file.providers().filter(|(_, entry)| {
        entry
            .base_url
            .as_deref()
            .is_some_and(catalogue::is_this_machine)
    });
    built_in
        .chain(configured.map(|(name, _)| name))
        .map(str::to_owned)
        .collect()
}
