//! A file of whole lines: what cannot be written whole is not written.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::SessionError;

/// A session file that this process writes.
#[derive(Debug)]
pub(super) struct LineFile {
    path: PathBuf,
    file: File,
    /// Bytes of whole lines.
    len: u64,
    /// Half a line stands behind them and could not be taken away.
    torn: bool,
}

impl LineFile {
    /// Makes the file, which must not be there yet, with `lines` in it. It is for its owner only:
    /// conversations hold what people and files told. If that fails there is no file.
    pub(super) fn create(path: &Path, lines: &[u8]) -> Result<Self, SessionError> {
        let fail = |source| SessionError::Write {
            file: path.to_owned(),
            source,
        };
        let mut file = File::options()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)
            .map_err(fail)?;
        if let Err(source) = file.write_all(lines) {
            // Ours, made just now; if it cannot be removed there is nothing better to do.
            let _ = fs::remove_file(path);
            return Err(fail(source));
        }
        Ok(Self {
            path: path.to_owned(),
            file,
            len: lines.len() as u64,
            torn: false,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
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
        if let Err(source) = self.file.write_all_at(line, self.len) {
            self.torn = self.file.set_len(self.len).is_err();
            return Err(self.fail(source));
        }
        self.len += line.len() as u64;
        Ok(())
    }

    fn fail(&self, source: io::Error) -> SessionError {
        SessionError::Write {
            file: self.path.clone(),
            source,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn made(lines: &str) -> (tempfile::TempDir, LineFile) {
        let folder = tempfile::tempdir().unwrap();
        let file = LineFile::create(&folder.path().join("s.jsonl"), lines.as_bytes()).unwrap();
        (folder, file)
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
        let error = LineFile::create(&file.path, b"b\n").unwrap_err();
        assert!(matches!(error, SessionError::Write { .. }), "{error}");
        assert_eq!(text(&file), "a\n");
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
}
