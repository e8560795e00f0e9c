//! The subcommands.

mod convert;
mod io;
mod models;
mod replay;
mod sample;
mod schema;
mod sessions;
mod stats;
mod verify;

use std::io::Write as _;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};
use clap_complete::Shell;

use super::{Args, exit_code, note};
use crate::event::ErrorCode;

/// The program, called with a subcommand as its first word.
#[derive(Debug, Parser)]
#[command(name = "quipu", max_term_width = 100)]
pub(super) struct Program {
    #[command(subcommand)]
    pub(super) command: Command,
}

/// What to do instead of a run.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List the models that can be named: built in, known, of models.json, and of servers on this machine
    Models(models::Models),
    /// List the sessions of this folder, show one, or write one out as Markdown
    Sessions(sessions::Sessions),
    /// Write a recording of one wire as the same recording of another
    Convert(convert::Convert),
    /// Write a legal stream that holds every event, variant and optional field of a wire
    Sample(sample::Sample),
    /// Check event streams: each line against the schema, the order, ids, pairings and sums
    Verify(verify::Verify),
    /// Show, print, check and compare the contract of the stream, or a schema folder of yours
    Schema(schema::Schema),
    /// Write a recording again with its timing: a stand-in for the agent in tests
    Replay(replay::Replay),
    /// Count what streams hold: turns, tools and their times, tokens, cost, bytes
    Stats(stats::Stats),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page (read it with `quipu man | man -l -`)
    Man,
}

/// Whether a first word is a subcommand.
pub(super) fn is_name(word: &str) -> bool {
    word == "help" || Program::command().find_subcommand(word).is_some()
}

/// Runs a subcommand.
pub(super) fn run(command: &Command) -> ExitCode {
    if let Err(error) = io::check_output() {
        return printed(Err(error));
    }
    match command {
        Command::Models(models) => models.run(),
        Command::Sessions(sessions) => sessions.run(),
        Command::Convert(convert) => convert.run(),
        Command::Sample(sample) => sample.run(),
        Command::Verify(verify) => verify.run(),
        Command::Schema(schema) => schema.run(),
        Command::Replay(replay) => replay.run(),
        Command::Stats(stats) => stats.run(),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut whole(), "quipu", &mut script);
            print(&script)
        }
        Command::Man => {
            let mut page = Vec::new();
            match clap_mangen::Man::new(whole()).render(&mut page) {
                Ok(()) => print(&page),
                Err(error) => {
                    note(&format!("quipu: the manual page cannot be made: {error}"));
                    ExitCode::from(exit_code(ErrorCode::Internal))
                }
            }
        }
    }
}

/// The arguments of a run and the subcommands together, for help.
fn whole() -> clap::Command {
    Program::command()
        .get_subcommands()
        .cloned()
        .fold(Args::command(), clap::Command::subcommand)
}

/// Prints the output of a subcommand.
pub(super) fn print(text: &[u8]) -> ExitCode {
    let mut out = std::io::stdout().lock();
    printed(out.write_all(text).and_then(|()| out.flush()))
}

/// `1 line`, `2 lines`
fn counted(count: u64, of: &str) -> String {
    format!("{count} {of}{}", if count == 1 { "" } else { "s" })
}

/// The status after something was printed; a reader that goes away early is no error.
fn printed(written: std::io::Result<()>) -> ExitCode {
    match written {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            note(&format!(
                "quipu: standard output cannot be written: {error}"
            ));
            ExitCode::from(exit_code(ErrorCode::Internal))
        }
        _ => ExitCode::SUCCESS,
    }
}
