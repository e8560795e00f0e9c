//! The session of a run: which one it is, in which file its entries go, and what it begins with.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::opening::{Before, warn};
use super::{Args, Failure, choice, note};
use crate::config::settings::Settings;
use crate::config::{Environment, Paths};
use crate::event::{
    ErrorCode, ModelRef, StoredSessionHeader, StoredSessionHeaderVersion, ThinkingLevel,
};
use crate::session::{
    ContextEntry, FindError, Places, Reserved, Resumed, SessionError, SessionStore, is_path,
    one_line, project_folder, read_header, reserve, works_in,
};

/// Longest id; a file's name has a time and an ending too.
const LONGEST_ID: usize = 128;

/// The session that the arguments ask for, found before the stream begins with its header.
#[derive(Clone, Debug)]
pub(super) struct SessionTarget {
    /// What the stream begins with.
    pub(super) header: StoredSessionHeader,
    /// Where it works, as the header says, but exactly.
    pub(super) cwd: PathBuf,
    /// Where the user is: the files that they name are named from there.
    pub(super) here: PathBuf,
    /// Where the session is kept.
    pub(super) keep: Keep,
    /// Whether the user gave a new session its id, which no other may have then.
    named: bool,
}

/// Where a session is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    /// In memory only.
    Nowhere,
    /// In a file of its own in the folder of sessions.
    Folder,
    /// In this file, which is not there yet.
    File(PathBuf),
    /// In this file, which has a session in it.
    Stored(PathBuf),
    /// In a file of its own that begins as a copy of this one.
    Copy(PathBuf),
}

/// A session and what it held before.
pub(super) struct Begun {
    pub(super) store: SessionStore,
    pub(super) context: Vec<ContextEntry>,
    model: Option<ModelRef>,
    thinking: Option<ThinkingLevel>,
    name: Option<String>,
}

impl Args {
    /// Whether the arguments name a session, so that there is something to look for.
    fn name_a_session(&self) -> bool {
        self.continue_latest
            || self.resume
            || self.session.is_some()
            || self.session_id.is_some()
            || self.fork.is_some()
    }
}

impl SessionTarget {
    fn fresh(here: &Path, keep: Keep) -> Self {
        Self {
            header: header(here),
            cwd: here.to_owned(),
            here: here.to_owned(),
            keep,
            named: false,
        }
    }

    /// Sees to it that no other session gets an id that the user gave to this one.
    fn reserve(&self, folder: &Path) -> Result<Option<Reserved>, SessionError> {
        let reserved = self.named.then(|| reserve(folder, &self.header));
        reserved.transpose()
    }

    /// The session of a file that works in the directory where the user is.
    fn stored(path: PathBuf, header: StoredSessionHeader, here: &Path) -> Self {
        let mut target = Self::fresh(here, Keep::Stored(path));
        let cwd = std::mem::replace(&mut target.header, header).cwd;
        if target.header.cwd.is_empty() {
            // An old header does not say where.
            target.header.cwd = cwd;
        }
        target
    }
}

/// The working directory.
///
/// # Errors
/// A [`Failure`] of kind `usage` if it is gone.
pub(super) fn here() -> Result<PathBuf, Failure> {
    std::env::current_dir().map_err(|error| {
        Failure::usage(format!(
            "The working directory does not exist any more ({error}); start from one that does."
        ))
    })
}

/// The header of a session that begins now in `cwd`.
pub(super) fn header(cwd: &Path) -> StoredSessionHeader {
    StoredSessionHeader {
        version: StoredSessionHeaderVersion,
        id: uuid::Uuid::now_v7().to_string(),
        timestamp: humantime::format_rfc3339_millis(SystemTime::now()).to_string(),
        cwd: cwd.to_string_lossy().into_owned(),
        parent_session: None,
        agent_type: None,
    }
}

/// Finds the session that the arguments ask for; of session files, only first lines are read.
///
/// # Errors
/// A [`Failure`] if there is none, or if it cannot go on here.
pub(super) fn seek(args: &Args, cwd: &Path) -> Result<SessionTarget, Failure> {
    let mut target = if args.no_session {
        SessionTarget::fresh(cwd, Keep::Nowhere)
    } else if args.name_a_session() {
        let environment = Environment::current();
        let failed =
            |error: crate::config::ConfigError| Failure::new(error.code(), error.to_string());
        let paths = Paths::from_environment(&environment).map_err(failed)?;
        // What is strange in the settings is told when they are read for the run.
        let loaded = Settings::load(&paths, cwd, &environment).map_err(failed)?;
        let places = Places {
            folder: &folder(args.session_dir.as_deref(), &loaded.settings, &paths, cwd),
            all: &paths.sessions(),
            cwd,
        };
        find(args, &places)?
    } else {
        SessionTarget::fresh(cwd, Keep::Folder)
    };
    if let (Some(id), false) = (&args.session_id, matches!(target.keep, Keep::Stored(_))) {
        target.header.id.clone_from(id);
        target.named = true;
    }
    if args.agent_type.is_some() {
        // Nobody but the agent that started this one says so.
        target.header.agent_type.clone_from(&args.agent_type);
        let parent = args.parent_session.as_deref().map(Path::to_string_lossy);
        target.header.parent_session = parent.map(std::borrow::Cow::into_owned);
    }
    Ok(target)
}

