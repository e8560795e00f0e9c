//! Sessions that are gone on with: opened, or forked from another.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read as _, Write};
use std::path::Path;

use super::context::{self, State};
use super::file::{LineFile, beside, open_to_read, private, reading, writing};
use super::index::{Index, Warnings};
use super::lines::{Lines, Shape, shape};
use super::store::{push_line, usable};
use super::upgrade::{Upgrade, VERSION, header, upgraded_header};
use super::{ContextEntry, SessionError, SessionStore, file_name};
use crate::event::{ModelRef, StoredSessionHeader, ThinkingLevel};

/// The longest first line that is looked at, in bytes.
const LONGEST_HEADER: u64 = 1024 * 1024;

/// A session that was read from its file and can be gone on with.
#[derive(Debug)]
pub struct Resumed {
    /// The session, locked for this process; the next entry follows the last one of the file.
    pub store: SessionStore,
    /// The first line of the file.
    pub header: StoredSessionHeader,
    /// What the model is given, oldest first.
    pub context: Vec<ContextEntry>,
    /// The model that answered last or was chosen after that; `None` if there is none yet.
    pub model: Option<ModelRef>,
    /// The thinking level that was chosen last; `None` if there is none yet.
    pub thinking: Option<ThinkingLevel>,
    /// The name of the session, if it has one.
    pub name: Option<String>,
    /// What the user should know of the file, such as a repaired end or lines that were left out.
    /// Bounded, each one line that names the file.
    pub warnings: Vec<String>,
}

/// The header of a session file, whichever version wrote it. Only the first line is read, and
/// nothing is locked.
///
/// # Errors
/// [`SessionError::Read`] if the file cannot be read, [`SessionError::NoSession`] if it does not
/// begin with a header.
pub fn read_header(path: &Path) -> Result<StoredSessionHeader, SessionError> {
    let file = BufReader::new(open_to_read(path)?);
    let mut lines = Lines::new(file.take(LONGEST_HEADER));
    Ok(first(path, &mut lines)?.1)
}

impl SessionStore {
    /// Opens the session file to go on with it. It is locked until the store is dropped.
    ///
    /// Half a line at its end, as a process leaves it that was killed, is moved to a file beside. A
    /// file of an older version is written anew, and the old one kept beside. Time and memory grow
    /// with the number of entries and with what the model is given, not with what came before; it is
    /// work for a thread that may block. A link is followed.
    ///
    /// # Errors
    /// [`SessionError::Read`] and [`SessionError::NoSession`] as [`read_header`], nothing is touched
    /// then; [`SessionError::InUse`] if another process goes on with it; [`SessionError::Write`] and
    /// [`SessionError::Unkept`] if it cannot be written or repaired.
    pub fn open(path: &Path) -> Result<Resumed, SessionError> {
        // A link stays one, whatever is put in the place of the file or beside it.
        let followed = if path.is_symlink() {
            path.canonicalize().map_err(|error| reading(path, error))?
        } else {
            path.to_owned()
        };
        let path = &*followed;
        let mut warnings = Warnings::of(path);
        let mut file = LineFile::open(path)?;
        let (version, _) = first(path, &mut file.lines()?)?;
        repair(&mut file, &mut warnings)?;
        if version < VERSION {
            file = migrate(file, version, &mut warnings)?;
        } else if version > VERSION {
            warnings.file(&format!(
                "written by a newer program (version {version} of the format); what this one does \
                 not know is left as it is"
            ));
        }
        load(file, warnings)
    }

    /// Copies the session file `from`, which may be in use, to a new file in `folder` with this
    /// header, and opens that. Only whole lines are copied. The header's `parentSession` becomes
    /// `from` if it is absent. The copy is taken away again if nothing is appended to it that is told.
    ///
    /// # Errors
    /// [`SessionError::Read`] and [`SessionError::NoSession`] as [`read_header`] for `from`;
    /// [`SessionError::Folder`] and [`SessionError::Write`] if the new file cannot be made.
    pub fn fork(
        from: &Path,
        folder: &Path,
        header: &StoredSessionHeader,
    ) -> Result<Resumed, SessionError> {
        let mut warnings = Warnings::of(from);
        let mut source = Lines::new(BufReader::new(open_to_read(from)?));
        let (version, _) = first(from, &mut source)?;
        usable(folder)?;
        let mut header = header.clone();
        if header.parent_session.is_none() {
            let from = std::path::absolute(from).map_err(|error| reading(from, error))?;
            header.parent_session = Some(from.to_string_lossy().into_owned());
        }
        let mut first = Vec::new();
        push_line(&mut first, &header)?;
        let path = folder.join(file_name(&header.timestamp, &header.id));
        let file = LineFile::create(&path, |out| {
            let fail = |error| writing(&path, error);
            out.write_all(&first).map_err(fail)?;
            let mut upgrade = Upgrade::from(version);
            while let Some(line) = source.next().map_err(|error| reading(from, error))? {
                if line.is_blank() {
                    continue;
                }
                match shape(line.text) {
                    Shape::Broken(why) => warnings.skipped(line.number, &why),
                    _ => put(out, &upgrade.line(line.text)).map_err(fail)?,
                }
            }
            Ok(())
        })?;
        let mut told = warnings.into_told();
        let mut resumed = load(file, Warnings::of(&path))?;
        resumed.store = resumed.store.unused();
        told.append(&mut resumed.warnings);
        resumed.warnings = told;
        Ok(resumed)
    }
}

