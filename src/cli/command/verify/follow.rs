//! A file that still grows.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, Read};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use rustix::fs::OFlags;

/// How often a file is looked at for more.
const POLL: Duration = Duration::from_millis(50);

/// A reader that waits at the end for more, until the user ends it or the file is gone.
pub(super) struct Follow<R> {
    from: R,
    wait: Option<Wait>,
}

/// What is waited for.
struct Wait {
    path: PathBuf,
    /// Device and inode of a file of the disk: another one at its path is another stream.
    file: Option<(u64, u64)>,
    /// How many bytes were read.
    read: u64,
    ended: Arc<AtomicBool>,
}

impl Wait {
    /// Whether more may come.
    fn goes_on(&self) -> io::Result<bool> {
        if self.ended.load(Ordering::Relaxed) {
            return Ok(false);
        }
        let Some(file) = self.file else {
            return Ok(true);
        };
        match fs::metadata(&self.path) {
            Ok(now) if (now.dev(), now.ino()) != file => Ok(false),
            Ok(now) if now.len() < self.read => {
                let (left, read) = (now.len(), self.read);
                let what =
                    format!("it was cut to {left} bytes after {read} were read; verify it anew");
                Err(io::Error::other(what))
            }
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Set by Ctrl-C or SIGTERM.
static ENDED: LazyLock<Arc<AtomicBool>> = LazyLock::new(|| {
    let ended = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&ended);
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        if let Ok(runtime) = runtime {
            runtime.block_on(async {
                use tokio::signal::unix::{SignalKind, signal};
                let mut stop = signal(SignalKind::terminate()).ok();
                let terminated = async {
                    match &mut stop {
                        Some(stop) => stop.recv().await,
                        None => std::future::pending().await,
                    }
                };
                tokio::select! {
                    _ = tokio::signal::ctrl_c() => {}
                    _ = terminated => {}
                }
            });
            told.store(true, Ordering::Relaxed);
        }
    });
    ended
});

impl<R> Follow<R> {
    /// `path`: that of the file, if its end is not the end of the stream.
    pub(super) fn new(from: R, path: Option<&Path>) -> Self {
        let wait = path.map(|path| {
            let file = fs::metadata(path).ok().filter(fs::Metadata::is_file);
            Wait {
                path: path.to_owned(),
                file: file.map(|file| (file.dev(), file.ino())),
                read: 0,
                ended: Arc::clone(&ENDED),
            }
        });
        Self { from, wait }
    }

    pub(super) fn is_live(&self) -> bool {
        self.wait.is_some()
    }
}

/// Whether nothing is there to be read now: at the end, or in a pipe that is still written to.
fn is_dry(part: io::Result<&[u8]>) -> io::Result<bool> {
    match part {
        Ok(part) => Ok(part.is_empty()),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(true),
        Err(error) => Err(error),
    }
}

/// Opens a file that is followed so that neither this nor a read waits for a writer: a signal has to
/// end the waiting.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    Ok(file)
}

impl<R: BufRead> Read for Follow<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let part = self.fill_buf()?;
        let taken = part.len().min(into.len());
        into[..taken].copy_from_slice(&part[..taken]);
        self.consume(taken);
        Ok(taken)
    }
}

impl<R: BufRead> BufRead for Follow<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if let Some(wait) = &self.wait {
            // What was written before the file was gone is read after it.
            let mut more = true;
            while is_dry(self.from.fill_buf())? && more {
                more = wait.goes_on()?;
                if more {
                    std::thread::sleep(POLL);
                }
            }
        }
        match self.from.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(&[]),
            part => part,
        }
    }

    fn consume(&mut self, taken: usize) {
        self.from.consume(taken);
        if let Some(wait) = &mut self.wait {
            wait.read += taken as u64;
        }
    }
}
