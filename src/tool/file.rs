//! Replacing files whole, one call at a time.

use std::collections::HashMap;
use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use tokio::sync::OwnedMutexGuard;

use super::{ToolContext, ToolError, blocking, path};

/// The file that `shown` names, once no other call of this process works on it. The guard is held
/// until the file is written, so that calls in one turn do not undo each other.
pub(super) async fn claim(
    ctx: &ToolContext,
    shown: &str,
) -> Result<(PathBuf, OwnedMutexGuard<()>), ToolError> {
    let (cwd, given) = (ctx.cwd.clone(), shown.to_owned());
    let (target, identity) = blocking(move || {
        let target = path::resolve(&cwd, &given);
        let identity = path::identity(&target);
        Ok((target, identity))
    })
    .await?;
    tokio::select! {
        guard = lock(identity) => Ok((target, guard)),
        () = ctx.cancel.cancelled() => Err(ToolError::Aborted),
    }
}

async fn lock(identity: PathBuf) -> OwnedMutexGuard<()> {
    type Locks = HashMap<PathBuf, Weak<tokio::sync::Mutex<()>>>;
    static LOCKS: LazyLock<Mutex<Locks>> = LazyLock::new(Mutex::default);
    let lock = {
        let mut locks = LOCKS.lock().unwrap_or_else(PoisonError::into_inner);
        locks.retain(|_, lock| lock.strong_count() > 0);
        let known = locks.get(&identity).and_then(Weak::upgrade);
        let lock = known.unwrap_or_default();
        locks.insert(identity, Arc::downgrade(&lock));
        lock
    };
    lock.lock_owned().await
}

/// Puts `bytes` in the place of the file, which keeps its mode, owner and links; a reader sees the
/// old or the new text. Where the folder does not allow that (no right to make files, a mount
/// point, several hard links, another owner) the file itself is written over.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = path::follow_links(path)?;
    let old = match path.metadata() {
        Ok(old) => {
            // The rename needs no right to the file itself, but who has none shall not change it.
            File::options().write(true).open(&path)?;
            Some(old)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    if old.as_ref().is_some_and(|old| old.nlink() > 1) {
        return fs::write(&path, bytes);
    }
    match swap(&path, old.as_ref(), bytes) {
        Err(error) if old.is_some() && error.kind() != io::ErrorKind::StorageFull => {
            fs::write(&path, bytes)
        }
        result => result,
    }
}

/// Writes a new file beside the old one and renames it.
fn swap(path: &Path, old: Option<&Metadata>, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidFilename)?;
    let mut new = tempfile::Builder::new()
        .prefix(".quipu-")
        .permissions(Permissions::from_mode(0o666)) // less the umask, as for any new file
        .tempfile_in(folder)?;
    new.write_all(bytes)?;
    if let Some(old) = old {
        let made = new.as_file().metadata()?;
        if (made.uid(), made.gid()) != (old.uid(), old.gid()) {
            std::os::unix::fs::fchown(new.as_file(), Some(old.uid()), Some(old.gid()))?;
        }
        new.as_file().set_permissions(old.permissions())?;
    }
    // Without this a crash soon after the rename may leave an empty file.
    new.as_file().sync_all()?;
    new.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

    use super::replace;

    #[test]
    fn mode_and_links_stay() {
        let dir = tempfile::tempdir().unwrap();
        let [file, link, other, dangling] =
            ["file", "link", "other", "dangling"].map(|name| dir.path().join(name));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o751)).unwrap();
        symlink("file", &link).unwrap();
        let inode = fs::metadata(&file).unwrap().ino();
        replace(&link, b"new").unwrap();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        let now = fs::metadata(&file).unwrap();
        assert_eq!(now.mode() & 0o7777, 0o751);
        assert_ne!(
            now.ino(),
            inode,
            "a reader of the old file keeps the old text"
        );

        fs::hard_link(&file, &other).unwrap();
        replace(&file, b"both").unwrap();
        assert_eq!(fs::read(&other).unwrap(), b"both");

        symlink("new", &dangling).unwrap();
        replace(&dangling, b"through").unwrap();
        assert_eq!(fs::read(dir.path().join("new")).unwrap(), b"through");
        let names = dir.path().read_dir().unwrap().count();
        assert_eq!(names, 5, "no temporary file is left");
    }

    #[test]
    fn a_new_file_has_the_usual_mode() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("usual"), "").unwrap();
        replace(&dir.path().join("new"), b"text").unwrap();
        let mode = |name: &str| fs::metadata(dir.path().join(name)).unwrap().mode();
        assert_eq!(mode("new"), mode("usual"));
    }
}
