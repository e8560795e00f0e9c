//! A file of whole lines: what cannot be written whole is not written.

use std::fs::{self, File, TryLockError};
use std::io::{self, BufReader, BufWriter, Read as _, Seek as _, Write};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use tempfile::NamedTempFile;

use super::SessionError;
use super::lines::Lines;

/// How much is read at once on the way back to the beginning of a line, in bytes.
const CHUNK: u64 = 64 * 1024;

/// A session file that this process writes, and no other Quipu: the file is locked as long as this
/// lives. The lock is the system's, so nothing is left of it when the process is killed.
#[derive(Debug)]
pub(super) struct LineFile {
    path: PathBuf,
    file: File,
    /// Bytes of whole lines.
    len: u64,
    /// Half a line stands behind them and could not be taken away.
    torn: bool,
    /// False where the file system knows no locks.
    locked: bool,
}

impl LineFile {
    /// Makes the file, which must not be there yet, with what `contents` writes. It is for its owner
    /// only: conversations hold what people and files told. It appears whole and locked; if that
    /// fails there is no file.
    pub(super) fn create(
        path: &Path,
        contents: impl FnOnce(&mut dyn Write) -> Result<(), SessionError>,
    ) -> Result<Self, SessionError> {
        let made = written_beside(path, contents)?;
        let locked = lock(made.as_file(), path)?;
        let file = made.persist_noclobber(path).map_err(|error| {
            if error.error.kind() == io::ErrorKind::AlreadyExists {
                let file = path.to_owned();
                SessionError::Exists { file }
            } else {
                writing(path, error.error)
            }
        })?;
        Self::of(path, file, locked)
    }

    /// Opens and locks a file that is there.
    pub(super) fn open(path: &Path) -> Result<Self, SessionError> {
        loop {
            let opened = File::options().read(true).append(true).open(path);
            let file = opened.map_err(|source| match source.kind() {
                io::ErrorKind::NotFound => reading(path, source),
                _ => writing(path, source),
            })?;
            let about = regular(&file, path)?;
            let locked = lock(&file, path)?;
            // Whoever had the lock before may have put another file in its place.
            let there = fs::metadata(path).map_err(|error| reading(path, error))?;
            if (there.dev(), there.ino()) == (about.dev(), about.ino()) {
                return Self::of(path, file, locked);
            }
        }
    }

    fn of(path: &Path, file: File, locked: bool) -> Result<Self, SessionError> {
        let about = file.metadata().map_err(|error| reading(path, error))?;
        Ok(Self {
            path: path.to_owned(),
            file,
            len: about.len(),
            torn: false,
            locked,
        })
    }

    /// Puts a file with what `contents` writes, which may read this one, in the place of this one, whole
    /// or not at all.
    pub(super) fn replace(
        self,
        contents: impl FnOnce(&Self, &mut dyn Write) -> Result<(), SessionError>,
    ) -> Result<Self, SessionError> {
        let fail = |source| writing(&self.path, source);
        let made = written_beside(&self.path, |out| contents(&self, out))?;
        let about = self.file.metadata().map_err(fail)?;
        made.as_file()
            .set_permissions(about.permissions())
            .map_err(fail)?;
        made.as_file().sync_all().map_err(fail)?;
        let locked = lock(made.as_file(), &self.path)?;
        let file = made.persist(&self.path).map_err(|e| fail(e.error))?;
        Self::of(&self.path, file, locked)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether other processes are kept away.
    pub(super) fn is_locked(&self) -> bool {
        self.locked
    }

    /// The lines, from the first on.
    pub(super) fn lines(&self) -> Result<Lines<impl io::BufRead + '_>, SessionError> {
        let mut file = &self.file;
        file.rewind().map_err(|error| reading(&self.path, error))?;
        Ok(Lines::new(BufReader::with_capacity(
            usize::try_from(CHUNK).unwrap_or(usize::MAX),
            file.take(self.len),
        )))
    }

    /// Reads `len` bytes at `offset` into `buffer`.
    pub(super) fn read_at(
        &self,
        offset: u64,
        len: usize,
        buffer: &mut Vec<u8>,
    ) -> Result<(), SessionError> {
        buffer.resize(len, 0);
        self.file
            .read_exact_at(buffer, offset)
            .map_err(|error| reading(&self.path, error))
    }

