//! The signals that end a run.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGHUP, SIGINT and SIGTERM, caught from construction on.
pub(super) struct Signals {
    hangup: Signal,
    interrupt: Signal,
    terminate: Signal,
    /// Caught so that a file over its size limit is an error of the write and not the end.
    _file_size: Signal,
}

/// `SIGXFSZ`, for which tokio has no name.
const FILE_SIZE: i32 = rustix::process::Signal::XFSZ.as_raw();

/// A caught signal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Caught {
    /// Such as `SIGTERM`.
    pub(super) name: &'static str,
    /// 128 plus the signal's number.
    pub(super) exit_code: u8,
}

impl Signals {
    /// Installs the handlers.
    pub(super) fn install() -> std::io::Result<Self> {
        Ok(Self {
            hangup: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            _file_size: signal(SignalKind::from_raw(FILE_SIZE))?,
        })
    }

    /// Waits for the next one.
    pub(super) async fn next(&mut self) -> Caught {
        tokio::select! {
            _ = self.hangup.recv() => Caught { name: "SIGHUP", exit_code: 129 },
            _ = self.interrupt.recv() => Caught { name: "SIGINT", exit_code: 130 },
            _ = self.terminate.recv() => Caught { name: "SIGTERM", exit_code: 143 },
        }
    }
}
