//! The file with the full output of a command, for what a result has no room for.

use std::io;
use std::path::PathBuf;

use tempfile::TempPath;
use tokio::fs::File;
use tokio::io::AsyncWriteExt as _;

use super::limit::size;

/// Raw bytes held back before a file is made even though the text is within the limits (an output
/// of nothing but escapes).
const MOST_HELD: usize = 256 * 1024;

/// The most that a file takes.
const MOST_KEPT: u64 = 256 << 20;

/// Holds a small output in memory and a larger one in a file, which goes away again unless
/// [`Spool::keep`] is called.
pub(super) struct Spool {
    dir: PathBuf,
    most: u64,
    held: Vec<u8>,
    file: Option<(File, TempPath)>,
    written: u64,
    failure: Option<io::Error>,
}

impl Spool {
    pub(super) fn new(dir: PathBuf) -> Self {
        Self {
            dir,
            most: MOST_KEPT,
            held: Vec::new(),
            file: None,
            written: 0,
            failure: None,
        }
    }

    /// Takes the next raw bytes; `needed` once a result cannot hold the output. A failure to write
    /// only costs the file: it is told by [`Spool::note`].
    pub(super) async fn push(&mut self, bytes: &[u8], needed: bool) {
        if self.failure.is_some() {
            return;
        }
        let result = if self.file.is_some() {
            self.write(bytes).await
        } else {
            self.held.extend_from_slice(bytes);
            if !needed && self.held.len() <= MOST_HELD {
                return;
            }
            self.open().await
        };
        if let Err(error) = result {
            self.failure = Some(error);
            self.file = None;
            self.held = Vec::new();
        }
    }

    async fn open(&mut self) -> io::Result<()> {
        let dir = self.dir.clone();
        let made = tokio::task::spawn_blocking(move || {
            std::fs::create_dir_all(&dir)?;
            // Only the owner may read it: tempfile's default mode is 0600.
            tempfile::Builder::new()
                .prefix("quipu-bash-")
                .suffix(".log")
                .tempfile_in(&dir)
        });
        let (file, path) = made.await??.into_parts();
        self.file = Some((File::from_std(file), path));
        let held = std::mem::take(&mut self.held);
        self.write(&held).await
    }

    async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some((file, _)) = &mut self.file else {
            return Ok(());
        };
        let room = usize::try_from(self.most.saturating_sub(self.written)).unwrap_or(usize::MAX);
        let fits = &bytes[..bytes.len().min(room)];
        file.write_all(fits).await?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    /// Where the file is, if there is one.
    pub(super) fn path(&self) -> Option<String> {
        self.file
            .as_ref()
            .map(|(_, path)| path.to_string_lossy().into_owned())
    }

    /// Where the full output is, for the model.
    pub(super) fn note(&self) -> String {
        match (self.path(), &self.failure) {
            (Some(path), _) if self.written > self.most => {
                format!("The first {} of the output: {path}", size(self.most))
            }
            (Some(path), _) => format!("Full output: {path}"),
            (None, Some(error)) => format!("The full output could not be kept: {error}"),
            (None, None) => String::new(),
        }
    }

    /// Makes sure that all is written and that the file stays.
    pub(super) async fn keep(&mut self) {
        let flushed = match &mut self.file {
            Some((file, _)) => file.flush().await,
            None => return,
        };
        match (flushed, &mut self.file) {
            (Ok(()), Some((_, path))) => path.disable_cleanup(true),
            (flushed, file) => {
                *file = None;
                self.failure = flushed.err();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::Spool;

    #[tokio::test]
    async fn a_file_appears_only_when_it_is_needed() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("out");
        let mut spool = Spool::new(out.clone());
        spool.push(b"one ", false).await;
        assert!(!out.exists());
        spool.push(b"two ", true).await;
        spool.push(b"three", true).await;
        spool.keep().await;
        let path = spool.path().unwrap();
        assert_eq!(spool.note(), format!("Full output: {path}"));
        drop(spool);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one two three");
        assert_eq!(
            std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
    }

    #[tokio::test]
    async fn a_file_that_nobody_keeps_goes_away() {
        let dir = tempfile::tempdir().unwrap();
        let mut spool = Spool::new(dir.path().into());
        spool.push(b"text", true).await;
        assert_eq!(dir.path().read_dir().unwrap().count(), 1);
        drop(spool);
        assert_eq!(dir.path().read_dir().unwrap().count(), 0);
    }

    #[tokio::test]
    async fn a_file_has_a_bound_and_says_so() {
        let dir = tempfile::tempdir().unwrap();
        let mut spool = Spool {
            most: 1024,
            ..Spool::new(dir.path().into())
        };
        for _ in 0..3 {
            spool.push(&[b'x'; 1000], true).await;
        }
        spool.keep().await;
        let path = spool.path().unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 1024);
        assert_eq!(
            spool.note(),
            format!("The first 1.0KB of the output: {path}")
        );
    }

    #[tokio::test]
    async fn a_folder_that_cannot_be_written_costs_only_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "").unwrap();
        let mut spool = Spool::new(file);
        spool.push(b"text", true).await;
        spool.push(b"text", true).await;
        spool.keep().await;
        assert_eq!(spool.path(), None);
        assert!(
            spool
                .note()
                .starts_with("The full output could not be kept: ")
        );
    }
}
