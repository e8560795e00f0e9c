//! From the path a model wrote to one on this machine.

use std::fs::{File, FileType, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::{Component, Path, PathBuf};

use rustix::fs::OFlags;

use super::ToolError;

/// The absolute path that `given` means. A leading `@`, surrounding quotes and `~` are ways of
/// writing, unless something of that very name is there.
pub(super) fn resolve(cwd: &Path, given: &str) -> PathBuf {
    let literal = cwd.join(given);
    let first = Path::new(given)
        .components()
        .find(|part| !matches!(part, Component::CurDir));
    if first.is_some_and(|first| cwd.join(first).symlink_metadata().is_ok()) {
        return literal;
    }
    let mut path = given.trim();
    for quote in ['"', '\'', '`'] {
        if let Some(inner) = path
            .strip_prefix(quote)
            .and_then(|rest| rest.strip_suffix(quote))
        {
            path = inner;
        }
    }
    let path = path.strip_prefix('@').unwrap_or(path);
    if let Some(rest) = path.strip_prefix('~')
        && (rest.is_empty() || rest.starts_with('/'))
        && let Some(home) = std::env::home_dir()
    {
        return home.join(rest.trim_start_matches('/'));
    }
    cwd.join(path)
}

/// Follows symbolic links by hand, also to a target that is not there yet, so that the last
/// component of the answer is what a rename should replace.
pub(super) fn follow_links(path: &Path) -> io::Result<PathBuf> {
    const MOST_LINKS: usize = 40; // as the kernel
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match path.symlink_metadata() {
            Ok(found) if found.is_symlink() => {
                let target = path.read_link()?;
                path = path.parent().unwrap_or(Path::new("/")).join(target);
            }
            _ => return Ok(path),
        }
    }
    Err(io::Error::other("too many symbolic links (ELOOP)"))
}

/// One spelling for one file: links resolved as far as the path exists.
pub(super) fn identity(path: &Path) -> PathBuf {
    let path = follow_links(path).unwrap_or_else(|_| path.to_owned());
    let mut missing = Vec::new();
    let mut there: &Path = &path;
    loop {
        if let Ok(mut found) = there.canonicalize() {
            found.extend(missing.iter().rev());
            return found;
        }
        match (there.parent(), there.file_name()) {
            (Some(parent), Some(name)) => {
                missing.push(name.to_owned());
                there = parent;
            }
            _ => return path,
        }
    }
}

/// Refuses what is no regular file before it is opened: opening a FIFO waits, and a device may
/// never end.
pub(super) fn require_file(
    action: &'static str,
    path: &str,
    found: &Metadata,
) -> Result<(), ToolError> {
    if found.is_file() {
        return Ok(());
    }
    let kind = kind(found.file_type());
    let hint = if found.is_dir() {
        "; list it with ls"
    } else {
        ""
    };
    Err(ToolError::NotAFile {
        action,
        path: path.to_owned(),
        kind,
        hint,
    })
}

/// Opens what was a regular file a moment ago. Should the path name something else by now, the
/// opening does not wait for it, and reading what the kernel makes up does not either.
pub(super) fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    let flags = flags | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::options()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no longer a regular file"));
    }
    Ok(file)
}

/// A path or name in one line of text: bytes that are no UTF-8 are replaced, control characters
/// escaped.
pub(super) fn show(path: &Path) -> String {
    let text = path.to_string_lossy();
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

pub(super) fn kind(found: FileType) -> &'static str {
    if found.is_dir() {
        "a directory"
    } else if found.is_file() {
        "a regular file"
    } else if found.is_fifo() {
        "a named pipe"
    } else if found.is_socket() {
        "a socket"
    } else if found.is_char_device() || found.is_block_device() {
        "a device"
    } else {
        "something else"
    }
}

#[cfg(test)]
mod tests {
    use super::{identity, resolve};
    use std::os::unix::fs::symlink;
    use std::path::Path;

    #[test]
    fn spellings_of_a_path_mean_the_same_file() {
        let dir = tempfile::tempdir().unwrap();
        let cwd = dir.path();
        std::fs::create_dir(cwd.join("@types")).unwrap();
        let home = std::env::home_dir().unwrap();
        for (given, expected) in [
            ("a.txt", cwd.join("a.txt")),
            ("@a.txt", cwd.join("a.txt")),
            ("\"a b.txt\"", cwd.join("a b.txt")),
            ("'@a.txt'", cwd.join("a.txt")),
            ("~/a.txt", home.join("a.txt")),
            ("~", home.clone()),
            ("~other/a", cwd.join("~other/a")),
            ("/abs/a", "/abs/a".into()),
            ("@types/new.d.ts", cwd.join("@types/new.d.ts")),
        ] {
            assert_eq!(resolve(cwd, given), expected, "{given}");
        }
    }

    #[test]
    fn a_file_has_one_identity_whether_it_exists_or_not() {
        let dir = tempfile::tempdir().unwrap();
        let cwd = dir.path().canonicalize().unwrap();
        std::fs::create_dir(cwd.join("real")).unwrap();
        symlink("real", cwd.join("link")).unwrap();
        symlink("real/later.txt", cwd.join("dangling")).unwrap();
        let expected = cwd.join("real/later.txt");
        for path in ["link/later.txt", "real/../real/later.txt", "dangling"] {
            assert_eq!(identity(&cwd.join(path)), expected, "{path}");
        }
        assert_eq!(identity(Path::new("/no/such/x")), Path::new("/no/such/x"));
    }
}