/// Reads the first line.
fn first(
    path: &Path,
    lines: &mut Lines<impl BufRead>,
) -> Result<(u64, StoredSessionHeader), SessionError> {
    let line = lines.next().map_err(|error| reading(path, error))?;
    header(path, line.map(|line| line.text))
}

fn load(file: LineFile, mut warnings: Warnings) -> Result<Resumed, SessionError> {
    if !file.is_locked() {
        warnings.file("its file system knows no locks; let no other process go on with it");
    }
    let (_, header) = first(file.path(), &mut file.lines()?)?;
    let mut index = Index::of(&file, &mut warnings)?;
    let State {
        context,
        model,
        thinking,
    } = context::state(&index, &file, &mut warnings)?;
    let name = index.name.take();
    let (ids, leaf) = index.into_ids();
    Ok(Resumed {
        store: SessionStore::gone_on(file, ids, leaf),
        header,
        context,
        model,
        thinking,
        name,
        warnings: warnings.into_told(),
    })
}

/// Makes the last line whole: one that only lacks its line break gets it, any other that is no JSON
/// is moved to a file beside.
fn repair(file: &mut LineFile, warnings: &mut Warnings) -> Result<(), SessionError> {
    let (begin, line) = file.last_line()?;
    let ended = line.ends_with(b"\n");
    if line.trim_ascii().is_empty() && ended {
        return Ok(());
    }
    match shape(&line) {
        Shape::Broken(_) => {
            let (cut, kept) = beside(file.path(), "cut", |name| {
                private(name, |cut| cut.write_all(&line))
            });
            kept.map_err(|source| SessionError::Unkept {
                file: file.path().to_owned(),
                why: "ends with half a line",
                kept: cut.clone(),
                source,
            })?;
            file.truncate(begin)?;
            warnings.file(&format!(
                "its last line was cut off in the middle; those {} bytes are now in {}",
                line.len(),
                cut.display()
            ));
            Ok(())
        }
        _ if ended => Ok(()),
        _ => file.append(b"\n"),
    }
}

/// Brings the file to today's version; the old one is kept beside.
fn migrate(
    file: LineFile,
    version: u64,
    warnings: &mut Warnings,
) -> Result<LineFile, SessionError> {
    let path = file.path().to_owned();
    let (old, kept) = beside(&path, &format!("v{version}.bak"), |name| {
        fs::hard_link(&path, name).or_else(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Err(error),
            // Not every file system has links.
            _ => private(name, |old| {
                io::copy(&mut File::open(&path)?, old).map(|_| ())
            }),
        })
    });
    kept.map_err(|source| SessionError::Unkept {
        file: path.clone(),
        why: "is of an older version",
        kept: old.clone(),
        source,
    })?;
    let migrated = file.replace(|file, out| {
        let fail = |error| writing(&path, error);
        let mut lines = file.lines()?;
        let mut upgrade = Upgrade::from(version);
        while let Some(line) = lines.next().map_err(|error| reading(&path, error))? {
            if line.number == 1 {
                put(out, &upgraded_header(line.text)).map_err(fail)?;
            } else {
                put(out, &upgrade.line(line.text)).map_err(fail)?;
            }
        }
        Ok(())
    });
    let file = migrated.inspect_err(|_| {
        let still = open_to_read(&path).and_then(|file| {
            let mut lines = Lines::new(BufReader::new(file.take(LONGEST_HEADER)));
            first(&path, &mut lines)
        });
        if still.is_ok_and(|(still, _)| still == version) {
            // The old file is still in its place.
            let _ = fs::remove_file(&old);
        }
    })?;
    warnings.file(&format!(
        "brought from version {version} of the format to {VERSION}; the old file is {}",
        old.display()
    ));
    Ok(file)
}

fn put(out: &mut dyn Write, line: &[u8]) -> io::Result<()> {
    out.write_all(line)?;
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests;
