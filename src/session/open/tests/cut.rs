//! A file that was cut at any byte holds what was whole.

use pretty_assertions::assert_eq;

use super::*;

#[test]
fn a_file_cut_at_any_byte_loads_with_all_that_was_whole() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = SessionStore::create(folder.path(), &header()).unwrap();
    let call = json!({"type": "toolCall", "id": "c", "name": "read", "arguments": {"path": "ä"}});
    let call = message(sample::answer(&json!([call]), "toolUse"));
    store.append_thinking_level(ThinkingLevel::Low).unwrap();
    let mut seen = vec![
        store.append_message(&user("wörter \"{}\" \\n")).unwrap(),
        store.append_message(&call).unwrap(),
        store.append_message(&user("}")).unwrap(),
    ];
    let compaction = store.append_compaction(&kept("short", &seen[1])).unwrap();
    seen.push(compaction.clone());
    let note = message(sample::custom("n"));
    seen.push(store.append_message(&note).unwrap());
    let path = store.path().unwrap().to_owned();
    drop(store);
    let whole = fs::read(&path).unwrap();
    let ends: Vec<usize> = memchr::memchr_iter(b'\n', &whole).collect();

    for cut in 0..=whole.len() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        fs::write(&path, &whole[..cut]).unwrap();
        let lines = ends.iter().filter(|end| **end <= cut).count();
        let opened = SessionStore::open(&path);
        if lines == 0 {
            let error = opened.unwrap_err();
            assert!(matches!(error, SessionError::NoSession { .. }), "{error}");
            assert_eq!(fs::read(&path).unwrap(), &whole[..cut]);
            assert_eq!(names(&folder), ["s.jsonl"]);
            continue;
        }
        let mut resumed = opened.unwrap();
        // The header and the thinking level are no messages.
        let mut expected = seen[..lines.saturating_sub(2)].to_vec();
        if expected.len() >= 4 {
            expected.remove(3);
            expected[0].clone_from(&compaction);
        }
        assert_eq!(ids(&resumed), expected, "cut at {cut}");
        let end = ends[lines - 1] + 1;
        let beside = cut > end;
        assert_eq!(resumed.warnings.len(), usize::from(beside), "{cut}");
        assert_eq!(fs::read(&path).unwrap(), &whole[..end], "cut at {cut}");
        if beside {
            let half = fs::read(folder.path().join("s.jsonl.cut")).unwrap();
            assert_eq!(half, &whole[end..cut]);
        }
        assert_eq!(names(&folder).len(), 1 + usize::from(beside));

        let last = resumed.store.append_message(&user("on")).unwrap();
        drop(resumed);
        expected.push(last);
        let again = SessionStore::open(&path).unwrap();
        assert_eq!(ids(&again), expected, "cut at {cut}");
        assert_eq!(again.warnings, Vec::<String>::new());
    }
}