fn find(args: &Args, places: &Places<'_>) -> Result<SessionTarget, Failure> {
    let cwd = places.cwd;
    if let Some(given) = &args.fork {
        let source = source(given, places)?;
        let mut target = SessionTarget::fresh(cwd, Keep::Copy(source.clone()));
        target.header.parent_session = Some(source.to_string_lossy().into_owned());
        if let Some(id) = &args.session_id
            && places.of_id(id)?.is_some()
        {
            return Err(Failure::usage(format!(
                "There is a session {id} already; a copy needs another --session-id."
            )));
        }
        return Ok(target);
    }
    if let Some(given) = &args.session {
        if is_path(given) {
            return at_path(&cwd.join(given), cwd);
        }
        let found = places.by_id(&given.to_string_lossy())?;
        if !found.works_in(cwd) {
            return Err(FindError::Elsewhere {
                id: found.header.id,
                cwd: found.header.cwd.into(),
            }
            .into());
        }
        return Ok(SessionTarget::stored(found.path, found.header, cwd));
    }
    let (found, missing) = if let Some(id) = &args.session_id {
        let missing = format!("no session of this project has the id {id}; one begins now");
        (places.of_id(id)?, missing)
    } else if args.resume {
        let found = if choice::is_possible() {
            choice::among(places.here()?)?
        } else {
            places.latest()?
        };
        let found = found.ok_or_else(|| FindError::None {
            folder: places.folder.to_owned(),
        })?;
        return Ok(SessionTarget::stored(found.path, found.header, cwd));
    } else {
        let missing = "this project has no session to continue; one begins now".to_owned();
        (places.latest()?, missing)
    };
    Ok(found.map_or_else(
        || {
            note(&format!("quipu: {missing}"));
            SessionTarget::fresh(cwd, Keep::Folder)
        },
        |found| SessionTarget::stored(found.path, found.header, cwd),
    ))
}

/// The session in a file that was named by its path.
fn at_path(path: &Path, here: &Path) -> Result<SessionTarget, Failure> {
    let shown = path.display();
    match path.metadata() {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {
            if let Ok(linked) = path.read_link() {
                return Err(Failure::usage(format!(
                    "{shown} is a link to {}, which does not exist. Name a file, or take the link away.",
                    linked.display()
                )));
            }
            if [&b"/"[..], b"/.", b"/.."]
                .iter()
                .any(|end| ends_with(path, end))
            {
                return Err(Failure::usage(format!(
                    "{shown} names a folder; a session is kept in a file, such as {}.",
                    path.join("session.jsonl").display()
                )));
            }
            note(&format!(
                "quipu: there is no file {shown}; a session begins in it now"
            ));
            return Ok(SessionTarget::fresh(here, Keep::File(path.to_owned())));
        }
        Err(source) => {
            let file = path.to_owned();
            return Err(failure(SessionError::Read { file, source }));
        }
    }
    let header = read_header(path).map_err(failure)?;
    let (path, stored) = (path.to_owned(), PathBuf::from(&header.cwd));
    if works_in(&header, here) {
        return Ok(SessionTarget::stored(path, header, here));
    }
    if !stored.is_dir() {
        return Err(FindError::NoCwd { path, cwd: stored }.into());
    }
    note(&format!(
        "quipu: the session works in {}, not in this folder",
        stored.display()
    ));
    Ok(SessionTarget {
        header,
        cwd: stored,
        ..SessionTarget::fresh(here, Keep::Stored(path))
    })
}

fn ends_with(path: &Path, end: &[u8]) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(end)
}

/// The file that a session is copied from.
fn source(given: &Path, places: &Places<'_>) -> Result<PathBuf, Failure> {
    if !is_path(given) {
        return Ok(places.by_id(&given.to_string_lossy())?.path);
    }
    let path = places.cwd.join(given);
    if !path.exists() {
        return Err(FindError::NoFile { path }.into());
    }
    read_header(&path).map_err(failure)?;
    Ok(path)
}

impl From<FindError> for Failure {
    fn from(error: FindError) -> Self {
        Self::new(error.code(), error.to_string())
    }
}

#[allow(clippy::needless_pass_by_value, reason = "it is what `map_err` gives")]
pub(super) fn failure(error: SessionError) -> Failure {
    Failure::new(error.code(), error.to_string())
}

/// Does what may block.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SessionError> + Send + 'static,
) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| Failure::new(ErrorCode::Internal, error.to_string()))?
        .map_err(failure)
}

