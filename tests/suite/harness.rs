//! Runs the binary in a world of its own: an empty home, a clean environment, a bounded time.

use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::rc::Rc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

use crate::check::{self, Stream};
use crate::wire_check;

/// How long a run may take before it counts as hung.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A temporary folder with a home, a configuration folder, a working and a temporary directory.
pub(crate) struct World {
    root: PathBuf,
    keep: Rc<tempfile::TempDir>,
}

impl World {
    pub(crate) fn new() -> Self {
        let keep = tempfile::Builder::new()
            .prefix("quipu-suite-")
            .tempdir()
            .unwrap();
        let root = keep.path().canonicalize().unwrap();
        for name in ["home", "config", "project", "tmp"] {
            std::fs::create_dir(root.join(name)).unwrap();
        }
        let world = Self {
            root,
            keep: Rc::new(keep),
        };
        // One failure is one failure; what retries do is shown where they are turned on.
        world.config("settings.json", r#"{ "retry": { "enabled": false } }"#);
        world
    }

    /// The working directory of the runs.
    pub(crate) fn work(&self) -> PathBuf {
        self.root.join("project")
    }

    /// The temporary directory of the runs.
    pub(crate) fn tmp(&self) -> PathBuf {
        self.root.join("tmp")
    }

    /// The folder that holds everything of this world.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Writes a file of the working directory.
    pub(crate) fn file(&self, name: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.work().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    /// Writes a file of the configuration folder.
    pub(crate) fn config(&self, name: &str, text: impl AsRef<[u8]>) -> &Self {
        std::fs::write(self.root.join("config").join(name), text).unwrap();
        self
    }

    /// Reads a file of the working directory.
    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.work().join(name)).unwrap()
    }

    /// The binary in JSON mode.
    pub(crate) fn quipu(&self) -> Quipu {
        self.bare().args(["--mode", "json"])
    }

    /// The binary without arguments.
    pub(crate) fn bare(&self) -> Quipu {
        let mut command = Command::new(env!("CARGO_BIN_EXE_quipu"));
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.root.join("home"))
            .env("QUIPU_HOME", self.root.join("config"))
            .env("TMPDIR", self.tmp())
            .current_dir(self.work());
        Quipu {
            command,
            input: Input::Nothing,
            world: Rc::clone(&self.keep),
        }
    }

    /// The binary in JSON mode with the offline model that plays a scenario of these steps.
    pub(crate) fn offline(&self, steps: &Value) -> Quipu {
        let scenario = serde_json::json!({ "name": "test", "steps": steps });
        self.script(&scenario.to_string())
    }

    /// The same with the bytes of the scenario file as given.
    pub(crate) fn script(&self, text: &str) -> Quipu {
        let path = self.root.join("scenario.json");
        std::fs::write(&path, text).unwrap();
        self.quipu()
            .args(["--model", "offline"])
            .arg("--script")
            .arg(path)
    }
}

enum Input {
    Nothing,
    Bytes(Vec<u8>),
    Open,
}

/// A run to be started.
pub(crate) struct Quipu {
    command: Command,
    input: Input,
    /// The world lasts as long as the run.
    pub(crate) world: Rc<tempfile::TempDir>,
}

