//! Commands that print a key.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use super::ValueError;

/// More than any key; a command that prints without end is stopped here.
const MAX_BYTES: u64 = 64 * 1024;

/// The groups of commands that are running.
static RUNNING: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

/// Kills the commands that are still running, with all that they started.
pub fn kill_commands() {
    for group in RUNNING
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .drain(..)
    {
        // It may have ended this moment.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// A command in the list of those that are running, until it is dropped.
struct Running(Option<Pid>);

impl Running {
    fn new(group: Option<Pid>) -> Self {
        RUNNING
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(group);
        Self(group)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        running.retain(|group| Some(*group) != self.0);
    }
}

/// What `command` prints in `sh`. It gets no input, its error output is dropped, and after `limit`
/// it is killed with all that it started.
pub(super) fn output(command: &str, limit: Duration) -> Result<String, ValueError> {
    let mut child = Command::new("sh")
        .arg("-c")
        .arg(command)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(|error| ValueError::Start(error.to_string()))?;
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let _running = Running::new(group);
    let (sender, receiver) = mpsc::channel();
    // A thread, because nothing else bounds a blocking read; it ends when the pipe closes.
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = child
            .stdout
            .take()
            .map(|pipe| pipe.take(MAX_BYTES).read_to_end(&mut bytes));
        let status = child.wait();
        // Nobody listens after the limit.
        let _ = sender.send((read, status, bytes));
    });
    let Ok((read, status, bytes)) = receiver.recv_timeout(limit) else {
        if let Some(group) = group {
            // It may have ended this moment.
            let _ = kill_process_group(group, Signal::KILL);
        }
        return Err(ValueError::Timeout(limit));
    };
    let status = status.map_err(|error| ValueError::Failed(error.to_string()))?;
    if !status.success() {
        return Err(ValueError::Failed(status.to_string()));
    }
    if let Some(Err(error)) = read {
        return Err(ValueError::Failed(error.to_string()));
    }
    String::from_utf8(bytes).map_err(|_| ValueError::Unusable("bytes that are not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_command_over_its_limit_is_killed_with_its_children() {
        let dir = tempfile::tempdir().unwrap();
        let pid = dir.path().join("pid");
        let command = format!("sleep 600 & echo $! > '{}'; wait", pid.display());
        // The limit is long enough for the shell to write the file on a busy machine, short enough
        // to wait for.
        let limit = Duration::from_secs(2);
        assert_eq!(output(&command, limit), Err(ValueError::Timeout(limit)));
        let pid: i32 = fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
        let gone = (0..500).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            // A killed process may stay as a zombie until its new parent reaps it.
            fs::read_to_string(format!("/proc/{pid}/stat"))
                .map_or(true, |stat| stat.contains(") Z "))
        });
        assert!(gone, "process {pid} is still there");
    }

    #[test]
    fn endless_output_is_bounded() {
        // `yes` dies of the closed pipe, so the command fails.
        assert!(matches!(
            output("exec yes", Duration::from_mins(1)),
            Err(ValueError::Failed(_))
        ));
    }
}
