//! Instruction files: what users and projects want every run to know.

use std::fmt::Write as _;
use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::Paths;

/// The most of one file that is used, in bytes; more would crowd out the task itself.
const LIMIT: usize = 64 * 1024;

/// Their names; the second counts where the first is missing.
const NAMES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

/// One instruction file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionFile {
    /// Its absolute path.
    pub path: PathBuf,
    /// Its text without a byte order mark, at most 64 KiB; a longer one ends with a note.
    pub text: String,
}

/// What the instruction files of a run give.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instructions {
    /// The files, the most general first.
    pub files: Vec<InstructionFile>,
    /// What the user should hear, one text a file.
    pub warnings: Vec<String>,
}

impl Instructions {
    /// The user's file in Quipu's own folder, then that of every folder from the root of the file
    /// system down to `cwd`. In each folder `AGENTS.md` counts, or `CLAUDE.md` where there is none.
    /// A file that several of these paths lead to comes once, at the first; one without text not at
    /// all. One that cannot be read is a warning.
    #[must_use]
    pub fn load(paths: &Paths, cwd: &Path) -> Self {
        let mut found = Self::default();
        let mut seen = Vec::new();
        let mut folders: Vec<&Path> = cwd.ancestors().collect();
        folders.push(paths.root());
        for folder in folders.into_iter().rev() {
            for name in NAMES {
                let path = folder.join(name);
                match read(&path, &mut seen) {
                    Ok(text) if text.trim().is_empty() => {}
                    Ok(text) => found.files.push(InstructionFile { path, text }),
                    Err(error) if is_missing(&error) => continue,
                    Err(error) => found.warnings.push(format!(
                        "{}: ignored, the instructions cannot be read: {error}",
                        path.display()
                    )),
                }
                break;
            }
        }
        found
    }

    /// The files as a section of a system prompt; `None` if there are none.
    #[must_use]
    pub fn section(&self) -> Option<String> {
        if self.files.is_empty() {
            return None;
        }
        let mut section = String::from(
            "Instructions from the user and the project follow. Where they disagree, the later ones \
             hold.\n",
        );
        for file in &self.files {
            let (path, text) = (file.path.display(), file.text.trim());
            let _ = write!(
                section,
                "\n<instructions path=\"{path}\">\n{text}\n</instructions>\n"
            );
        }
        Some(section)
    }
}

/// Whether there is no such file, rather than one that cannot be read. A link that leads nowhere is
/// there.
fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// The text of a file; empty if it is one of `seen`, to which it is added.
fn read(path: &Path, seen: &mut Vec<(u64, u64)>) -> io::Result<String> {
    require_file(&path.metadata()?)?;
    // The path may name a pipe by now; the flag keeps its opening from waiting.
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    let about = file.metadata()?;
    require_file(&about)?;
    let identity = (about.dev(), about.ino());
    if seen.contains(&identity) {
        return Ok(String::new());
    }
    seen.push(identity);

    let mut bytes = Vec::new();
    file.take(LIMIT as u64 + 1).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    // The limit lies before what stands for a character that was cut.
    let kept = &text[..text.floor_char_boundary(LIMIT)];
    let mut kept = kept.strip_prefix('\u{feff}').unwrap_or(kept).to_owned();
    if bytes.len() > LIMIT {
        let _ = write!(
            kept,
            "\n[Cut: only the first {} KiB of {} KiB are here. Read the rest from the file if it may \
             matter.]",
            LIMIT / 1024,
            about.len().div_ceil(1024)
        );
    }
    Ok(kept)
}