    /// Where the last line begins, and the whole of it.
    pub(super) fn last_line(&self) -> Result<(u64, Vec<u8>), SessionError> {
        let mut buffer = Vec::new();
        let mut begin = 0;
        // A line break at the very end belongs to the last line.
        let mut end = self.len.saturating_sub(1);
        while end > 0 {
            let from = end.saturating_sub(CHUNK);
            let len = usize::try_from(end - from).unwrap_or_default();
            self.read_at(from, len, &mut buffer)?;
            if let Some(found) = memchr::memrchr(b'\n', &buffer) {
                begin = from + found as u64 + 1;
                break;
            }
            end = from;
        }
        let len = usize::try_from(self.len - begin).unwrap_or(usize::MAX);
        self.read_at(begin, len, &mut buffer)?;
        Ok((begin, buffer))
    }

    /// Takes away what stands behind the first `len` bytes.
    pub(super) fn truncate(&mut self, len: u64) -> Result<(), SessionError> {
        self.file.set_len(len).map_err(|error| self.fail(error))?;
        self.len = len;
        Ok(())
    }

    /// Adds `line`, which ends with a line break. It is with the system when this returns, so it
    /// survives the end of this process. If that fails the file is as it was before.
    pub(super) fn append(&mut self, line: &[u8]) -> Result<(), SessionError> {
        let about = self.file.metadata().map_err(|error| self.fail(error))?;
        if about.nlink() == 0 {
            return Err(SessionError::Lost {
                file: self.path.clone(),
            });
        }
        if self.torn {
            self.file
                .set_len(self.len)
                .map_err(|error| self.fail(error))?;
            self.torn = false;
        } else if about.len() != self.len {
            return Err(SessionError::Changed {
                file: self.path.clone(),
            });
        }
        if let Err(source) = self.file.write_all(line) {
            self.torn = self.file.set_len(self.len).is_err();
            return Err(self.fail(source));
        }
        self.len += line.len() as u64;
        Ok(())
    }

    /// Takes the file away, unless another one has its name by now.
    pub(super) fn remove(&self) {
        let place = |about: fs::Metadata| (about.dev(), about.ino());
        let named = fs::symlink_metadata(&self.path).map(place);
        if let (Ok(named), Ok(own)) = (named, self.file.metadata().map(place))
            && named == own
        {
            // Nobody misses what cannot be taken away: nothing was said in it.
            let _ = fs::remove_file(&self.path);
        }
    }

    fn fail(&self, source: io::Error) -> SessionError {
        writing(&self.path, source)
    }
}

/// Opens a session file to read it; nothing is locked.
pub(super) fn open_to_read(path: &Path) -> Result<File, SessionError> {
    // A pipe would keep us waiting for a writer.
    let about = fs::metadata(path).map_err(|error| reading(path, error))?;
    if !about.is_file() {
        return Err(no_file(path));
    }
    File::open(path).map_err(|error| reading(path, error))
}

/// Does `create` with the first name of `<file>.<suffix>`, `<file>.<suffix>.2`, … that is free, and
/// gives the name, also of a failure.
pub(super) fn beside(
    path: &Path,
    suffix: &str,
    create: impl Fn(&Path) -> io::Result<()>,
) -> (PathBuf, io::Result<()>) {
    let mut number = 1;
    loop {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{suffix}"));
        if number > 1 {
            name.push(format!(".{number}"));
        }
        let name = PathBuf::from(name);
        match create(&name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            made => return (name, made),
        }
    }
}

/// Makes a file for its owner only with what `contents` writes; if that fails there is no file.
pub(super) fn private(
    name: &Path,
    contents: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(name)?;
    contents(&mut file).inspect_err(|_| {
        let _ = fs::remove_file(name);
    })
}

pub(super) fn reading(path: &Path, source: io::Error) -> SessionError {
    let file = path.to_owned();
    SessionError::Read { file, source }
}

