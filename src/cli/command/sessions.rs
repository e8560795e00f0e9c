//! `quipu sessions`: what is kept, for people to read.

mod markdown;
mod rows;

use std::fmt::Write as _;
use std::io::{BufWriter, IsTerminal as _, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;

use self::markdown::Unwritten;

use crate::cli::{Failure, exit_code, note, session};
use crate::config::settings::Settings;
use crate::config::{ConfigError, Environment, Paths};
use crate::session::{FindError, Found, Places, SessionError, about, is_path, read_header};
use crate::wire::{visible, visible_line};

/// The arguments of `quipu sessions`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(in crate::cli) struct Sessions {
    #[command(subcommand)]
    what: Option<What>,

    #[command(flatten)]
    list: List,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List sessions, the latest first; this is what no further word does
    List(List),
    /// Show the entries of a session, a line each
    Show(Show),
    /// Write the conversation of a session as Markdown
    Export(Export),
}

#[derive(Debug, Args)]
struct List {
    /// Those of all folders
    #[arg(long)]
    all: bool,

    /// The folder of session files, taken as it is
    #[arg(long, value_name = "DIR")]
    session_dir: Option<PathBuf>,

    /// How to print the list
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

#[derive(Debug, Args)]
struct Show {
    /// The session: its file, its id, or the beginning of one
    #[arg(value_name = "FILE|ID")]
    session: PathBuf,

    /// The folder of session files, taken as it is
    #[arg(long, value_name = "DIR")]
    session_dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct Export {
    #[command(flatten)]
    show: Show,

    /// Write to this file, which is replaced, and not to standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table
    Human,
    /// A JSON array
    Json,
}

/// One session of the list.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    id: String,
    /// When the file was last written.
    modified: String,
    cwd: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_prompt: Option<String>,
    messages: u64,
    file: String,
}

impl Sessions {
    pub(super) fn run(&self) -> ExitCode {
        let print = |text: String| super::print(visible(&text).as_bytes());
        let ended = match &self.what {
            None => self.list.text().map(print),
            Some(What::List(list)) => list.text().map(print),
            Some(What::Show(show)) => show.text().map(print),
            Some(What::Export(export)) => export.run(),
        };
        ended.unwrap_or_else(|failure| {
            note(&format!("quipu: {failure}"));
            ExitCode::from(exit_code(failure.code))
        })
    }
}

/// Where sessions are kept, seen from the working directory.
struct Kept {
    folder: PathBuf,
    all: PathBuf,
    cwd: PathBuf,
}

impl Kept {
    fn new(session_dir: Option<&Path>) -> Result<Self, Failure> {
        let failed = |error: ConfigError| Failure::new(error.code(), error.to_string());
        let environment = Environment::current();
        let paths = Paths::from_environment(&environment).map_err(failed)?;
        let cwd = session::here()?;
        let settings = Settings::load(&paths, &cwd, &environment)
            .map_err(failed)?
            .settings;
        let folder = session::folder(session_dir, &settings, &paths, &cwd);
        Ok(Self {
            folder,
            all: paths.sessions(),
            cwd,
        })
    }

    fn places(&self) -> Places<'_> {
        Places {
            folder: &self.folder,
            all: &self.all,
            cwd: &self.cwd,
        }
    }
}

impl List {
    fn text(&self) -> Result<String, Failure> {
        let kept = Kept::new(self.session_dir.as_deref())?;
        let found = if self.all {
            kept.places().everywhere()?
        } else {
            kept.places().here()?
        };
        if found.is_empty() && self.format == Format::Human {
            let more = if self.all {
                ""
            } else {
                "; --all lists those of other folders"
            };
            note(&format!(
                "quipu: no sessions in {}{more}",
                if self.all { &kept.all } else { &kept.folder }.display()
            ));
        }
        let rows = found.iter().map(row).collect::<Result<Vec<_>, _>>()?;
        Ok(match self.format {
            Format::Json => {
                // Rows of strings and numbers cannot fail to serialise.
                serde_json::to_string_pretty(&rows).unwrap_or_default() + "\n"
            }
            Format::Human => self.table(&rows),
        })
    }

