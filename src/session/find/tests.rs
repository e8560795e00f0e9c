use std::time::Duration;

use super::*;

const CWD: &str = "/p/here";

/// A folder of folders with session files: id, folder, directory, age in seconds.
fn kept(sessions: &[(&str, &str, &str, u64)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (number, (id, folder, cwd, age)) in sessions.iter().enumerate() {
        let folder = root.path().join(folder);
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join(format!("2026-01-01_{number}.jsonl"));
        let header = format!(
            r#"{{"type":"session","version":3,"id":"{id}","timestamp":"2026-01-01T00:00:00.000Z","cwd":"{cwd}"}}"#
        );
        fs::write(&path, header + "\n").unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 - age);
        let file = fs::File::options().append(true).open(&path).unwrap();
        file.set_modified(time).unwrap();
    }
    root
}

fn with<T>(root: &tempfile::TempDir, look: impl FnOnce(Places<'_>) -> T) -> T {
    look(Places {
        folder: &root.path().join("here"),
        all: root.path(),
        cwd: Path::new(CWD),
    })
}

fn ids(found: Result<Vec<Found>, FindError>) -> Vec<String> {
    found
        .unwrap()
        .into_iter()
        .map(|found| found.header.id)
        .collect()
}

#[test]
fn the_latest_of_this_project_comes_first() {
    let root = kept(&[
        ("old", "here", CWD, 20),
        ("new", "here", CWD, 10),
        ("foreign", "here", "/p/other", 5),
        ("other", "there", "/p/other", 0),
    ]);
    fs::write(root.path().join("here/z.jsonl"), "no header\n").unwrap();
    fs::write(root.path().join("here/notes.txt"), "").unwrap();
    fs::create_dir(root.path().join("here/folder.jsonl")).unwrap();
    with(&root, |places| {
        assert_eq!(ids(places.here()), ["new", "old"]);
        assert_eq!(ids(places.everywhere()), ["other", "foreign", "new", "old"]);
        assert_eq!(places.latest().unwrap().unwrap().header.id, "new");
    });
}

#[test]
fn of_one_time_the_later_name_comes_first() {
    let root = kept(&[("a", "here", CWD, 0), ("b", "here", CWD, 0)]);
    assert_eq!(with(&root, |places| ids(places.here())), ["b", "a"]);
}

#[test]
fn a_folder_that_is_not_there_holds_nothing() {
    let root = tempfile::tempdir().unwrap();
    with(&root, |places| {
        assert_eq!(places.latest().unwrap(), None);
        assert_eq!(ids(places.everywhere()), Vec::<String>::new());
    });
    fs::write(root.path().join("here"), "").unwrap();
    let error = with(&root, |places| places.latest().unwrap_err());
    assert_eq!(error.code(), ErrorCode::Session, "{error}");
}

#[test]
fn an_id_is_looked_for_here_then_everywhere_exact_then_begun() {
    let root = kept(&[
        ("abc1", "here", CWD, 0),
        ("abc", "here", CWD, 0),
        ("abd", "here", CWD, 0),
        ("abc2", "there", "/p/other", 0),
        ("x1", "there", "/p/other", 0),
    ]);
    let find = |given: &str| with(&root, |places| places.by_id(given));
    assert_eq!(find("abc").unwrap().header.id, "abc", "exactly so");
    assert_eq!(find("abd").unwrap().header.id, "abd");
    assert_eq!(find("abc1").unwrap().header.id, "abc1");
    assert_eq!(
        find("abc2").unwrap().header.id,
        "abc2",
        "of another project"
    );
    assert_eq!(find("x").unwrap().header.id, "x1");
    let unknown = find("y").unwrap_err();
    assert!(matches!(unknown, FindError::Unknown { .. }), "{unknown}");
    let several = find("ab").unwrap_err().to_string();
    for part in [
        "\"ab\"",
        "\n  abc1  1970-01-12T13:46:40Z",
        "\n  abd  ",
        "_2.jsonl",
    ] {
        assert!(several.contains(part), "{part} is not in {several}");
    }
    assert!(!several.contains("abc2"), "{several}");
    with(&root, |places| {
        assert_eq!(places.of_id("ab").unwrap(), None);
        assert_eq!(places.of_id("x1").unwrap(), None);
        assert_eq!(places.of_id("abd").unwrap().unwrap().header.id, "abd");
    });
}

#[test]
fn two_files_with_one_id_are_told_apart_by_their_paths() {
    let root = kept(&[("a", "here", CWD, 0), ("a", "here", CWD, 0)]);
    let error = with(&root, |places| places.of_id("a").unwrap_err().to_string());
    assert!(
        error.contains("_0.jsonl") && error.contains("_1.jsonl"),
        "{error}"
    );
}

#[test]
fn a_long_list_is_cut() {
    let ids: Vec<String> = (0..13).map(|number| format!("a{number}")).collect();
    let sessions: Vec<_> = ids.iter().map(|id| (id.as_str(), "here", CWD, 0)).collect();
    let root = kept(&sessions);
    let error = with(&root, |places| places.by_id("a").unwrap_err().to_string());
    assert_eq!(error.matches(".jsonl").count(), SHOWN, "{error}");
    assert!(error.ends_with("and 3 more"), "{error}");
}

#[test]
fn a_path_is_told_from_an_id() {
    for path in ["a/b", "./a", "a.jsonl", "/a"] {
        assert!(is_path(Path::new(path)), "{path}");
    }
    for id in ["a", "0199-7c31", "a.b_c"] {
        assert!(!is_path(Path::new(id)), "{id}");
    }
}