pub(super) fn writing(path: &Path, source: io::Error) -> SessionError {
    let file = path.to_owned();
    SessionError::Write { file, source }
}

fn no_file(path: &Path) -> SessionError {
    SessionError::NoSession {
        file: path.to_owned(),
        reason: "it is no regular file".to_owned(),
    }
}

fn regular(file: &File, path: &Path) -> Result<fs::Metadata, SessionError> {
    let about = file.metadata().map_err(|error| reading(path, error))?;
    if about.is_file() {
        Ok(about)
    } else {
        Err(no_file(path))
    }
}

/// A file without a lasting name in the folder of `path`, with what `contents` writes.
fn written_beside(
    path: &Path,
    contents: impl FnOnce(&mut dyn Write) -> Result<(), SessionError>,
) -> Result<NamedTempFile, SessionError> {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let made = tempfile::Builder::new()
        .prefix(".session-")
        .append(true)
        .tempfile_in(folder)
        .map_err(|error| writing(path, error))?;
    let mut out = BufWriter::new(made.as_file());
    contents(&mut out)?;
    let flushed = out.into_inner().map(|_| ());
    flushed.map_err(|error| writing(path, error.into_error()))?;
    Ok(made)
}

/// How often a lock that is held is tried again, and the wait before each.
const LOCK_RETRIES: u32 = 10;
const LOCK_WAIT: Duration = Duration::from_millis(10);

/// Locks the file for this process; false where there are no locks.
///
/// A child that this or another process starts holds the lock of a closed file on until it runs its
/// program, so one that is held is tried again for a moment.
fn lock(file: &File, path: &Path) -> Result<bool, SessionError> {
    let mut retries = 0;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) if retries < LOCK_RETRIES => {
                retries += 1;
                thread::sleep(LOCK_WAIT);
            }
            Err(TryLockError::WouldBlock) => {
                return Err(SessionError::InUse {
                    file: path.to_owned(),
                    pid: holder(file),
                });
            }
            Err(TryLockError::Error(_)) => return Ok(false),
        }
    }
}