/// Reads a session that goes on; `None` for one that begins. The file stays locked from here on.
///
/// # Errors
/// A [`Failure`] of kind `session` if the file cannot be used.
pub(super) async fn load(target: &SessionTarget, folder: &Path) -> Result<Option<Begun>, Failure> {
    let (target, folder) = (target.clone(), folder.to_owned());
    let resumed = blocking(move || match &target.keep {
        Keep::Stored(path) => SessionStore::open(path).map(Some),
        Keep::Copy(from) => {
            let _reserved = target.reserve(&folder)?;
            SessionStore::fork(from, &folder, &target.header).map(Some)
        }
        Keep::Nowhere | Keep::Folder | Keep::File(_) => Ok(None),
    })
    .await?;
    Ok(resumed.map(|resumed| {
        let Resumed {
            store,
            context,
            model,
            thinking,
            name,
            warnings,
            ..
        } = resumed;
        warn(&warnings);
        Begun {
            store,
            context,
            model,
            thinking,
            name,
        }
    }))
}

impl Begun {
    /// What it was like, which holds unless the flags say otherwise.
    pub(super) fn before(&self) -> Before<'_> {
        Before {
            model: self.model.as_ref(),
            thinking: self.thinking,
        }
    }

    /// Begins the session of a target that has none yet, with a file in `folder` or where the target says.
    fn new(target: &SessionTarget, folder: &Path) -> Result<Self, SessionError> {
        let store = match &target.keep {
            Keep::File(path) => SessionStore::create_at(path, &target.header)?,
            Keep::Folder => SessionStore::create(folder, &target.header)?,
            Keep::Nowhere | Keep::Stored(_) | Keep::Copy(_) => SessionStore::in_memory(),
        };
        Ok(Self {
            store,
            context: Vec::new(),
            model: None,
            thinking: None,
            name: None,
        })
    }

    /// Notes model, thinking level and name where they are not what the session has already.
    fn note(
        &mut self,
        model: &ModelRef,
        thinking: ThinkingLevel,
        name: Option<&str>,
    ) -> Result<(), SessionError> {
        if self.model.as_ref() != Some(model) {
            self.store.append_model_change(model)?;
        }
        if self.thinking != Some(thinking) {
            self.store.append_thinking_level(thinking)?;
        }
        if let Some(name) = name
            && self.name.as_deref() != Some(name)
        {
            self.store.append_name(name)?;
        }
        Ok(())
    }
}

/// Makes a session ready for its first prompt. A file that the user named, or that is of an id that the
/// user gave, is there from here on, before a model is asked.
///
/// # Errors
/// A [`Failure`] of kind `session` if its file or folder cannot be used.
pub(super) async fn begin(
    target: SessionTarget,
    begun: Option<Begun>,
    folder: PathBuf,
    (model, thinking, name): (ModelRef, ThinkingLevel, Option<String>),
) -> Result<(SessionStore, Vec<ContextEntry>), Failure> {
    blocking(move || {
        let mut begun = match begun {
            Some(begun) => begun,
            None => Begun::new(&target, &folder)?,
        };
        begun.note(&model, thinking, name.as_deref())?;
        match target.keep {
            Keep::File(_) => begun.store.make()?,
            Keep::Folder if target.named => {
                let _reserved = target.reserve(&folder)?;
                begun.store.make()?;
            }
            _ => {}
        }
        Ok((begun.store, begun.context))
    })
    .await
}

/// The folder of session files: `--session-dir` or the setting as they are, else one for the project
/// in Quipu's own folder.
pub(super) fn folder(
    flag: Option<&Path>,
    settings: &Settings,
    paths: &Paths,
    cwd: &Path,
) -> PathBuf {
    match flag.or(settings.session_dir.as_deref()) {
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

/// Checks the value of `--session-id`, which becomes part of the name of a file.
pub(super) fn id(value: &str) -> Result<String, String> {
    let ends = [value.chars().next(), value.chars().next_back()];
    let inner = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if ends
        .iter()
        .all(|c| c.is_some_and(|c| c.is_ascii_alphanumeric()))
        && value.chars().all(inner)
        && value.len() <= LONGEST_ID
    {
        return Ok(value.to_owned());
    }
    Err(format!(
        "an id is made of at most {LONGEST_ID} letters, digits, `.`, `_` and `-`, with a letter or \
         digit at both ends"
    ))
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
            super::folder(args.session_dir.as_deref(), &settings, &paths, cwd)
        };
        assert_eq!(folder(&[], None), Path::new("/q/sessions/--p-x--"));
        assert_eq!(folder(&[], Some("/s")), Path::new("/s"));
        assert_eq!(
            folder(&["--session-dir", "d"], Some("/s")),
            Path::new("/p/x/d")
        );
    }

    #[test]
    fn an_id_is_fit_for_the_name_of_a_file() {
        for fit in ["a", "7", "build-7.a_b", &"x".repeat(LONGEST_ID)] {
            assert_eq!(id(fit).as_deref(), Ok(fit));
        }
        for unfit in [
            "",
            "-a",
            "a.",
            "_",
            "a/b",
            "a b",
            "ä",
            &"x".repeat(LONGEST_ID + 1),
        ] {
            assert!(id(unfit).is_err(), "{unfit}");
        }
    }

    #[test]
    fn a_name_is_one_line_and_not_empty() {
        assert_eq!(name(" a\nb ").unwrap(), "a b");
        assert!(name(" \n").is_err());
    }
}
