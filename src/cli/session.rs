//! The session of a run: in which file its entries go, and what it begins with.

use std::path::{Path, PathBuf};

use super::{Args, Failure};
use crate::config::Paths;
use crate::config::settings::Settings;
use crate::event::{ModelRef, SessionHeader, ThinkingLevel};
use crate::session::{SessionError, SessionStore, one_line, project_folder};

/// Begins the session that the arguments ask for, with a file in `folder` or without.
///
/// # Errors
/// A [`Failure`] of kind `session` if its folder cannot be used.
pub(super) fn begin(
    args: &Args,
    folder: &Path,
    header: &SessionHeader,
    model: &ModelRef,
    thinking: ThinkingLevel,
) -> Result<SessionStore, Failure> {
    let begin = || {
        let mut store = if args.no_session {
            SessionStore::in_memory()
        } else {
            SessionStore::create(folder, &header.into())?
        };
        store.append_model_change(model)?;
        store.append_thinking_level(thinking)?;
        if let Some(name) = &args.name {
            store.append_name(name)?;
        }
        Ok(store)
    };
    begin().map_err(|error: SessionError| Failure::new(error.code(), error.to_string()))
}

/// The folder of session files: `--session-dir` or the setting as they are, else one for the project
/// in Quipu's own folder.
pub(super) fn folder(args: &Args, settings: &Settings, paths: &Paths, cwd: &Path) -> PathBuf {
    match args.session_dir.as_ref().or(settings.session_dir.as_ref()) {
        Some(folder) => cwd.join(folder),
        None => project_folder(&paths.sessions(), cwd),
    }
}

/// Checks the value of `--name`.
pub(super) fn name(value: &str) -> Result<String, String> {
    match one_line(value) {
        name if name.is_empty() => Err("a session's name cannot be empty".to_owned()),
        name => Ok(name),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::config::Environment;

    #[test]
    fn the_folder_is_that_of_the_flag_the_setting_or_the_project() {
        let environment: Environment = [("QUIPU_HOME", "/q")].into_iter().collect();
        let paths = Paths::from_environment(&environment).unwrap();
        let cwd = Path::new("/p/x");
        let folder = |flags: &[&str], setting: Option<&str>| {
            let words = ["quipu", "--mode", "json"].iter().chain(flags);
            let args = Args::parse_from(words);
            let settings = Settings {
                session_dir: setting.map(PathBuf::from),
                ..Settings::default()
            };
            super::folder(&args, &settings, &paths, cwd)
        };
        assert_eq!(folder(&[], None), Path::new("/q/sessions/--p-x--"));
        assert_eq!(folder(&[], Some("/s")), Path::new("/s"));
        assert_eq!(
            folder(&["--session-dir", "d"], Some("/s")),
            Path::new("/p/x/d")
        );
    }

    #[test]
    fn a_name_is_one_line_and_not_empty() {
        assert_eq!(name(" a\nb ").unwrap(), "a b");
        assert!(name(" \n").is_err());
    }
}
