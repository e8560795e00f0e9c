//! `quipu schema lint`.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use crate::cli::Failure;
use crate::codegen::{self, Problem};
use crate::wire::visible;

#[derive(Debug, Args)]
pub(super) struct Lint {
    /// The schema folder
    #[arg(default_value = "schema")]
    dir: PathBuf,

    /// How to print the mistakes
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A line each
    Human,
    /// A JSON array
    Json,
    /// Annotations of GitHub Actions
    Github,
}

impl Lint {
    pub(super) fn run(&self) -> Result<ExitCode, Failure> {
        super::folder(&self.dir)?;
        let read = codegen::read(&self.dir);
        let problems = read.as_ref().err().map_or(&[][..], Vec::as_slice);
        let mut text = String::new();
        match self.format {
            Format::Json => {
                let problems: Vec<Value> = problems.iter().map(as_json).collect();
                text = super::json(&problems);
            }
            Format::Github => {
                for problem in problems {
                    let _ = writeln!(text, "{}", annotation(problem));
                }
            }
            Format::Human => {
                for problem in problems {
                    let _ = writeln!(text, "{}", visible(&problem.to_string()));
                }
                if let Ok(schema) = &read {
                    let _ = writeln!(
                        text,
                        "{}: no mistakes in version {}: {} types, bundles {}",
                        visible(&self.dir.to_string_lossy()),
                        schema.version,
                        schema.defs.len(),
                        super::names(schema).join(", "),
                    );
                }
            }
        }
        Ok(super::report(&text, !problems.is_empty()))
    }
}

fn as_json(problem: &Problem) -> Value {
    json!({
        "file": problem.file,
        "place": problem.place,
        "what": problem.what,
        "remedy": problem.remedy,
    })
}

/// A workflow command; the text may hold no line ends, the properties no separators besides.
fn annotation(problem: &Problem) -> String {
    let data = |text: &str| {
        text.replace('%', "%25")
            .replace('\r', "%0D")
            .replace('\n', "%0A")
    };
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    // A file that is no JSON has a line and a column in place of a pointer.
    let at = problem.place.strip_prefix("line ").unwrap_or_default();
    let at = match at.split_once(", column ") {
        Some((line, column)) => format!(",line={line},col={column}"),
        None if at.is_empty() => String::new(),
        None => format!(",line={at}"),
    };
    format!(
        "::error file={}{at}::{}",
        property(&problem.file),
        data(&format!(
            "{}: {}; {}",
            problem.place, problem.what, problem.remedy
        )),
    )
}
