//! The command line: arguments to a mode, a mode to an exit status.

mod arbiter;
mod args;
mod attachment;
mod background;
mod choice;
mod command;
mod conversation;
mod failure;
mod fallback;
mod foreign;
mod opening;
mod run;
mod session;
mod signal;
mod stdin;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser as _;
use clap::error::ErrorKind;

pub use args::{Args, Mode};
pub use failure::{Failure, exit_code};

use crate::event::ErrorCode;
use crate::wire::{Wire, WireOptions, visible, visible_note};

/// Runs the program with the process's arguments.
#[must_use]
pub fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    if words
        .get(1)
        .and_then(|word| word.to_str())
        .is_some_and(command::is_name)
    {
        return match command::Program::try_parse_from(&words) {
            Ok(program) => command::run(&program.command),
            Err(error) => refuse(&error, &words),
        };
    }
    let words = match foreign::translate(words) {
        Ok(words) => words,
        Err((failure, words)) => return fail(failure, &words),
    };
    match Args::try_parse_from(&words) {
        Ok(args) => run::run(&args),
        Err(error) => refuse(&error, &words),
    }
}

/// Answers arguments that cannot be run: help, version, or an error.
fn refuse(error: &clap::Error, words: &[OsString]) -> ExitCode {
    let json = chosen(words, "--mode").is_some_and(|mode| mode == "json");
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion if !json => {
            command::print(error.render().to_string().as_bytes())
        }
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // In JSON mode standard output holds lines of the stream and nothing else.
            page(&error.render().to_string());
            ExitCode::SUCCESS
        }
        _ => {
            let text = error.render().to_string();
            page(text.trim_end());
            fail(Failure::told(ErrorCode::Usage, summary(&text)), words)
        }
    }
}

/// Reports arguments that cannot be run, as a stream if one was asked for.
fn fail(failure: Failure, words: &[OsString]) -> ExitCode {
    if chosen(words, "--mode").is_some_and(|mode| mode == "json") {
        let wire: Option<Wire> = chosen(words, "--wire").and_then(|wire| wire.parse().ok());
        let options = WireOptions {
            wire: wire.unwrap_or_default(),
            ..WireOptions::default()
        };
        return run::fail(options, failure);
    }
    if !failure.is_told() {
        note(&format!("quipu: {failure}"));
    }
    ExitCode::from(exit_code(failure.code))
}

/// The last value given for a flag, read before the arguments are known to be right.
fn chosen(words: &[OsString], flag: &str) -> Option<String> {
    let mut value = None;
    let mut words = words.iter().skip(1).map(|word| word.to_string_lossy());
    while let Some(word) = words.next() {
        if word == "--" {
            break;
        } else if word == flag {
            value = words.next().map(String::from);
        } else if let Some(given) = word
            .strip_prefix(flag)
            .and_then(|rest| rest.strip_prefix('='))
        {
            value = Some(given.to_owned());
        }
    }
    value
}

/// The error and its tip on one line, without usage and colour.
fn summary(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let told =
        lines.take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    let text = told.collect::<Vec<_>>().join(" ");
    text.strip_prefix("error: ")
        .unwrap_or(&text)
        .replace(" tip: ", "; ")
}

/// Writes a note to standard error.
fn note(text: &str) {
    page(&visible_note(text));
}

/// Writes lines of our own to standard error; words of the user may stand in them.
fn page(text: &str) {
    // Nothing sensible is left to do when standard error is gone.
    let _ = writeln!(std::io::stderr(), "{}", visible(text));
}
