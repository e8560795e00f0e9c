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
use crate::event::ErrorCode;
use crate::model::catalogue::{self, PROVIDERS, Request, Selection};
use crate::model::{Model, discover};

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
    /// `models.json`, `server` or `built in`.
    source: &'static str,
    supported: bool,
    reasoning: bool,
    images: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_window: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
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
        let select = |provider: &str, id: &str| {
            catalogue::select(&Request {
                provider: Some(provider),
                model: Some(id),
                settings: &settings,
                settings_file: &paths.settings(),
                models_file: &file,
            })
        };

        let mut rows = vec![row(&Model::offline(), "built in")];
        for (provider, id) in file.models() {
            match select(provider, id) {
                Ok(Selection { model, .. }) => rows.push(row(&model, "models.json")),
                // It stands in the file for another day; say so instead of hiding it.
                Err(_) => rows.push(unsupported(&file, provider, id)),
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
                // A server that is not running is the usual case and no news.
                let ids = discover(&model, key.as_ref()).await.unwrap_or_default();
                for id in ids {
                    let found = Model {
                        id,
                        reasoning: false,
                        images: false,
                        ..model.clone()
                    };
                    let found = row(&found, "server");
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
                let width = rows
                    .iter()
                    .map(|row| row.model.chars().count())
                    .max()
                    .unwrap_or(0);
                for row in rows {
                    let _ = write!(text, "{:width$}  {}", row.model, row.api);
                    if let Some(window) = row.context_window {
                        let _ = write!(text, ", {window} tokens");
                    }
                    for (is, word) in [(row.reasoning, "thinks"), (row.images, "sees")] {
                        if is {
                            let _ = write!(text, ", {word}");
                        }
                    }
                    if !row.supported {
                        text.push_str(", API not supported");
                    }
                    let _ = writeln!(text, " ({})", row.source);
                }
            }
        }
        text
    }
}

fn row(model: &Model, source: &'static str) -> Row {
    let offered = source == "server";
    Row {
        model: format!("{}/{}", model.provider, model.id),
        api: model.api.as_str().to_owned(),
        source,
        supported: true,
        reasoning: model.reasoning,
        images: model.images,
        context_window: model.context_window.filter(|_| !offered),
        max_tokens: model.max_tokens.filter(|_| !offered),
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
