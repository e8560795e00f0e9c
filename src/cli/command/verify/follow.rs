//! A file that still grows.

use std::io::{self, BufRead, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// How often a file is looked at for more.
const POLL: Duration = Duration::from_millis(50);

/// A reader that waits at the end for more, until the user ends it.
pub(super) struct Follow<R> {
    from: R,
    ended: Option<Arc<AtomicBool>>,
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
    /// `wait`: whether the end of the file is not the end of the stream.
    pub(super) fn new(from: R, wait: bool) -> Self {
        let ended = wait.then(|| Arc::clone(&ENDED));
        Self { from, ended }
    }

    pub(super) fn is_live(&self) -> bool {
        self.ended.is_some()
    }
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
        if let Some(ended) = &self.ended {
            while self.from.fill_buf()?.is_empty() && !ended.load(Ordering::Relaxed) {
                std::thread::sleep(POLL);
            }
        }
        self.from.fill_buf()
    }

    fn consume(&mut self, taken: usize) {
        self.from.consume(taken);
    }
}
