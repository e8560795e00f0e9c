//! Where session files are and what they are called.

use std::path::{Path, PathBuf};

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

/// FNV-1a: the same in every build, unlike the standard library's hash.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_file_is_named_after_time_and_id() {
        assert_eq!(
            file_name("2026-08-22T18:12:18.123Z", "01997f3c-6a00"),
            "2026-08-22T18-12-18-123Z_01997f3c-6a00.jsonl"
        );
    }
}
