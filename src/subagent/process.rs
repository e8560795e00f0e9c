//! What makes the processes of an agent known, and their end when the agent cannot see to it itself.

/// The variable that tells a process, and everything that it starts, of which agent it is: the id,
/// behind those of the agents above it, with slashes between them.
pub const AGENT_VARIABLE: &str = "QUIPU_AGENT";

/// The variable with the [`Handover`](super::Handover) of a child. It is kept from the child's tools.
pub const KEY_VARIABLE: &str = "QUIPU_AGENT_KEY";

/// Kills what is left of an agent that could not end its own processes.
///
/// Its commands have process groups of their own, so they are told by their environment. Only Linux
/// shows it; elsewhere such commands are left.
pub(super) fn sweep(path: &str) {
    /// A process may be started while others are looked at.
    const ROUNDS: usize = 5;
    for _ in 0..ROUNDS {
        if !sweep_once(path) {
            break;
        }
    }
}

#[cfg(target_os = "linux")]
fn sweep_once(path: &str) -> bool {
    use rustix::process::{Pid, Signal, kill_process};

    let own = format!("{AGENT_VARIABLE}={path}").into_bytes();
    let is_ours = |variable: &[u8]| {
        variable
            .strip_prefix(own.as_slice())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    };
    let mut found = false;
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        // Those of other users cannot be read and are none of ours.
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        if environment.split(|byte| *byte == 0).any(is_ours)
            && let Some(pid) = Pid::from_raw(pid)
        {
            found |= kill_process(pid, Signal::KILL).is_ok();
        }
    }
    found
}

#[cfg(not(target_os = "linux"))]
fn sweep_once(_path: &str) -> bool {
    false
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;

    fn sleeper(path: &str) -> Child {
        let mut command = Command::new("sleep");
        command.arg("600").env(AGENT_VARIABLE, path);
        command.spawn().unwrap()
    }

    #[test]
    fn only_the_agent_and_those_below_it_are_swept() {
        let unique = uuid::Uuid::new_v4().simple().to_string();
        let other = format!("{unique}x");
        let below = format!("{unique}/0a");
        let mut swept = [sleeper(&unique), sleeper(&below)];
        let mut left = sleeper(&other);
        sweep(&unique);
        for child in &mut swept {
            assert!(!child.wait().unwrap().success());
        }
        assert_eq!(left.try_wait().unwrap(), None);
        left.kill().unwrap();
        left.wait().unwrap();
    }
}
