//! `quipu schema bundle`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::cli::Failure;
use crate::codegen::bundle::{self, Mode};
use crate::contract::{SESSION_OPEN, SESSION_STRICT, Wire};

#[derive(Debug, Args)]
pub(super) struct Bundle {
    /// The wire (quipu, senpi, dreb, or one of the folder's own), or `session` for session files
    #[arg(long, value_name = "WIRE|session")]
    wire: Option<String>,

    #[command(flatten)]
    which: super::Which,

    /// Of this schema folder, not of the program's own schema
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl Bundle {
    pub(super) fn run(&self) -> Result<ExitCode, Failure> {
        let schema = super::schema(self.dir.as_deref())?;
        let name = super::chosen(&schema, self.wire.as_deref())?;
        let mode = self.which.mode();
        if self.dir.is_some() {
            let text = bundle::text(&schema, name, mode).unwrap_or_default();
            return Ok(super::report(&text, false));
        }
        let text = match (name.parse::<Wire>(), mode) {
            (Ok(wire), Mode::Strict) => wire.strict(),
            (Ok(wire), Mode::Open) => wire.open(),
            (Err(_), Mode::Strict) => SESSION_STRICT,
            (Err(_), Mode::Open) => SESSION_OPEN,
        };
        Ok(super::report(text, false))
    }
}
