//! Where session files are and what they are called.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::file::{holder, reading};
use super::store::usable;
use super::{SessionError, read_header, works_in};
use crate::event::StoredSessionHeader;

/// Longest name of a folder on common file systems, in bytes.
const LONGEST_NAME: usize = 255;

/// The folder below `sessions` for the project in `cwd`: `--home-me-project--` for
/// `/home/me/project`. Nothing is created.
#[must_use]
pub fn project_folder(sessions: &Path, cwd: &Path) -> PathBuf {
    let cwd = cwd.to_string_lossy();
    let name = cwd
        .strip_prefix('/')
        .unwrap_or(&cwd)
        .replace(['/', '\\', ':'], "-");
    let whole = format!("--{name}--");
    if whole.len() <= LONGEST_NAME {
        return sessions.join(whole);
    }
    // A file system would refuse the whole name. Its end says more than its beginning.
    let hash = format!("{:016x}", fnv(cwd.as_bytes()));
    let mut from = whole.len() - (LONGEST_NAME - "--".len() - hash.len() - "-".len());
    while !whole.is_char_boundary(from) {
        from += 1;
    }
    sessions.join(format!("--{hash}-{}", &whole[from..]))
}

/// The name of the file of a session that was made at `timestamp` (ISO 8601) with this id.
#[must_use]
pub fn file_name(timestamp: &str, id: &str) -> String {
    format!("{}_{id}.jsonl", timestamp.replace([':', '.'], "-"))
}

/// The right to make the file of a session in a folder, where no two of a project may have one id. No
/// other process has it as long as this lives, where the file system knows locks.
#[derive(Debug)]
pub struct Reserved {
    /// Holds the lock.
    _folder: Option<File>,
}

/// Waits for the right to make a session of this header in `folder`, which is made if it is not there.
///
/// Of the files that are there those with the id in their name are read; whoever looks for a session of
/// other files does so before.
///
/// # Errors
/// [`SessionError::Folder`] if the folder cannot be used; [`SessionError::InUse`] if it has a session of
/// this id and project by now.
pub fn reserve(folder: &Path, header: &StoredSessionHeader) -> Result<Reserved, SessionError> {
    usable(folder)?;
    let locked = File::open(folder).and_then(|folder| folder.lock().map(|()| folder));
    let reserved = Reserved {
        _folder: locked.ok(),
    };
    for entry in fs::read_dir(folder).map_err(|error| reading(folder, error))? {
        let path = entry.map_err(|error| reading(folder, error))?.path();
        if id_in_name(&path) == Some(&*header.id)
            && let Ok(other) = read_header(&path)
            && other.id == header.id
            && works_in(&other, Path::new(&header.cwd))
        {
            return Err(SessionError::InUse {
                pid: File::open(&path).ok().and_then(|file| holder(&file)),
                file: path,
            });
        }
    }
    Ok(reserved)
}

/// The id in the name that [`file_name`] gives.
fn id_in_name(path: &Path) -> Option<&str> {
    let (_, id) = path.file_name()?.to_str()?.split_once('_')?;
    id.strip_suffix(".jsonl")
}

/// FNV-1a: the same in every build, unlike the standard library's hash.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::SessionStore;
    use crate::session::testing::header;

    #[test]
    fn a_folder_is_named_after_the_project() {
        for (cwd, name) in [
            ("/home/me/project", "--home-me-project--"),
            ("/", "----"),
            ("/a:b/c\\d", "--a-b-c-d--"),
            ("/ä/ö", "--ä-ö--"),
        ] {
            assert_eq!(
                project_folder(Path::new("/s"), Path::new(cwd)),
                Path::new("/s").join(name)
            );
        }
    }

    #[test]
    fn a_name_that_is_too_long_is_cut_and_stays_unique() {
        let names: Vec<String> = ["x", "y"]
            .map(|first| format!("/{first}/{}end", "ä/".repeat(200)))
            .iter()
            .map(|cwd| {
                let folder = project_folder(Path::new("/s"), Path::new(cwd));
                folder.file_name().unwrap().to_str().unwrap().to_owned()
            })
            .collect();
        for name in &names {
            assert!(name.len() <= LONGEST_NAME && name.len() > 200, "{name}");
            assert!(
                name.starts_with("--") && name.ends_with("-ä-end--"),
                "{name}"
            );
        }
        assert_ne!(names[0], names[1]);
        let fits = format!("/{}", "a".repeat(LONGEST_NAME - 4));
        let folder = project_folder(Path::new("/s"), Path::new(&fits));
        assert_eq!(folder, Path::new("/s").join(format!("--{}--", &fits[1..])));
    }

    #[test]
    fn an_id_is_reserved_once() {
        let folder = tempfile::tempdir().unwrap();
        let of = |id: &str, cwd: &str, timestamp: &str| StoredSessionHeader {
            id: id.to_owned(),
            cwd: cwd.to_owned(),
            timestamp: timestamp.to_owned(),
            ..header()
        };
        let made = |header: &StoredSessionHeader| {
            let _reserved = reserve(folder.path(), header)?;
            let mut store = SessionStore::create(folder.path(), header)?;
            store.make().map(|()| store)
        };
        let store = made(&of("a", "/p", "2")).unwrap();
        let error = made(&of("a", "/p", "1")).unwrap_err();
        assert!(matches!(error, SessionError::InUse { .. }), "{error}");
        let file = store.path().unwrap().display().to_string();
        assert!(error.to_string().contains(&file), "{error}");
        // Another id, another project.
        let others = [made(&of("b_a", "/p", "1")), made(&of("a", "/q", "1"))];
        assert!(others.iter().all(Result::is_ok), "{others:?}");
    }

    #[test]
    fn who_reserves_waits_for_the_other() {
        let folder = tempfile::tempdir().unwrap();
        let header = header();
        let reserved = reserve(folder.path(), &header).unwrap();
        let other = File::open(folder.path()).unwrap();
        assert!(other.try_lock().is_err());
        drop(reserved);
        other.try_lock().unwrap();
    }

    #[test]
    fn a_file_is_named_after_time_and_id() {
        assert_eq!(
            file_name("2026-08-22T18:12:18.123Z", "01997f3c-6a00"),
            "2026-08-22T18-12-18-123Z_01997f3c-6a00.jsonl"
        );
    }
}
