//! `quipu verify`: streams held against their contract.

mod follow;
mod format;

use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, ValueEnum};

use super::{io as files, printed};
use crate::cli::{exit_code, note};
use crate::contract::Wire;
use crate::contract::lines::Lines;
use crate::contract::verify::{Finding, Options, Verifier};
use crate::event::ErrorCode;
use follow::Follow;
use format::{Format, Outcome, Writer};

/// The arguments of `quipu verify`.
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
#[derive(Debug, Args)]
#[command(after_help = "\
Exit status: 0 valid (notes do not count), 1 findings, 2 a file cannot be read or a flag is wrong.

A native stream is held to all that Quipu promises. On a senpi or dreb stream what only Quipu \
promises, and the document of that wire does not, is a note; --ours makes it a finding.")]
pub(in crate::cli) struct Verify {
    /// Streams; `-`, or none, is standard input
    #[arg(value_name = "FILE|-")]
    files: Vec<PathBuf>,

    /// The wire of the streams; by itself it is told by the first lines
    #[arg(long, value_parser = wire(), value_name = "quipu|senpi|dreb|auto", default_value = "auto")]
    wire: WireChoice,

    /// As a consumer sees it: types, fields and values that are not known are notes
    #[arg(long)]
    open: bool,

    /// Hold senpi and dreb streams to all that Quipu promises on them
    #[arg(long)]
    ours: bool,

    /// Check each line by itself and no order: for streams from which lines were left out (--events)
    #[arg(long)]
    lines_only: bool,

    /// How to print what is found
    #[arg(long, value_enum, default_value = "human")]
    format: Choice,

    /// Wait at the end of the file for more: until its terminal line, Ctrl-C, or the file is gone
    #[arg(long)]
    follow: bool,

    /// How many findings of one stream to print; the rest is counted
    #[arg(long, value_name = "N", default_value_t = 100)]
    max_findings: u64,
}

/// `auto`, or a wire.
#[derive(Clone, Copy, Debug)]
struct WireChoice(Option<Wire>);

fn wire() -> impl clap::builder::TypedValueParser<Value = WireChoice> {
    let names = Wire::ALL.map(Wire::name).into_iter().chain(["auto"]);
    PossibleValuesParser::new(names).map(|name| WireChoice(name.parse::<Wire>().ok()))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Choice {
    /// A line for each finding, a summary on standard error
    Human,
    /// JSON Lines: an object for each finding, and one for each stream at its end
    Json,
    /// Annotations of a GitHub workflow
    Github,
    /// An XML report for test tools, with a test case for each stream
    Junit,
}

/// Why checking a stream came to an end before the stream did.
enum Stop {
    /// It cannot be read.
    Input(String),
    /// What was found cannot be written.
    Output(io::Error),
}

impl Verify {
    pub(super) fn run(&self) -> ExitCode {
        let files = match self.files.as_slice() {
            [] => vec![PathBuf::from("-")],
            files => files.to_vec(),
        };
        if self.follow && files.len() > 1 {
            note("quipu: --follow takes one file");
            return ExitCode::from(exit_code(ErrorCode::Usage));
        }
        let format = match self.format {
            Choice::Human => Format::Human {
                named: files.len() > 1,
            },
            Choice::Json => Format::Json,
            Choice::Github => Format::Github,
            Choice::Junit => Format::Junit,
        };
        let mut out = Writer::new(format, files::out());
        let (mut invalid, mut unread) = (false, false);
        for file in &files {
            match self.stream(file, &mut out) {
                Ok(valid) => invalid |= !valid,
                Err(Stop::Input(what)) => {
                    if let Err(error) = out.unread(&file.to_string_lossy(), &what) {
                        return printed(Err(error));
                    }
                    note(&format!("quipu: {what}"));
                    unread = true;
                }
                Err(Stop::Output(error)) => return printed(Err(error)),
            }
        }
        match out.finish() {
            Err(error) => printed(Err(error)),
            Ok(()) if unread => ExitCode::from(exit_code(ErrorCode::Usage)),
            Ok(()) if invalid => ExitCode::from(1),
            Ok(()) => ExitCode::SUCCESS,
        }
    }

    /// Checks one stream; gives whether it is valid.
    fn stream(&self, file: &Path, out: &mut Writer<impl Write>) -> Result<bool, Stop> {
        let follow = (self.follow && file != Path::new("-")).then_some(file);
        let from = match follow {
            None => files::open(file).map_err(|error| Stop::Input(error.to_string()))?,
            Some(path) => {
                let file = follow::open(path).map_err(|error| {
                    Stop::Input(format!("{} cannot be read: {error}", path.display()))
                })?;
                Box::new(BufReader::new(file))
            }
        };
        let follow = Follow::new(from, follow);
        let live = follow.is_live() || !files::is_file(file);
        let mut lines = Lines::new(follow);
        let mut verifier = Verifier::new(Options {
            wire: self.wire.0,
            open: self.open,
            ours: self.ours,
            lines_only: self.lines_only,
        });
        let name = file.to_string_lossy();
        let mut findings = Vec::new();
        let mut count = Count {
            left: self.max_findings,
            more: 0,
        };
        loop {
            let frame = lines
                .next_line()
                .map_err(|error| Stop::Input(format!("{name} cannot be read: {error}")))?;
            let Some(frame) = frame else { break };
            verifier.line(&frame, &mut findings);
            if !findings.is_empty() {
                count.print(&name, &mut findings, out)?;
                if live {
                    out.flush().map_err(Stop::Output)?;
                }
            }
            if self.follow && verifier.is_over() {
                break;
            }
        }
        let summary = verifier.finish(&mut findings);
        count.print(&name, &mut findings, out)?;
        let valid = summary.valid;
        let outcome = Outcome {
            file: &name,
            summary: &summary,
            more: count.more,
        };
        out.stream(&outcome).map_err(Stop::Output)?;
        Ok(valid)
    }
}

struct Count {
    left: u64,
    more: u64,
}

impl Count {
    fn print(
        &mut self,
        file: &str,
        findings: &mut Vec<Finding>,
        out: &mut Writer<impl Write>,
    ) -> Result<(), Stop> {
        for finding in findings.drain(..) {
            if self.left == 0 {
                self.more += 1;
            } else {
                self.left -= 1;
                out.finding(file, finding).map_err(Stop::Output)?;
            }
        }
        Ok(())
    }
}
