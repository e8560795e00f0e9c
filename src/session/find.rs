//! Finding a session again: by its id or the beginning of one, or as the latest of a project.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{about, read_header};
use crate::event::{ErrorCode, StoredSessionHeader};

/// Most sessions that a message lists.
const SHOWN: usize = 10;

/// A session file that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The file.
    pub path: PathBuf,
    /// Its first line.
    pub header: StoredSessionHeader,
    /// When it was last written.
    pub modified: SystemTime,
}

/// Where sessions are looked for.
#[derive(Clone, Copy, Debug)]
pub struct Places<'a> {
    /// The folder of this project's session files. One that the user chose may hold those of other
    /// projects too.
    pub folder: &'a Path,
    /// The folder with one folder for each project.
    pub all: &'a Path,
    /// The working directory: sessions that work elsewhere belong to other projects.
    pub cwd: &'a Path,
}

/// Why there is no session to go on with.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// No session has this id, or one that begins so.
    #[error(
        "there is no session \"{given}\", in this project or another. A file is named by its path, \
         with a / or .jsonl in it; `quipu sessions --all` lists what there is"
    )]
    Unknown {
        /// What was asked for.
        given: String,
    },
    /// Several sessions fit.
    #[error(
        "\"{given}\" fits several sessions; write more of the id, or name the file:{candidates}"
    )]
    Ambiguous {
        /// What was asked for.
        given: String,
        /// A line for each of them, each after a line break.
        candidates: String,
    },
    /// The session belongs to another project.
    #[error(
        "the session {id} belongs to another folder, {}. Go there, or begin a copy of it here with \
         --fork {id}", cwd.display()
    )]
    Elsewhere {
        /// The session's whole id.
        id: String,
        /// Where it works.
        cwd: PathBuf,
    },
    /// The directory in which the session works is gone.
    #[error(
        "the session {} works in {}, which does not exist any more. Make that folder again, or begin \
         a copy of the session here with --fork {}", path.display(), cwd.display(), path.display()
    )]
    NoCwd {
        /// The session's file.
        path: PathBuf,
        /// Where it worked.
        cwd: PathBuf,
    },
    /// There is no such file.
    #[error("there is no session file {}", path.display())]
    NoFile {
        /// The path as it was given.
        path: PathBuf,
    },
    /// This project has no sessions.
    #[error(
        "there is no session of this project to go on with in {}; `quipu sessions --all` lists those \
         of other projects", folder.display()
    )]
    None {
        /// Where they were looked for.
        folder: PathBuf,
    },
    /// A folder of session files cannot be read.
    #[error("the folder of session files {} cannot be read: {source}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl FindError {
    /// The code of the failed run: [`ErrorCode::Usage`], unless a folder cannot be read.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Folder { .. } => ErrorCode::Session,
            _ => ErrorCode::Usage,
        }
    }
}

/// Whether a session is named by the path of its file, not by its id.
#[must_use]
pub fn is_path(given: &Path) -> bool {
    let text = given.to_string_lossy();
    text.contains('/') || text.ends_with(".jsonl")
}

impl Found {
    /// The session of a file, if its first line is a header.
    fn at(path: PathBuf, modified: SystemTime) -> Option<Self> {
        let header = read_header(&path).ok()?;
        Some(Self {
            path,
            header,
            modified,
        })
    }

    /// Whether the session works in this directory. Headers of old versions may not tell where.
    #[must_use]
    pub fn works_in(&self, cwd: &Path) -> bool {
        works_in(&self.header, cwd)
    }

    /// Id, time, and name or first prompt of the session, on one line.
    #[must_use]
    pub fn line(&self) -> String {
        let time = humantime::format_rfc3339_seconds(self.modified);
        let title = about(&self.path).ok().and_then(|about| about.title());
        format!("{}  {time}  {}", self.header.id, title.unwrap_or_default())
            .trim_end()
            .to_owned()
    }
}

