//! The arguments of a run.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgAction, Parser, ValueEnum};

use super::session;
use crate::event::ThinkingLevel;
use crate::wire::Wire;

/// A coding agent whose event stream is a contract: JSON Lines, typed and checked by JSON Schema.
///
/// Tools run without asking. Exit status: 0 completed, 1 failed, 2 usage, 3 configuration or
/// credentials, 129/130/143 ended by SIGHUP, SIGINT or SIGTERM.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "quipu",
    version,
    args_override_self = true,
    max_term_width = 100
)]
pub struct Args {
    /// How to report: `json` prints the event stream as JSON Lines
    #[arg(long, value_enum)]
    pub mode: Mode,

    /// The form of the event stream
    #[arg(long, value_parser = wire(), default_value = "quipu")]
    pub wire: Wire,

    /// Which lines to write: `all`, `final` (no deltas, no progress), or event types by comma
    #[arg(long, value_name = "all|final|TYPE,…", default_value = "all")]
    pub events: String,

    /// Number and date each line (`seq`, `at`); native wire only
    #[arg(long)]
    pub stamp: bool,

    /// The provider of the model, as named in models.json or built in
    #[arg(long)]
    pub provider: Option<String>,

    /// The model: `provider/id`, an id, or `offline` (no network, no key)
    #[arg(long)]
    pub model: Option<String>,

    /// How much the model thinks
    #[arg(long, value_parser = thinking_level(), value_name = "LEVEL")]
    pub thinking: Option<ThinkingLevel>,

    /// The key for the model's provider, for this run
    #[arg(long, value_name = "KEY", hide_env_values = true)]
    pub api_key: Option<String>,

    /// A scenario file that the offline model plays
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,

    /// Takes the place of the built-in system prompt (text, or a file that holds it)
    #[arg(long, value_name = "TEXT|FILE")]
    pub system_prompt: Option<String>,

    /// Follows the system prompt (text, or a file that holds it); may be repeated
    #[arg(long, value_name = "TEXT|FILE", action = ArgAction::Append)]
    pub append_system_prompt: Vec<String>,

    /// The tools that the model may call, by comma; no others
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub tools: Option<Vec<String>>,

    /// No tools at all
    #[arg(long, conflicts_with = "tools")]
    pub no_tools: bool,

    /// Keep no session file
    #[arg(long)]
    pub no_session: bool,

    /// The folder of the session file, taken as it is
    #[arg(long, value_name = "DIR")]
    pub session_dir: Option<PathBuf>,

    /// What the session is called
    #[arg(long, value_parser = session::name)]
    pub name: Option<String>,

    /// Leave out AGENTS.md and CLAUDE.md (also -nc)
    #[arg(long)]
    pub no_context_files: bool,

    /// What to do; each is a run of its own, in this order. `@FILE` adds a file to the first one
    #[arg(value_name = "PROMPT|@FILE")]
    pub prompts: Vec<OsString>,

    /// Behind `--`: prompts, whatever they begin with
    #[arg(value_name = "PROMPT", last = true)]
    pub literal_prompts: Vec<OsString>,
}

/// The words of a command line with `-nc` written out. It is one option and not `-n c`, which the
/// parser would make of it.
pub(super) fn written_out(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut open = true;
    words
        .map(|word| {
            open &= word != "--";
            if open && word == "-nc" {
                "--no-context-files".into()
            } else {
                word
            }
        })
        .collect()
}

/// How a run is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// The event stream, one JSON object a line.
    Json,
}

fn wire() -> impl clap::builder::TypedValueParser<Value = Wire> {
    use clap::builder::{PossibleValuesParser, TypedValueParser as _};
    PossibleValuesParser::new(Wire::ALL.map(Wire::name)).try_map(|name| name.parse::<Wire>())
}

fn thinking_level() -> impl clap::builder::TypedValueParser<Value = ThinkingLevel> {
    use clap::builder::{PossibleValuesParser, TypedValueParser as _};
    PossibleValuesParser::new(ThinkingLevel::ALL.iter().map(|level| level.as_str()))
        .try_map(|level| level.parse::<ThinkingLevel>())
}