impl Quipu {
    pub(crate) fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.command.arg(arg.into());
        self
    }

    pub(crate) fn args<'a>(mut self, args: impl IntoIterator<Item = &'a str>) -> Self {
        self.command.args(args);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.command.env(name, value.into());
        self
    }

    /// Starts in this directory.
    pub(crate) fn in_directory(mut self, directory: &Path) -> Self {
        self.command.current_dir(directory);
        self
    }

    /// Starts in a directory that does not exist any more.
    pub(crate) fn in_deleted_directory(self) -> Self {
        self.through(r#"mkdir gone && cd gone && rmdir ../gone && exec "$0" "$@""#)
    }

    /// Starts without standard output.
    pub(crate) fn without_stdout(self) -> Self {
        self.through(r#"exec "$0" "$@" >&-"#)
    }

    /// Starts where no file can have more than `kib` KiB: what goes beyond is not written.
    pub(crate) fn with_small_files(self, kib: u32) -> Self {
        let blocks = kib * 2;
        self.through(&format!(
            r#"trap "" XFSZ && ulimit -f {blocks} && exec "$0" "$@""#
        ))
    }

    /// Starts with at most this much memory for data, in KiB.
    pub(crate) fn with_memory(self, kib: u32) -> Self {
        self.through(&format!(r#"ulimit -d {kib} && exec "$0" "$@""#))
    }

    /// Starts as somebody who has to keep to the rights of files, which the superuser does not.
    pub(crate) fn without_privileges(self) -> Self {
        if rustix::process::geteuid().is_root() {
            self.through(r#"exec setpriv --bounding-set=-all "$0" "$@""#)
        } else {
            self
        }
    }

    /// Starts by way of a shell.
    fn through(mut self, script: &str) -> Self {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", script])
            .arg(self.command.get_program())
            .args(self.command.get_args());
        shell
            .env_clear()
            .current_dir(self.command.get_current_dir().unwrap());
        shell.envs(
            self.command
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        self.command = shell;
        self
    }

    /// Gives these bytes, then the end, on standard input.
    pub(crate) fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = Input::Bytes(bytes.into());
        self
    }

    /// Leaves standard input open and silent.
    pub(crate) fn open_input(mut self) -> Self {
        self.input = Input::Open;
        self
    }

    /// Runs to the end with an eager reader.
    pub(crate) fn run(mut self) -> Run {
        let mut child = self.start(Stdio::piped());
        let mut out = child.stdout.take().unwrap();
        let (sender, stdout) = mpsc::channel();
        thread::spawn(move || {
            let mut bytes = Vec::new();
            out.read_to_end(&mut bytes).unwrap();
            sender.send(bytes)
        });
        let (status, stderr) = finish(child);
        let stdout = stdout
            .recv_timeout(PATIENCE)
            .expect("something still holds standard output");
        Run::new(status, stdout, stderr)
    }

    /// Runs to the end with standard output going elsewhere.
    pub(crate) fn run_into(mut self, stdout: Stdio) -> Run {
        let (status, stderr) = finish(self.start(stdout));
        Run::new(status, Vec::new(), stderr)
    }

    /// Starts the process as the leader of a process group of its own.
    pub(crate) fn start(&mut self, stdout: Stdio) -> Child {
        let stdin = if matches!(self.input, Input::Nothing) {
            Stdio::null()
        } else {
            Stdio::piped()
        };
        self.command
            .stdin(stdin)
            .stdout(stdout)
            .stderr(Stdio::piped())
            .process_group(0);
        let mut child = self.command.spawn().unwrap();
        if let Input::Bytes(bytes) = std::mem::replace(&mut self.input, Input::Nothing) {
            let mut pipe = child.stdin.take().unwrap();
            // A run that never reads its input is one of the cases.
            thread::spawn(move || drop(pipe.write_all(&bytes)));
        }
        child
    }
}

/// Waits for the end of a child whose standard output is somebody else's business.
pub(crate) fn finish(mut child: Child) -> (ExitStatus, String) {
    let pid = Pid::from_child(&child);
    let mut errors = child.stderr.take().unwrap();
    // `Child::wait` closes standard input, which has to stay open for some.
    let input = child.stdin.take();
    let (sender, ended) = mpsc::channel();
    let stderr = thread::spawn(move || {
        let mut bytes = Vec::new();
        errors.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    });
    thread::spawn(move || sender.send(child.wait()));
    match ended.recv_timeout(PATIENCE) {
        Ok(status) => {
            drop(input);
            (status.unwrap(), stderr.join().unwrap())
        }
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
            let _ = kill_process_group(pid, Signal::KILL);
            panic!(
                "still running after {PATIENCE:?}; stderr: {}",
                stderr.join().unwrap()
            );
        }
    }
}

/// What a finished run left behind.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
    pub(crate) status: ExitStatus,
}

impl Run {
    pub(crate) fn new(status: ExitStatus, stdout: Vec<u8>, stderr: String) -> Self {
        for sign in ["panicked at", "breaks its own order", "cannot be written"] {
            assert!(!stderr.contains(sign), "{stderr}");
        }
        Self {
            stdout,
            stderr,
            status,
        }
    }

    /// The exit status; fails if a signal killed the process.
    pub(crate) fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| {
            panic!(
                "killed by signal {:?}; stderr: {}",
                self.status.signal(),
                self.stderr
            )
        })
    }

    /// The stream after all witnesses have judged it, the exit status included.
    pub(crate) fn stream(&self) -> Stream {
        let stream = check::check(&self.stdout).unwrap_or_else(|findings| {
            let shown = String::from_utf8_lossy(&self.stdout);
            let shown: Vec<String> = shown
                .lines()
                .map(|line| line.chars().take(300).collect())
                .take(200)
                .collect();
            panic!(
                "the stream is not sound:\n{}\n\nstderr: {}\n\n{}",
                findings.join("\n"),
                self.stderr,
                shown.join("\n")
            )
        });
        let told = stream.end()["exitCode"].as_i64();
        assert_eq!(
            told,
            Some(i64::from(self.code())),
            "exitCode differs from the exit status"
        );
        wire_check::assert_projections(&stream.lines, self.stdout.len());
        stream
    }
}