fn require_file(about: &Metadata) -> io::Result<()> {
    if about.is_file() {
        Ok(())
    } else if about.is_dir() {
        Err(io::ErrorKind::IsADirectory.into())
    } else {
        Err(io::Error::other("it is not a regular file"))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use pretty_assertions::assert_eq;

    use super::*;
    use crate::config::Environment;

    struct Tree(tempfile::TempDir);

    impl Tree {
        fn new(files: &[(&str, &str)]) -> Self {
            let tree = Self(tempfile::tempdir().unwrap());
            for folder in ["home", "p/q/r"] {
                fs::create_dir_all(tree.path(folder)).unwrap();
            }
            for (path, text) in files {
                fs::write(tree.path(path), text).unwrap();
            }
            tree
        }

        fn path(&self, path: &str) -> PathBuf {
            self.0.path().join(path)
        }

        fn load(&self) -> Instructions {
            let home = self.path("home");
            let environment: Environment = [("QUIPU_HOME", home.to_str().unwrap())]
                .into_iter()
                .collect();
            let paths = Paths::from_environment(&environment).unwrap();
            let mut found = Instructions::load(&paths, &self.path("p/q/r"));
            // What lies above the temporary folder is the machine's.
            let inside = |path: &Path| path.starts_with(self.0.path());
            found.files.retain(|file| inside(&file.path));
            found
        }

        /// Path and text of what is found.
        fn texts(&self) -> Vec<(String, String)> {
            let found = self.load();
            assert_eq!(found.warnings, Vec::<String>::new());
            let below = |path: &Path| path.strip_prefix(self.0.path()).unwrap().to_owned();
            found
                .files
                .iter()
                .map(|file| (below(&file.path).display().to_string(), file.text.clone()))
                .collect()
        }
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs
            .iter()
            .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
            .collect()
    }

    #[test]
    fn the_nearest_comes_last() {
        let tree = Tree::new(&[
            ("p/q/r/AGENTS.md", "nearest"),
            ("p/AGENTS.md", "far"),
            ("home/AGENTS.md", "user"),
        ]);
        assert_eq!(
            tree.texts(),
            pairs(&[
                ("home/AGENTS.md", "user"),
                ("p/AGENTS.md", "far"),
                ("p/q/r/AGENTS.md", "nearest"),
            ])
        );
        let section = tree.load().section().unwrap();
        let far = tree.path("p/AGENTS.md");
        assert!(section.contains(&format!(
            "<instructions path=\"{}\">\nfar\n</instructions>",
            far.display()
        )));
        assert!(section.find("far") < section.find("nearest"));
    }

    #[test]
    fn the_other_name_counts_only_where_the_first_is_missing() {
        let tree = Tree::new(&[
            ("p/AGENTS.md", "agents"),
            ("p/CLAUDE.md", "not this"),
            ("p/q/CLAUDE.md", "claude"),
            ("home/CLAUDE.md", "user"),
            ("p/q/r/AGENTS.md", " \n"),
            ("p/q/r/CLAUDE.md", "not this either"),
        ]);
        assert_eq!(
            tree.texts(),
            pairs(&[
                ("home/CLAUDE.md", "user"),
                ("p/AGENTS.md", "agents"),
                ("p/q/CLAUDE.md", "claude"),
            ])
        );
    }

    #[test]
    fn one_file_comes_once() {
        let tree = Tree::new(&[("p/AGENTS.md", "once")]);
        symlink("../AGENTS.md", tree.path("p/q/AGENTS.md")).unwrap();
        fs::hard_link(tree.path("p/AGENTS.md"), tree.path("p/q/r/CLAUDE.md")).unwrap();
        assert_eq!(tree.texts(), pairs(&[("p/AGENTS.md", "once")]));
    }

    #[test]
    fn what_cannot_be_read_is_a_warning() {
        let tree = Tree::new(&[("p/q/r/AGENTS.md", "read")]);
        fs::create_dir(tree.path("p/AGENTS.md")).unwrap();
        let fifo = tree.path("p/q/AGENTS.md");
        let made = std::process::Command::new("mkfifo").arg(&fifo).status();
        assert!(made.unwrap().success());
        let found = tree.load();
        assert_eq!(found.files.len(), 1);
        assert_eq!(found.warnings.len(), 2, "{:?}", found.warnings);
        for (warning, path) in found.warnings.iter().zip(["p/AGENTS.md", "p/q/AGENTS.md"]) {
            let path = tree.path(path).display().to_string();
            assert!(
                warning.starts_with(&format!("{path}: ignored")),
                "{warning}"
            );
        }
    }

    #[test]
    fn a_long_file_is_cut_between_characters() {
        let text = format!("\u{feff}{}", "ä".repeat(LIMIT));
        let tree = Tree::new(&[("p/AGENTS.md", &text)]);
        let text = &tree.load().files[0].text;
        let (kept, note) = text.split_once('\n').unwrap();
        assert_eq!(kept, "ä".repeat((LIMIT - 3) / 2));
        assert_eq!(
            note,
            "[Cut: only the first 64 KiB of 129 KiB are here. Read the rest from the file if it may \
             matter.]"
        );
    }

    #[test]
    fn nothing_is_no_section() {
        assert_eq!(Instructions::default().section(), None);
    }
}
