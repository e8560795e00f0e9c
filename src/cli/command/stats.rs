//! `quipu stats`: the figures of streams, as tables or as JSON.

mod table;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::{io, printed};
use crate::cli::{exit_code, note};
use crate::event::ErrorCode;
use crate::stats::{self, Counter, Stats as Figures};

/// Nothing of a file could be read.
const UNREAD: u8 = 1;

/// The arguments of `quipu stats`.
///
/// Count what streams hold, of any wire: turns, tools and their times, tokens, cost, retries, bytes.
/// Unknown types are counted, broken lines are counted and passed over.
///
/// Exit status: 0; 1 if a file holds no line that can be read; 2 if it cannot be opened.
#[derive(Debug, Args)]
pub(in crate::cli) struct Stats {
    /// The streams, or `-` for standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// How to print the figures
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Table,
    /// For programs: `files`, an object for each with its name in `file`, and `total`
    Json,
}

/// What `--format json` prints.
#[derive(Serialize)]
struct Report<'a> {
    files: Vec<Named<'a>>,
    total: &'a Figures,
}

#[derive(Serialize)]
struct Named<'a> {
    file: String,
    #[serde(flatten)]
    stats: &'a Figures,
}

impl Stats {
    pub(super) fn run(&self) -> ExitCode {
        let mut code = 0;
        let mut total = Counter::default();
        let mut counted: Vec<(&Path, Figures)> = Vec::new();
        for file in &self.files {
            match count(file) {
                Ok(figures) => {
                    if !figures.is_read() {
                        note(&format!(
                            "quipu: {} holds no line that can be read",
                            file.display()
                        ));
                        code = code.max(UNREAD);
                    }
                    total.add(&figures);
                    counted.push((file, figures.stats()));
                }
                Err(error) => {
                    note(&format!("quipu: {error}"));
                    code = exit_code(ErrorCode::Usage);
                }
            }
        }
        if counted.is_empty() {
            return ExitCode::from(code);
        }
        let text = match self.format {
            Format::Table => table::of(&counted, &total.stats()),
            Format::Json => match json(&counted, &total.stats()) {
                Ok(text) => text,
                Err(error) => {
                    note(&format!("quipu: the figures cannot be written: {error}"));
                    return ExitCode::from(exit_code(ErrorCode::Internal));
                }
            },
        };
        let mut out = io::out();
        let printed = printed(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
        if code == 0 {
            printed
        } else {
            ExitCode::from(code)
        }
    }
}

/// Why a stream cannot be counted.
#[derive(Debug, thiserror::Error)]
enum CountError {
    #[error(transparent)]
    Open(#[from] io::OpenError),
    #[error("{} cannot be read: {error}", file.display())]
    Read {
        file: PathBuf,
        error: std::io::Error,
    },
}

fn count(file: &Path) -> Result<Counter, CountError> {
    let lines = io::open(file)?;
    stats::count(lines).map_err(|error| CountError::Read {
        file: file.to_owned(),
        error,
    })
}

fn json(counted: &[(&Path, Figures)], total: &Figures) -> Result<String, serde_json::Error> {
    let named = counted.iter().map(|(file, stats)| Named {
        file: file.display().to_string(),
        stats,
    });
    let report = Report {
        files: named.collect(),
        total,
    };
    serde_json::to_string_pretty(&report).map(|text| text + "\n")
}