    fn table(&self, rows: &[Row]) -> String {
        let mut text = String::new();
        let width = |row: &Row| visible_line(&row.id).chars().count();
        let ids = rows.iter().map(width).max().unwrap_or(0);
        for row in rows {
            let title = match (&row.name, &row.first_prompt) {
                (Some(name), _) => name.clone(),
                (None, Some(prompt)) => format!("\"{prompt}\""),
                (None, None) => String::new(),
            };
            let plural = if row.messages == 1 { "" } else { "s" };
            let _ = write!(
                text,
                "{:ids$}  {}  {:4} message{plural}  {}",
                visible_line(&row.id),
                row.modified,
                row.messages,
                visible_line(&title)
            );
            if self.all {
                let _ = write!(text, "  ({})", visible_line(&row.cwd));
            }
            text.truncate(text.trim_end().len());
            text.push('\n');
        }
        text
    }
}

fn row(found: &Found) -> Result<Row, Failure> {
    let about = about(&found.path).map_err(|source| {
        let file = found.path.clone();
        session::failure(SessionError::Read { file, source })
    })?;
    Ok(Row {
        id: found.header.id.clone(),
        modified: humantime::format_rfc3339_seconds(found.modified).to_string(),
        cwd: found.header.cwd.clone(),
        name: about.name,
        first_prompt: about.first_prompt,
        messages: about.messages,
        file: found.path.to_string_lossy().into_owned(),
    })
}

impl Show {
    /// The file of the session, of whatever folder.
    fn file(&self) -> Result<PathBuf, Failure> {
        if !is_path(&self.session) {
            let kept = Kept::new(self.session_dir.as_deref())?;
            let id = self.session.to_string_lossy();
            return Ok(kept.places().by_id(&id)?.path);
        }
        let path = self.session.clone();
        if !path.exists() {
            return Err(FindError::NoFile { path }.into());
        }
        read_header(&path).map_err(session::failure)?;
        Ok(path)
    }

    fn text(&self) -> Result<String, Failure> {
        let file = self.file()?;
        rows::of(&file).map_err(session::failure)
    }
}

impl Export {
    fn run(&self) -> Result<ExitCode, Failure> {
        let file = self.show.file()?;
        let Some(output) = &self.output else {
            if std::io::stdout().is_terminal() {
                // A terminal only: an export into a file or pipe is what the session holds.
                let mut text = Vec::new();
                return match self::export(&file, &mut text) {
                    Err(Unwritten::Session(error)) => Err(session::failure(error)),
                    _ => Ok(super::print(
                        visible(&String::from_utf8_lossy(&text)).as_bytes(),
                    )),
                };
            }
            let mut out = BufWriter::new(std::io::stdout().lock());
            return match self::export(&file, &mut out) {
                Ok(()) => Ok(super::printed(Ok(()))),
                Err(Unwritten::Output(error)) => Ok(super::printed(Err(error))),
                Err(Unwritten::Session(error)) => Err(session::failure(error)),
            };
        };
        if let (Ok(a), Ok(b)) = (output.canonicalize(), file.canonicalize())
            && a == b
        {
            return Err(Failure::usage(format!(
                "{} is the session itself; name another file with --output.",
                output.display()
            )));
        }
        let unwritten = |error: std::io::Error| {
            Failure::usage(format!("{} cannot be written: {error}", output.display()))
        };
        let made = std::fs::File::create(output).map_err(unwritten)?;
        match self::export(&file, &mut BufWriter::new(made)) {
            Ok(()) => Ok(ExitCode::SUCCESS),
            Err(Unwritten::Output(error)) => Err(unwritten(error)),
            Err(Unwritten::Session(error)) => Err(session::failure(error)),
        }
    }
}

fn export(file: &Path, out: &mut dyn Write) -> Result<(), Unwritten> {
    markdown::write(file, out)?;
    Ok(out.flush()?)
}
