//! `quipu schema diff`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::{Format, table};
use crate::cli::Failure;
use crate::contract::diff::{self, Breaks, Change, Declared, InputError, Verdict};
use crate::event::ErrorCode;
use crate::wire::{visible, visible_line};

/// Exit status: 0 nobody breaks, 1 somebody does, whatever step of the version is declared, or it is
/// not decided, or the declared step is too small, 2 a side that cannot be compared.
#[derive(Debug, Args)]
pub(super) struct Diff {
    /// What there was: a schema folder, a folder of released bundles, or a bundle file; `-` is a
    /// bundle on standard input
    old: PathBuf,

    /// What there is now
    new: PathBuf,

    /// How to print the changes
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

impl Diff {
    pub(super) fn run(&self) -> Result<ExitCode, Failure> {
        if [&self.old, &self.new]
            .iter()
            .all(|side| side.as_path() == Path::new("-"))
        {
            let what = "standard input can be one side only; name a folder or file for the other";
            return Err(Failure::usage(what));
        }
        let read = |path: &Path| diff::read(path).map_err(|error| refused(&error));
        let (old, new) = (read(&self.old)?, read(&self.new)?);
        let found = diff::compare(&old, &new).map_err(|error| refused(&error))?;
        let bad = !matches!(found.verdict(), Verdict::Same | Verdict::Compatible);
        let text = match self.format {
            Format::Json => super::json(&json!({
                "verdict": found.verdict(),
                "step": found.step(),
                "oldVersion": found.old_version,
                "newVersion": found.new_version,
                "declaredIsEnough": found.declared().map(|_| found.is_declared()),
                "orderCompared": found.orderless.is_empty(),
                "changes": found.changes,
            })),
            Format::Human => human(&found),
        };
        Ok(super::report(&text, bad))
    }
}

/// A side that cannot be compared is a slip of the command line.
fn refused(error: &InputError) -> Failure {
    if let InputError::Mistakes { problems, .. } = error {
        super::mistakes(problems);
    }
    Failure::new(ErrorCode::Usage, error.to_string())
}

fn human(found: &diff::Diff) -> String {
    let mut rows = Vec::new();
    for change in &found.changes {
        let wires: Vec<&str> = change.wires.iter().map(String::as_str).collect();
        let cells = [
            change.step.name().to_owned(),
            match change.breaks {
                Breaks::Nobody => "breaks nobody".to_owned(),
                Breaks::Both => "breaks both".to_owned(),
                Breaks::Undecided => "undecided".to_owned(),
                side => format!("breaks {side}"),
            },
            wires.join(","),
            told(change),
        ];
        rows.push(cells.map(|cell| visible_line(&cell).into_owned()).to_vec());
    }
    let mut text = String::new();
    table::write(&mut text, &rows);
    let _ = writeln!(text, "{}", visible(&summary(found)));
    text
}

/// Where it is, what it is, and which lines it reaches.
fn told(change: &Change) -> String {
    let mut text = match &change.event {
        Some(event) if change.title == "grammar" => format!("{} of {event}", change.title),
        Some(event) => format!("{event} ({})", change.title),
        None => change.title.clone(),
    };
    if !change.place.is_empty() {
        let _ = write!(text, " {}", change.place);
    }
    let _ = write!(text, ": {}", change.what);
    let lines: Vec<&str> = change.reached_by.iter().map(String::as_str).collect();
    match &lines[..] {
        [] => {}
        [first, second, third, rest @ ..] if rest.len() > 1 => {
            let more = rest.len();
            let _ = write!(text, "; in {first}, {second}, {third} and {more} more");
        }
        lines => {
            let _ = write!(text, "; in {}", lines.join(", "));
        }
    }
    text
}

fn summary(found: &diff::Diff) -> String {
    let count = found.changes.len();
    let mut text = match (found.step(), count) {
        (None, _) => "No changes".to_owned(),
        (Some(step), 1) => format!("1 change, a {step} one"),
        (Some(step), _) => format!("{count} changes, the greatest a {step} one"),
    };
    text.push_str(match found.verdict() {
        Verdict::Same => ".",
        Verdict::Compatible | Verdict::StepTooSmall if count == 0 => ".",
        Verdict::Compatible | Verdict::StepTooSmall => ": compatible.",
        Verdict::Breaking => ": breaking.",
        Verdict::Undecided => ": not all of it is decided; people have to.",
    });
    if let (Some(old), Some(new), Some(declared)) =
        (&found.old_version, &found.new_version, found.declared())
    {
        let told = match declared {
            Declared::Same => format!(" Both are version {new}"),
            Declared::Up(step) => format!(" From version {old} to {new} is a {step} step"),
            Declared::Down => format!(" From version {old} to {new} is a step back"),
        };
        text.push_str(&told);
        text.push_str(match (found.is_declared(), found.step()) {
            (true, _) => ".",
            (false, None) => ", which is wrong.",
            (false, Some(_)) => ", which is too small.",
        });
    }
    if let [first, rest @ ..] = &found.orderless[..] {
        let sides = match rest {
            [] => format!("{first} has no"),
            _ => "neither has a".to_owned(),
        };
        let _ = write!(text, " The order was not compared: {sides} grammar.");
    }
    text
}
