//! The arguments of a run.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Parser, ValueEnum};

use super::session;
use crate::contract::{SCHEMA_HASH, SCHEMA_VERSION};
use crate::event::ThinkingLevel;
use crate::model::Secret;
use crate::subagent::Handover;
use crate::wire::Wire;

/// A coding agent whose event stream is a contract: JSON Lines, typed and checked by JSON Schema.
///
/// Tools run without asking. Exit status: 0 completed, 1 failed, 2 usage, 3 configuration or
/// credentials, 129/130/143 ended by SIGHUP, SIGINT or SIGTERM.
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
#[derive(Clone, Debug, Parser)]
#[command(
    name = "quipu",
    version = version(),
    args_override_self = true,
    max_term_width = 100,
    after_help = "Subcommands, as the first word: models, sessions, verify, schema, convert, sample, replay, stats,
                  completions, man (`quipu help` lists them).
\
                  Put `--` before a prompt that is such a word."
)]
pub struct Args {
    /// How to report: `text` prints the final answers, `json` the event stream as JSON Lines
    #[arg(long, value_enum, default_value = "text")]
    pub mode: Mode,

    /// Print and end; that is what every mode does, so this is for habit's sake
    #[arg(short, long)]
    pub print: bool,

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
    #[arg(long, value_name = "KEY")]
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

    /// Stop after this many turns (model answers), all prompts together
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_turns: Option<u64>,

    /// Stop when the answers have cost this much, in US dollars
    #[arg(long, value_name = "USD", value_parser = cost)]
    pub max_cost: Option<f64>,

    /// Stop after this time: seconds, or such as 90s, 5m, 1h
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub timeout: Option<Duration>,

    /// Go on with the last session of this folder; without one, begin it
    #[arg(short = 'c', long = "continue", conflicts_with_all = ["resume", "session", "session_id"])]
    pub continue_latest: bool,

    /// Go on with a session: at a terminal one of a list, else the last of this folder
    #[arg(short, long, conflicts_with_all = ["session", "session_id"])]
    pub resume: bool,

    /// Go on with this session: its file, its id, or the beginning of one. A file that is not there
    /// yet is made
    #[arg(long, value_name = "FILE|ID", conflicts_with = "session_id")]
    pub session: Option<PathBuf>,

    /// Go on with the session of exactly this id; without one, begin it
    #[arg(long, value_name = "ID", value_parser = session::id)]
    pub session_id: Option<String>,

    /// Begin a session here as a copy of this one: its file, its id, or the beginning of one
    #[arg(
        long,
        value_name = "FILE|ID",
        conflicts_with_all = ["continue_latest", "resume", "session", "no_session"]
    )]
    pub fork: Option<PathBuf>,

    /// Keep no session file
    #[arg(long, conflicts_with_all = ["continue_latest", "resume", "session"])]
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

    /// The definition of the background agent that this process is
    #[arg(long, value_name = "NAME", hide = true)]
    pub agent_type: Option<String>,

    /// The session file of the agent that started this one
    #[arg(long, value_name = "FILE", hide = true)]
    pub parent_session: Option<PathBuf>,

    /// How much the model thinks unless its name says so
    #[arg(long, value_parser = thinking_level(), value_name = "LEVEL", hide = true)]
    pub usual_thinking: Option<ThinkingLevel>,

    /// Follows the system prompt, and is no file
    #[arg(long, value_name = "TEXT", hide = true)]
    pub agent_prompt: Option<String>,

    /// What the agent that started this one has handed over beside the arguments
    #[arg(skip)]
    pub handover: Handover,

    /// What to do; each is a run of its own, in this order. `@FILE` adds a file to the first one
    #[arg(value_name = "PROMPT|@FILE")]
    pub prompts: Vec<OsString>,

    /// Behind `--`: prompts, whatever they begin with
    #[arg(value_name = "PROMPT", last = true)]
    pub literal_prompts: Vec<OsString>,
}

impl Args {
    /// The key that was given for the model's provider beside all configuration.
    pub(super) fn key_for(&self, provider: &str) -> Option<Secret> {
        let given = self.api_key.as_deref().map(Secret::new);
        given.or_else(|| self.handover.key_for(provider))
    }
}

/// How a run is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// The final answer of each prompt on standard output, progress on a terminal's standard error.
    Text,
    /// The event stream, one JSON object a line.
    Json,
}

/// The program's version, and the version and hash of the schema of its stream.
fn version() -> String {
    format!(
        "{} (schema {SCHEMA_VERSION}, {SCHEMA_HASH})",
        env!("CARGO_PKG_VERSION")
    )
}

fn cost(text: &str) -> Result<f64, String> {
    match text.trim_start_matches('$').parse::<f64>() {
        Ok(cost) if cost.is_finite() && cost > 0.0 => Ok(cost),
        _ => Err("use an amount above 0, such as 0.50".to_owned()),
    }
}

fn time(text: &str) -> Result<Duration, String> {
    let time = match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => humantime::parse_duration(text).ok(),
    };
    time.filter(|time| !time.is_zero())
        .ok_or_else(|| "use seconds, or a time such as 90s, 5m or 1h30m".to_owned())
}

pub(super) fn wire() -> impl clap::builder::TypedValueParser<Value = Wire> {
    use clap::builder::{PossibleValuesParser, TypedValueParser as _};
    PossibleValuesParser::new(Wire::ALL.map(Wire::name)).try_map(|name| name.parse::<Wire>())
}

fn thinking_level() -> impl clap::builder::TypedValueParser<Value = ThinkingLevel> {
    use clap::builder::{PossibleValuesParser, TypedValueParser as _};
    PossibleValuesParser::new(ThinkingLevel::ALL.iter().map(|level| level.as_str()))
        .try_map(|level| level.parse::<ThinkingLevel>())
}
