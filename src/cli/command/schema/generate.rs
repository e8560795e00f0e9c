//! `quipu schema generate`: typed definitions for clients in other languages.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde_json::Value;

use crate::cli::command::{io as command_io, print};
use crate::cli::{exit_code, note};
use crate::codegen::bundle::{self, Mode};
use crate::codegen::client::{Client, Language};
use crate::codegen::model::Schema;
use crate::codegen::names;
use crate::contract::{SCHEMA_VERSION, SESSION_OPEN};
use crate::event::ErrorCode;
use crate::wire::Wire;

/// The arguments of `quipu schema generate`.
#[derive(Debug, Args)]
pub(super) struct Generate {
    /// The language
    #[arg(value_parser = language())]
    language: Language,

    /// The form of the stream, or `session` for the lines of a session file; a folder of yours may
    /// have others
    #[arg(long, value_name = "quipu|senpi|dreb|session")]
    wire: Option<String>,

    /// A schema folder of your own
    #[arg(long, value_name = "DIR", conflicts_with = "bundle")]
    dir: Option<PathBuf>,

    /// A bundle file, or `-`; what `quipu schema bundle` prints. Named by --wire, else by its
    /// `$id`, else by its root
    #[arg(long, value_name = "FILE")]
    bundle: Option<PathBuf>,
}

fn language() -> impl TypedValueParser<Value = Language> {
    let names = Language::ALL.map(|language| PossibleValue::new(language.name()));
    // Not among those offered, but asked for.
    let rust = PossibleValue::new("rust").hide(true);
    PossibleValuesParser::new(names.into_iter().chain([rust])).try_map(|name| {
        let language = Language::ALL
            .into_iter()
            .find(|language| language.name() == name);
        language.ok_or(
            "Rust has its types in the library, `quipu::event`; they are generated/rust/quipu.rs in \
             the repository, and made when it is built, not by this command",
        )
    })
}

/// A bundle and what is known of it.
struct Source {
    bundle: Value,
    name: String,
    version: Option<String>,
}

/// Why there are no definitions.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("{0}")]
    Usage(String),
    /// The schema has mistakes.
    #[error("{0}")]
    Finding(String),
}

impl Generate {
    /// Prints the definitions.
    pub(super) fn run(&self) -> ExitCode {
        match self.definitions() {
            Ok(text) => print(text.as_bytes()),
            Err(refusal) => {
                note(&format!("quipu: {refusal}"));
                match refusal {
                    Refusal::Usage(_) => ExitCode::from(exit_code(ErrorCode::Usage)),
                    Refusal::Finding(_) => ExitCode::FAILURE,
                }
            }
        }
    }

    fn definitions(&self) -> Result<String, Refusal> {
        let source = match (&self.dir, &self.bundle) {
            (Some(dir), _) => self.of_folder(dir)?,
            (None, Some(file)) => self.of_file(file)?,
            (None, None) => self.built_in()?,
        };
        let version = source.version.as_deref();
        let client = Client::read(&source.bundle, &source.name, version)
            .map_err(|error| Refusal::Finding(format!("no definitions from this: {error}")))?;
        self.language
            .definitions(&client)
            .map_err(|error| Refusal::Finding(error.to_string()))
    }

    fn built_in(&self) -> Result<Source, Refusal> {
        let name = self.wire.as_deref().unwrap_or(Wire::Quipu.name());
        let text = match name.parse::<Wire>() {
            Ok(wire) => wire.open(),
            Err(_) if name == "session" => SESSION_OPEN,
            Err(_) => {
                let names = Wire::ALL.map(Wire::name);
                return Err(no_bundle(name, names.into_iter().chain(["session"])));
            }
        };
        Ok(Source {
            bundle: serde_json::from_str(text)
                .map_err(|error| Refusal::Finding(error.to_string()))?,
            name: name.to_owned(),
            version: Some(SCHEMA_VERSION.to_owned()),
        })
    }

    fn of_folder(&self, dir: &Path) -> Result<Source, Refusal> {
        if !dir.is_dir() {
            let dir = dir.display();
            return Err(Refusal::Usage(format!("{dir} is not a folder")));
        }
        let schema = crate::codegen::read(dir).map_err(|problems| {
            let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
            Refusal::Finding(problems.join("\n"))
        })?;
        let name = self.wire.as_deref().unwrap_or_else(|| only(&schema));
        let Some(bundle) = bundle::document(&schema, name, Mode::Open) else {
            return Err(no_bundle(name, schema.bundles.keys().map(String::as_str)));
        };
        Ok(Source {
            bundle,
            name: name.to_owned(),
            version: Some(schema.version),
        })
    }

    fn of_file(&self, file: &Path) -> Result<Source, Refusal> {
        let input = command_io::open(file).map_err(|error| Refusal::Usage(error.to_string()))?;
        let named = file.display();
        let text = io::read_to_string(input)
            .map_err(|error| Refusal::Usage(format!("{named} cannot be read: {error}")))?;
        if text.starts_with('\u{feff}') {
            let what = "starts with a byte order mark; save it without";
            return Err(Refusal::Finding(format!("{named} {what}")));
        }
        let bundle: Value = serde_json::from_str(&text)
            .map_err(|error| Refusal::Finding(format!("{named} is not JSON: {error}")))?;
        let name = self.wire.as_deref().or_else(|| bundle::name(&bundle));
        let name = name.map_or_else(|| of_root(&bundle), str::to_owned);
        Ok(Source {
            bundle,
            name,
            version: None,
        })
    }
}

/// A name for a bundle whose `$id` gives none: what its root is called.
fn of_root(bundle: &Value) -> String {
    let title = bundle.get("title").and_then(Value::as_str);
    let name = names::snake(title.unwrap_or_default());
    if name.is_empty() {
        "bundle".into()
    } else {
        name
    }
}

/// The only wire of a folder, else the native one.
fn only(schema: &Schema) -> &str {
    match schema.wires.len() {
        1 => schema.wires.keys().next().map_or("", String::as_str),
        _ => Wire::Quipu.name(),
    }
}

fn no_bundle<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Refusal {
    let names: Vec<&str> = names.collect();
    let names = names.join(", ");
    Refusal::Usage(format!("there is no wire `{name}`; name one of: {names}"))
}
