//! Walking a tree for `grep` and `find`: several threads, and an answer that does not depend on
//! which of them was faster.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use ignore::{DirEntry, WalkBuilder, WalkState};
use tokio_util::sync::CancellationToken;

use super::{ToolError, path};

/// How long one call may search.
const TIME: Duration = Duration::from_mins(1);

/// More threads than this only fight over the disk.
const MOST_THREADS: usize = 8;

/// What a search is pointed at.
#[derive(Debug)]
pub(super) enum Target {
    /// A regular file.
    File(PathBuf),
    /// A folder with all that is below it.
    Tree(Tree),
}

/// A folder to walk.
#[derive(Debug)]
pub(super) struct Tree {
    root: PathBuf,
    /// What comes before a relative path so that the model can hand it to other tools.
    shown: PathBuf,
}

impl Target {
    /// Finds out what `given` names; `action` is a verb for the error.
    pub(super) fn find(action: &'static str, cwd: &Path, given: &str) -> Result<Self, ToolError> {
        let io = |error| ToolError::io(action, given)(error);
        let path = path::resolve(cwd, given);
        let found = path.metadata().map_err(io)?;
        if !found.is_dir() {
            path::require_file(action, given, &found)?;
            return Ok(Self::File(path));
        }
        // One spelling, for the rules of ignore files are matched against it.
        let root = path.canonicalize().map_err(io)?;
        // The walk only counts what it cannot read; of the folder itself that must be an error.
        fs::read_dir(&root).map_err(io)?;
        let cwd = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
        let shown = root
            .strip_prefix(&cwd)
            .map_or_else(|_| root.clone(), Path::to_owned);
        Ok(Self::Tree(Tree { root, shown }))
    }
}

impl Tree {
    /// The folder, absolute.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The path of something in the tree as the model gets it.
    pub(super) fn show(&self, relative: &Path) -> String {
        path::show(&self.shown.join(relative))
    }

    /// Calls a visitor for everything in the tree that no ignore file excludes, hidden files
    /// included, `.git` and what is behind symbolic links excluded. Parts that cannot come before
    /// the end of `front` are left out. Each thread gets its own visitor, which is given the path
    /// relative to the folder. The answer is how many things could not be read.
    pub(super) fn walk<T: Weight + Send, V>(
        &self,
        stop: &Stop,
        front: &Front<T>,
        visitor: impl Fn() -> V,
    ) -> u64
    where
        V: FnMut(&Path, &DirEntry) + Send,
    {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let unreadable = AtomicU64::new(0);
        WalkBuilder::new(&self.root)
            .hidden(false)
            .require_git(false)
            .threads(threads.min(MOST_THREADS))
            .filter_entry(|entry| entry.depth() == 0 || entry.file_name() != ".git")
            .build_parallel()
            .run(|| {
                let mut visit = visitor();
                let unreadable = &unreadable;
                Box::new(move |entry| {
                    if stop.now() {
                        return WalkState::Quit;
                    }
                    let entry = match entry {
                        Ok(entry) if entry.depth() > 0 => entry,
                        Ok(_) => return WalkState::Continue,
                        Err(error) => {
                            let gone = |error: &std::io::Error| {
                                error.kind() == std::io::ErrorKind::NotFound
                            };
                            if !error.io_error().is_some_and(gone) {
                                unreadable.fetch_add(1, Ordering::Relaxed);
                            }
                            return WalkState::Continue;
                        }
                    };
                    let Ok(relative) = entry.path().strip_prefix(&self.root) else {
                        return WalkState::Continue;
                    };
                    if front.is_behind(relative) {
                        return WalkState::Skip;
                    }
                    visit(relative, &entry);
                    WalkState::Continue
                })
            });
        unreadable.into_inner()
    }
}

/// When a search is to end before it is done.
#[derive(Debug)]
pub(super) struct Stop {
    cancel: CancellationToken,
    deadline: Instant,
    late: AtomicBool,
}

impl Stop {
    /// Stops when `cancel` says so or the time for one call is over.
    pub(super) fn new(cancel: CancellationToken) -> Self {
        Self::after(cancel, TIME)
    }

    pub(super) fn after(cancel: CancellationToken, time: Duration) -> Self {
        Self {
            cancel,
            deadline: Instant::now() + time,
            late: AtomicBool::new(false),
        }
    }

    /// Whether to stop now.
    pub(super) fn now(&self) -> bool {
        if self.cancel.is_cancelled() || self.late.load(Ordering::Relaxed) {
            return true;
        }
        let late = Instant::now() >= self.deadline;
        if late {
            self.late.store(true, Ordering::Relaxed);
        }
        late
    }

    /// Fails after an abort; else a note if the time was over before the search.
    pub(super) fn outcome(&self) -> Result<Option<String>, ToolError> {
        if self.cancel.is_cancelled() {
            return Err(ToolError::Aborted);
        }
        let late = self.late.load(Ordering::Relaxed);
        Ok(late.then(|| {
            let time = TIME.as_secs();
            format!("Stopped after {time} s: this is not everything; search a smaller folder")
        }))
    }
}

/// How much of a [`Front`] something fills.
pub(super) trait Weight {
    /// Things that the model asked for.
    fn count(&self) -> usize;
    /// Bytes of memory, about.
    fn bytes(&self) -> usize;
}

