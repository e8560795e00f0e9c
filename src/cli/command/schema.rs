//! `quipu schema`: the contract itself, and the tools for one.

mod bundle;
mod diff;
mod generate;
mod lint;
mod list;
mod show;
mod table;

use std::borrow::Cow;
use std::path::Path;
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};

use crate::cli::{Failure, exit_code, note};
use crate::codegen::bundle::Mode;
use crate::codegen::model::Schema as Model;
use crate::codegen::{self, Problem};
use crate::contract;
use crate::event::ErrorCode;

/// The arguments of `quipu schema`.
#[derive(Debug, Args)]
pub(in crate::cli) struct Schema {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List the types: events, deltas, messages, blocks and what they share
    List(list::List),
    /// Show a type: its fields, examples and place in the order
    Show(show::Show),
    /// Print a bundle: everything about a wire in one JSON Schema document
    Bundle(bundle::Bundle),
    /// Check a schema folder for mistakes
    Lint(lint::Lint),
    /// Compare two schemas: who breaks, and which step of the version it takes
    Diff(diff::Diff),
    /// Print the types of a line for TypeScript, Python or Go
    Generate(generate::Generate),
}

impl Schema {
    pub(super) fn run(&self) -> ExitCode {
        let done = match &self.what {
            What::List(list) => list.run(),
            What::Show(show) => show.run(),
            What::Bundle(bundle) => bundle.run(),
            What::Lint(lint) => lint.run(),
            What::Diff(diff) => diff.run(),
            What::Generate(generate) => return generate.run(),
        };
        done.unwrap_or_else(|failure| {
            note(&format!("quipu: {failure}"));
            ExitCode::from(exit_code(failure.code))
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Human,
    /// For programs
    Json,
}

/// Which of the two bundles.
#[derive(Clone, Copy, Debug, Args)]
struct Which {
    /// What may be written; this is what neither flag does
    #[arg(long)]
    strict: bool,

    /// What a reader should accept
    #[arg(long, conflicts_with = "strict")]
    open: bool,
}

impl Which {
    fn mode(self) -> Mode {
        if self.open { Mode::Open } else { Mode::Strict }
    }
}

/// The schema of the folder `dir`, or this program's own.
fn schema(dir: Option<&Path>) -> Result<Cow<'static, Model>, Failure> {
    let Some(dir) = dir else {
        return Ok(Cow::Borrowed(contract::schema()));
    };
    folder(dir)?;
    codegen::read(dir).map(Cow::Owned).map_err(|problems| {
        mistakes(&problems);
        let dir = dir.display();
        let what = format!("{dir} has mistakes; `quipu schema lint {dir}` lists them");
        // The folder is a finding, not a slip of the command line.
        Failure::new(ErrorCode::Internal, what)
    })
}

/// Fails if `dir` is no folder.
fn folder(dir: &Path) -> Result<(), Failure> {
    let named = dir.display();
    match std::fs::metadata(dir) {
        Ok(meta) if meta.is_dir() => Ok(()),
        Ok(_) => Err(Failure::usage(format!(
            "{named} is no folder; name a schema folder"
        ))),
        Err(error) => Err(Failure::usage(format!("{named} cannot be read: {error}"))),
    }
}

/// Tells of the first mistakes in a folder that is needed for something else.
fn mistakes(problems: &[Problem]) {
    for problem in problems.iter().take(5) {
        note(&problem.to_string());
    }
    if let more @ 1.. = problems.len().saturating_sub(5) {
        note(&format!("and {more} more"));
    }
}

/// The names of bundles, the native wire first and session files last.
fn names(schema: &Model) -> Vec<&str> {
    let mut names: Vec<&str> = schema.bundles.keys().map(String::as_str).collect();
    names.sort_by_key(|name| (*name != "quipu", *name == "session"));
    names
}

/// The bundle called `name`; without a name the native wire, or the only one.
fn chosen<'a>(schema: &'a Model, name: Option<&str>) -> Result<&'a str, Failure> {
    let names = names(schema);
    let listed = names.join(", ");
    let Some(name) = name else {
        return match &names[..] {
            [first, ..] if *first == "quipu" => Ok(*first),
            [only] | [only, "session"] => Ok(*only),
            _ => Err(Failure::usage(format!("name one with --wire: {listed}"))),
        };
    };
    let found = names.iter().find(|other| **other == name);
    found
        .copied()
        .ok_or_else(|| Failure::usage(format!("there is no wire `{name}`; there are {listed}")))
}

/// Prints what was found; status 1 if it is something to act on.
fn report(text: &str, found: bool) -> ExitCode {
    match super::print(text.as_bytes()) {
        ExitCode::SUCCESS if found => ExitCode::from(1),
        status => status,
    }
}

/// Rows of strings, numbers and booleans as indented JSON.
fn json(value: &impl serde::Serialize) -> String {
    // Only a map with keys that are no strings could fail.
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}
