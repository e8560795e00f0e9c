//! The process groups of commands, and their end.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{
    Pid, Signal, kill_process_group, test_kill_process, test_kill_process_group,
};

/// How long a group may take to end after SIGTERM before it gets SIGKILL.
pub(super) const GRACE: Duration = Duration::from_millis(200);

/// The process groups that commands have started and that may still have members: those of running
/// commands, and those that a command left in the background. Clones share one list.
#[derive(Clone, Debug, Default)]
pub struct ProcessGroups(Arc<Mutex<Vec<Entry>>>);

#[derive(Clone, Copy, Debug)]
struct Entry {
    pid: Pid,
    /// The first process of the group was waited for, so its number may be given to another.
    reaped: bool,
}

impl Entry {
    /// A group keeps its number as long as it has a member. If a process has that number after the
    /// first one was waited for, the number was given away and our group is gone.
    fn is_ours(self) -> bool {
        !self.reaped || test_kill_process(self.pid).is_err()
    }

    fn is_alive(self) -> bool {
        self.is_ours() && test_kill_process_group(self.pid).is_ok()
    }

    fn signal(self, signal: Signal) {
        if self.is_ours() {
            // It fails only if there is nobody left to get it.
            let _ = kill_process_group(self.pid, signal);
        }
    }

    fn ask_to_end(self) {
        self.signal(Signal::TERM);
        self.signal(Signal::CONT); // a stopped process takes no other signal
    }
}

impl ProcessGroups {
    /// Ends every group: SIGTERM, and SIGKILL for what is left after 200 ms.
    pub async fn kill_all(&self) {
        const STEP: Duration = Duration::from_millis(10);
        let groups = self.take();
        for group in &groups {
            group.ask_to_end();
        }
        let mut waited = Duration::ZERO;
        while waited < GRACE && groups.iter().any(|group| group.is_alive()) {
            tokio::time::sleep(STEP).await;
            waited += STEP;
        }
        for group in &groups {
            group.signal(Signal::KILL);
        }
    }

    /// Ends every group at once with SIGKILL; for paths that cannot wait, such as a panic.
    pub fn kill_now(&self) {
        for group in self.take() {
            group.signal(Signal::KILL);
        }
    }

    /// Whether any group still has a member.
    #[must_use]
    pub fn any_alive(&self) -> bool {
        self.list().iter().any(|group| group.is_alive())
    }

    /// Takes in the group of a child just started.
    pub(crate) fn add(&self, pid: Pid) -> Group {
        let mut list = self.list();
        list.retain(|group| !group.reaped || group.is_alive());
        let entry = Entry { pid, reaped: false };
        list.push(entry);
        Group {
            entry,
            groups: self.clone(),
            killed: false,
            settled: false,
        }
    }

    fn take(&self) -> Vec<Entry> {
        // Running commands stay listed: their owners take them off, and need them until then.
        let mut list = self.list();
        let all = list.clone();
        list.retain(|group| !group.reaped);
        all
    }

    fn list(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The group of one command. Dropping it before [`Group::settle`] kills all its members.
pub(crate) struct Group {
    entry: Entry,
    groups: ProcessGroups,
    killed: bool,
    settled: bool,
}

impl Group {
    pub(crate) fn ask_to_end(&self) {
        self.entry.ask_to_end();
    }

    pub(crate) fn kill(&mut self) {
        self.entry.signal(Signal::KILL);
        self.killed = true;
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.entry.is_alive()
    }

    /// The first process was waited for.
    pub(crate) fn reaped(&mut self) {
        self.entry.reaped = true;
        for entry in self
            .groups
            .list()
            .iter_mut()
            .filter(|entry| entry.pid == self.entry.pid)
        {
            entry.reaped = true;
        }
    }

    /// The command is over; members it left in the background live on until the agent ends.
    pub(crate) fn settle(mut self) {
        self.settled = true;
        if self.killed || !self.is_alive() {
            self.leave();
        }
    }

    fn leave(&self) {
        self.groups
            .list()
            .retain(|entry| entry.pid != self.entry.pid);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.settled {
            self.kill();
            self.leave();
        }
    }
}