/// The process that has the lock, as far as the system tells.
pub(super) fn holder(file: &File) -> Option<u32> {
    let inode = format!(":{}", file.metadata().ok()?.ino());
    let locks = fs::read_to_string("/proc/locks").ok()?;
    let mut holders = locks.lines().filter_map(|lock| {
        let words: Vec<&str> = lock.split_ascii_whitespace().collect();
        match words[..] {
            [_, "FLOCK", _, "WRITE", pid, place, ..] if place.ends_with(&inode) => pid.parse().ok(),
            _ => None,
        }
    });
    // Two file systems may each have such an inode.
    let first = holders.next()?;
    holders.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn made(lines: &str) -> (tempfile::TempDir, LineFile) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let file = LineFile::create(&path, fill(&path, lines)).unwrap();
        (folder, file)
    }

    fn fill<'a>(
        path: &'a Path,
        lines: &'a str,
    ) -> impl FnOnce(&mut dyn Write) -> Result<(), SessionError> + 'a {
        |out| {
            out.write_all(lines.as_bytes())
                .map_err(|e| writing(path, e))
        }
    }

    fn text(file: &LineFile) -> String {
        fs::read_to_string(&file.path).unwrap()
    }

    #[test]
    fn lines_follow_each_other() {
        let (_folder, mut file) = made("a\n");
        file.append(b"b\n").unwrap();
        file.append(b"c\n").unwrap();
        assert_eq!(text(&file), "a\nb\nc\n");
        let mode = file.file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_file_that_is_there_is_not_touched() {
        let (_folder, file) = made("a\n");
        let error = LineFile::create(&file.path, fill(&file.path, "b\n")).unwrap_err();
        assert!(matches!(error, SessionError::Exists { .. }), "{error}");
        assert_eq!(text(&file), "a\n");
        let folder = fs::read_dir(file.path.parent().unwrap()).unwrap();
        assert_eq!(folder.count(), 1);
    }

    #[test]
    fn a_write_that_fails_leaves_the_file_as_it_was() {
        let (_folder, mut file) = made("a\n");
        file.file = File::open(&file.path).unwrap();
        let error = file.append(b"b\n").unwrap_err();
        assert!(matches!(error, SessionError::Write { .. }), "{error}");
        assert_eq!(text(&file), "a\n");
    }

    #[test]
    fn half_a_line_is_taken_away_before_the_next() {
        let (_folder, mut file) = made("a\n");
        file.file.write_all(b"half a line").unwrap();
        file.torn = true;
        file.append(b"b\n").unwrap();
        assert_eq!(text(&file), "a\nb\n");
    }

    #[test]
    fn a_file_that_somebody_else_touched_is_left_alone() {
        let (_folder, mut file) = made("a\n");
        fs::write(&file.path, "a\nother\n").unwrap();
        let error = file.append(b"b\n").unwrap_err();
        assert!(matches!(error, SessionError::Changed { .. }), "{error}");
        assert_eq!(text(&file), "a\nother\n");

        fs::remove_file(&file.path).unwrap();
        let error = file.append(b"b\n").unwrap_err();
        assert!(matches!(error, SessionError::Lost { .. }), "{error}");
    }

    #[test]
    fn a_file_belongs_to_one_store() {
        let (_folder, file) = made("a\n");
        let path = file.path.clone();
        let error = LineFile::open(&path).unwrap_err();
        let pid = match &error {
            SessionError::InUse { pid, .. } => *pid,
            _ => panic!("{error}"),
        };
        // Some containers show no locks.
        assert!(pid.is_none_or(|pid| pid == std::process::id()), "{error}");
        assert!(error.to_string().contains("in use"), "{error}");

        let file = file.replace(|_, out| fill(&path, "b\n")(out)).unwrap();
        assert!(matches!(
            LineFile::open(&path),
            Err(SessionError::InUse { .. })
        ));
        assert_eq!(text(&file), "b\n");
        drop(file);
        let mut file = LineFile::open(&path).unwrap();
        assert!(file.is_locked());
        file.append(b"c\n").unwrap();
        assert_eq!(text(&file), "b\nc\n");
    }

    #[test]
    fn a_lock_that_goes_at_once_is_waited_for() {
        let (_folder, file) = made("a\n");
        let path = file.path.clone();
        drop(file);
        // A second descriptor of the same lock, as a child has it before it runs its program.
        let held = File::open(&path).unwrap();
        held.try_lock().unwrap();
        let (begin, begun) = std::sync::mpsc::channel();
        let holder = thread::spawn(move || {
            begin.send(()).unwrap();
            thread::sleep(LOCK_WAIT);
            drop(held);
        });
        begun.recv().unwrap();
        assert!(LineFile::open(&path).unwrap().is_locked());
        holder.join().unwrap();
    }

    #[test]
    fn the_last_line_is_found_from_the_end() {
        let long = "x".repeat(200_000);
        for (lines, begin, last) in [
            ("a\nb\n", 2, "b\n"),
            ("a\nb", 2, "b"),
            ("a\n", 0, "a\n"),
            ("a\n\n", 2, "\n"),
            ("", 0, ""),
            (&format!("a\n{long}\n"), 2, &format!("{long}\n")),
        ] {
            let (_folder, file) = made(lines);
            let found = file.last_line().unwrap();
            assert_eq!(found, (begin, last.as_bytes().to_vec()));
        }
    }

    #[test]
    fn what_cannot_be_kept_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl.cut");
        let full = private(&path, |file| {
            file.write_all(b"half")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert_eq!(full.unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert!(!path.exists());
        private(&path, |file| file.write_all(b"first")).unwrap();
        assert!(private(&path, |file| file.write_all(b"second")).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"first");
    }

    #[test]
    fn what_is_no_file_is_no_session() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, mode, 0).unwrap();
        for error in [
            LineFile::open(&pipe).unwrap_err(),
            open_to_read(&pipe).unwrap_err(),
            open_to_read(folder.path()).unwrap_err(),
        ] {
            assert!(matches!(error, SessionError::NoSession { .. }), "{error}");
        }
        let missing = LineFile::open(&folder.path().join("no")).unwrap_err();
        assert!(matches!(missing, SessionError::Read { .. }), "{missing}");
    }
}
