//! A run that is read while it goes on.

use std::io::Read as _;
use std::process::{Child, ChildStdout, Stdio};
use std::rc::Rc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;

use crate::harness::{PATIENCE, Quipu, Run, finish};

/// A process whose standard output is taken piece by piece.
pub(crate) struct Live {
    child: Child,
    stdout: ChildStdout,
    seen: Vec<u8>,
    /// How much of `seen` was given out as lines.
    told: usize,
    _watchdog: Sender<()>,
    _world: Rc<tempfile::TempDir>,
}

impl Quipu {
    /// Starts a run that the test reads.
    pub(crate) fn live(mut self) -> Live {
        let mut child = self.start(Stdio::piped());
        let stdout = child.stdout.take().unwrap();
        let pid = Pid::from_child(&child);
        let (watchdog, disarmed) = mpsc::channel();
        thread::spawn(move || {
            // A read that never returns cannot be given up in the thread that waits for it.
            if disarmed.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                let _ = kill_process_group(pid, Signal::KILL);
            }
        });
        Live {
            child,
            stdout,
            seen: Vec::new(),
            told: 0,
            _watchdog: watchdog,
            _world: self.world,
        }
    }
}

impl Live {
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Takes up to so many bytes; whether there were any.
    pub(crate) fn take(&mut self, count: usize) -> bool {
        let mut piece = vec![0; count];
        let count = self.stdout.read(&mut piece).unwrap();
        self.seen.extend_from_slice(&piece[..count]);
        count > 0
    }

    /// The next line.
    pub(crate) fn line(&mut self) -> Option<Value> {
        loop {
            if let Some(length) = self.seen[self.told..]
                .iter()
                .position(|byte| *byte == b'\n')
            {
                let line = &self.seen[self.told..self.told + length];
                self.told += length + 1;
                return Some(serde_json::from_slice(line).unwrap());
            }
            if !self.take(1 << 16) {
                return None;
            }
        }
    }

    /// Reads on to a line of this type, or to a delta of this type.
    pub(crate) fn until(&mut self, kind: &str) -> Value {
        self.until_line(|line| {
            line["type"] == kind || line["assistantMessageEvent"]["type"] == kind
        })
    }

    /// Reads on to a line for which this holds.
    pub(crate) fn until_line(&mut self, holds: impl Fn(&Value) -> bool) -> Value {
        while let Some(line) = self.line() {
            if holds(&line) {
                return line;
            }
        }
        panic!(
            "the stream ended first:\n{}",
            String::from_utf8_lossy(&self.seen)
        )
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// Gives the process some input, with more to come.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        std::io::Write::write_all(self.child.stdin.as_mut().unwrap(), bytes).unwrap();
    }

    /// Gives the process its input and the end of it.
    pub(crate) fn input(&mut self, bytes: &[u8]) {
        std::io::Write::write_all(&mut self.child.stdin.take().unwrap(), bytes).unwrap();
    }

    /// Reads to the end.
    pub(crate) fn end(mut self) -> Run {
        while self.take(1 << 16) {}
        let (status, stderr) = finish(self.child);
        Run::new(status, self.seen, stderr)
    }

    /// Goes away without reading on.
    pub(crate) fn hang_up(self) -> Run {
        drop(self.stdout);
        let (status, stderr) = finish(self.child);
        Run::new(status, self.seen, stderr)
    }

    /// Waits for the end without reading on.
    pub(crate) fn stare(self) -> Run {
        let (status, stderr) = finish(self.child);
        Run::new(status, self.seen, stderr)
    }
}

/// Fails unless all of these processes are gone soon.
pub(crate) fn assert_gone(pids: &[String]) {
    let began = Instant::now();
    while pids.iter().any(|pid| alive(pid)) {
        assert!(began.elapsed() < PATIENCE, "still alive: {pids:?}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Fails unless all processes that were started in a world are gone soon; only Linux tells.
pub(crate) fn assert_nobody_left(world: &crate::harness::World) {
    let mark = format!("QUIPU_HOME={}", world.root().join("config").display());
    let left = || -> Vec<String> {
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let of_world = entries.filter(|entry| {
            let environ = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            environ
                .split(|byte| *byte == 0)
                .any(|variable| variable == mark.as_bytes())
        });
        of_world
            .map(|entry| {
                let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
                String::from_utf8_lossy(&line).replace('\0', " ")
            })
            .collect()
    };
    let began = Instant::now();
    loop {
        let left = left();
        if left.is_empty() {
            return;
        }
        assert!(began.elapsed() < PATIENCE, "still alive: {left:#?}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// The most memory that a running process has had, in KiB; only Linux tells.
pub(crate) fn peak(pid: Pid) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero())).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Whether a process runs; one that only waits to be collected does not.
pub(crate) fn alive(pid: &str) -> bool {
    let shown = std::process::Command::new("ps")
        .args(["-o", "stat=", "-p", pid])
        .output()
        .unwrap();
    let state = String::from_utf8_lossy(&shown.stdout);
    let state = state.trim();
    !state.is_empty() && !state.starts_with('Z')
}