/// Whether the session of this header works in `cwd`.
#[must_use]
pub fn works_in(header: &StoredSessionHeader, cwd: &Path) -> bool {
    let stored = Path::new(&header.cwd);
    header.cwd.is_empty()
        || header.cwd == cwd.to_string_lossy()
        || matches!((stored.canonicalize(), cwd.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

impl Places<'_> {
    /// The sessions of this project, the latest first.
    pub fn here(&self) -> Result<Vec<Found>, FindError> {
        let found = files(self.folder)?.into_iter().filter_map(found);
        Ok(found.filter(|found| found.works_in(self.cwd)).collect())
    }

    /// The sessions of all projects, the latest first.
    pub fn everywhere(&self) -> Result<Vec<Found>, FindError> {
        let mut folders = BTreeSet::from([self.folder.to_owned()]);
        folders.extend(entries(self.all)?.into_iter().filter(|path| path.is_dir()));
        let mut all = Vec::new();
        for folder in folders {
            all.extend(files(&folder)?);
        }
        newest_first(&mut all);
        Ok(all.into_iter().filter_map(found).collect())
    }

    /// The session of this project that was last written. No other file is opened than those before
    /// it that are none of this project's.
    pub fn latest(&self) -> Result<Option<Found>, FindError> {
        let mut found = files(self.folder)?.into_iter().filter_map(found);
        Ok(found.find(|found| found.works_in(self.cwd)))
    }

    /// The session of this project with exactly this id.
    pub fn of_id(&self, id: &str) -> Result<Option<Found>, FindError> {
        let here = self.here()?.into_iter();
        only(id, here.filter(|found| found.header.id == id).collect())
    }

    /// The session with this id, else the one whose id begins so, of this project, else of all.
    ///
    /// # Errors
    /// [`FindError::Unknown`] for none, [`FindError::Ambiguous`] for several.
    pub fn by_id(&self, given: &str) -> Result<Found, FindError> {
        for place in [Self::here, Self::everywhere] {
            let (exact, begun): (Vec<_>, Vec<_>) = place(self)?
                .into_iter()
                .filter(|found| found.header.id.starts_with(given))
                .partition(|found| found.header.id == given);
            let fitting = if exact.is_empty() { begun } else { exact };
            if let Some(found) = only(given, fitting)? {
                return Ok(found);
            }
        }
        Err(FindError::Unknown {
            given: given.to_owned(),
        })
    }
}

/// The one session that fits, if any does.
fn only(given: &str, mut fitting: Vec<Found>) -> Result<Option<Found>, FindError> {
    if fitting.len() < 2 {
        return Ok(fitting.pop());
    }
    let mut candidates = String::new();
    for found in fitting.iter().take(SHOWN) {
        let _ = write!(
            candidates,
            "\n  {}\n    {}",
            found.line(),
            found.path.display()
        );
    }
    if fitting.len() > SHOWN {
        let _ = write!(candidates, "\n  and {} more", fitting.len() - SHOWN);
    }
    Err(FindError::Ambiguous {
        given: given.to_owned(),
        candidates,
    })
}

fn found((path, modified): (PathBuf, SystemTime)) -> Option<Found> {
    Found::at(path, modified)
}

/// The session files of a folder and when they were written, the latest first; none if the folder is
/// not there.
fn files(folder: &Path) -> Result<Vec<(PathBuf, SystemTime)>, FindError> {
    let paths = entries(folder)?.into_iter();
    let mut files: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|ext| ext == "jsonl"))
        .filter_map(|path| {
            let about = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
            Some((path, about.modified().ok()?))
        })
        .collect();
    newest_first(&mut files);
    Ok(files)
}

/// Sorts by time; of files of one time the name decides, which begins with the time of the session.
fn newest_first(files: &mut [(PathBuf, SystemTime)]) {
    files.sort_by(|(a, a_time), (b, b_time)| (b_time, b.file_name()).cmp(&(a_time, a.file_name())));
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, FindError> {
    let fail = |source| FindError::Folder {
        folder: folder.to_owned(),
        source,
    };
    match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(fail(error)),
        Ok(entries) => entries
            .map(|entry| Ok(entry.map_err(fail)?.path()))
            .collect(),
    }
}

#[cfg(test)]
mod tests;