impl Weight for &'static str {
    fn count(&self) -> usize {
        1
    }

    fn bytes(&self) -> usize {
        self.len()
    }
}

/// The first finds in the order of their paths, up to just over a count or a number of bytes.
/// Finds come in any order; what is kept in the end does not depend on it.
#[derive(Debug)]
pub(super) struct Front<T> {
    most: usize,
    most_bytes: usize,
    full: AtomicBool,
    kept: Mutex<Kept<T>>,
}

#[derive(Debug)]
struct Kept<T> {
    finds: BTreeMap<PathBuf, T>,
    count: usize,
    bytes: usize,
}

impl<T: Weight> Front<T> {
    /// Keeps finds until they count more than `most` or hold more than `most_bytes`.
    pub(super) fn new(most: usize, most_bytes: usize) -> Self {
        let kept = Kept {
            finds: BTreeMap::new(),
            count: 0,
            bytes: 0,
        };
        Self {
            most,
            most_bytes,
            full: AtomicBool::new(false),
            kept: Mutex::new(kept),
        }
    }

    /// Whether finds at this path, or below it, would not be kept.
    fn is_behind(&self, path: &Path) -> bool {
        if !self.full.load(Ordering::Relaxed) {
            return false;
        }
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let last = kept.finds.last_key_value();
        last.is_some_and(|(last, _)| path > last.as_path())
    }

    /// Takes what was found at `path`.
    pub(super) fn take(&self, path: &Path, find: T) {
        let mut guard = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = &mut *guard;
        let weigh = |path: &Path, find: &T| path.as_os_str().len() + find.bytes();
        kept.count += find.count();
        kept.bytes += weigh(path, &find);
        kept.finds.insert(path.to_owned(), find);
        while let Some(last) = kept.finds.last_entry() {
            let count = kept.count - last.get().count();
            let bytes = kept.bytes - weigh(last.key(), last.get());
            if count <= self.most && bytes <= self.most_bytes {
                break;
            }
            last.remove();
            (kept.count, kept.bytes) = (count, bytes);
        }
        if kept.count > self.most || kept.bytes > self.most_bytes {
            self.full.store(true, Ordering::Relaxed);
        }
    }

    /// What was kept, in order.
    pub(super) fn into_finds(self) -> impl Iterator<Item = (PathBuf, T)> {
        let kept = self.kept.into_inner();
        kept.unwrap_or_else(PoisonError::into_inner)
            .finds
            .into_iter()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use tokio_util::sync::CancellationToken;

    use super::{Front, Stop, Weight};

    impl Weight for (usize, usize) {
        fn count(&self) -> usize {
            self.0
        }

        fn bytes(&self) -> usize {
            self.1
        }
    }

    fn kept(front: Front<(usize, usize)>) -> Vec<String> {
        let paths = front.into_finds();
        paths.map(|(path, _)| path.display().to_string()).collect()
    }

    #[test]
    fn the_front_is_the_same_for_every_order() {
        let finds = [
            ("a/x", 1),
            ("a.txt", 2),
            ("b", 1),
            ("b/c", 3),
            ("d", 1),
            ("e", 1),
        ];
        for most in 0..10 {
            let in_order = Front::new(most, 1000);
            let reversed = Front::new(most, 1000);
            let mixed = Front::new(most, 1000);
            for (path, count) in finds {
                in_order.take(Path::new(path), (count, 0));
            }
            for (path, count) in finds.into_iter().rev() {
                reversed.take(Path::new(path), (count, 0));
            }
            for at in [3, 0, 5, 1, 4, 2] {
                let (path, count) = finds[at];
                mixed.take(Path::new(path), (count, 0));
            }
            let expected = kept(in_order);
            assert_eq!(kept(reversed), expected, "{most}");
            assert_eq!(kept(mixed), expected, "{most}");
            // The smallest part from the start that counts more than `most`, or all.
            let mut sum = 0;
            let part = finds.iter().take_while(|(_, count)| {
                let more = sum <= most;
                sum += count;
                more
            });
            let part: Vec<_> = part.map(|(path, _)| *path).collect();
            assert_eq!(expected, part, "{most}");
        }
    }

    #[test]
    fn the_front_is_bounded_by_bytes_and_knows_what_is_behind_it() {
        let front = Front::new(100, 10);
        front.take(Path::new("m"), (1, 8));
        assert!(!front.is_behind(Path::new("z")));
        front.take(Path::new("n"), (1, 8));
        assert!(front.is_behind(Path::new("z")));
        assert!(!front.is_behind(Path::new("n")));
        front.take(Path::new("a"), (1, 8));
        assert!(front.is_behind(Path::new("n")));
        assert!(!front.is_behind(Path::new("a/b")));
        assert_eq!(kept(front), ["a", "m"]);
    }

    #[test]
    fn a_search_ends_with_its_time() {
        let stop = Stop::after(CancellationToken::new(), Duration::ZERO);
        assert!(stop.now());
        let note = stop.outcome().unwrap().unwrap();
        assert!(note.starts_with("Stopped after 60 s"), "{note}");
        let stop = Stop::new(CancellationToken::new());
        assert!(!stop.now());
        assert_eq!(stop.outcome().unwrap(), None);
        stop.cancel.cancel();
        assert!(stop.now());
        assert!(stop.outcome().is_err());
    }
}
