//! Whatever stands in a file, reading it as a session ends in a session or in an error.

use pretty_assertions::assert_eq;

use super::*;

/// How many changed seeds are tried.
const CASES: usize = 1000;

/// Bytes that mean something to a parser.
const MARKS: &[u8] = b"\n\"{}[]\\,:\0\xff\xc30eu-";

/// Reads `data` as a session file in every way, and goes on with it.
fn load(data: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    fs::write(&path, data).unwrap();
    let header = read_header(&path);
    for line in crate::session::entries(&path).unwrap() {
        line.unwrap();
    }
    let mut resumed = match SessionStore::open(&path) {
        Ok(resumed) => resumed,
        Err(error) => {
            assert!(matches!(error, SessionError::NoSession { .. }), "{error}");
            assert_eq!(fs::read(&path).unwrap(), data);
            assert_eq!(names(&folder), ["s.jsonl"]);
            return;
        }
    };
    assert_eq!(resumed.header, header.unwrap());
    // What the model is given is also shown as the way to the end.
    let shown: Vec<_> = crate::session::entries(&path)
        .unwrap()
        .map(Result::unwrap)
        .filter(|line| line.on_path)
        .filter_map(|line| line.entry.get("id")?.as_str().map(str::to_owned))
        .collect();
    for id in ids(&resumed) {
        assert!(shown.iter().any(|shown| shown == id), "{id}");
    }
    let copy = SessionStore::fork(&path, folder.path(), &header_of(1)).unwrap();
    assert_eq!(copy.context, resumed.context);
    assert_eq!(
        (copy.model, copy.thinking, copy.name.clone()),
        (
            resumed.model.clone(),
            resumed.thinking,
            resumed.name.clone()
        )
    );
    let id = resumed.store.append_message(&user("on")).unwrap();
    let mut expected = resumed.context;
    expected.push(ContextEntry {
        id,
        message: user("on"),
    });
    drop(resumed.store);
    let again = SessionStore::open(&path).unwrap();
    assert_eq!(again.context, expected);
    assert_eq!(
        (again.model, again.thinking, again.name),
        (resumed.model, resumed.thinking, resumed.name)
    );
}

fn seeds() -> Vec<Vec<u8>> {
    let first = first_line();
    let old = first.replace("\"version\":3,", "");
    let summary = r#"{"type":"compaction","id":"c","parentId":"b","timestamp":"","summary":"s","firstKeptEntryId":"b","tokensBefore":1}"#;
    let reply = json!({
        "type": "message", "id": "b", "parentId": "a", "timestamp": "2026-01-01T00:00:00.000Z",
        "message": sample::answer(&json!([{"type": "text", "text": "hi"}]), "stop"),
    })
    .to_string();
    [
        String::new(),
        first.clone(),
        format!("{first}\n{}\n{reply}\n{summary}\n", said("a", "x", "one")),
        format!(
            "{first}\n{}\n{}\n",
            said("a", "a", "self"),
            said("a", "a", "twice")
        ),
        format!(
            "{first}\n{}\n{}\n",
            said("a", "b", "circle"),
            said("b", "a", "circle")
        ),
        format!(
            "{first}\n{}\n",
            said("a", "", r"half \ud83d").replace("\\\\", "\\")
        ),
        format!("{first}\n{}{}\n", "[".repeat(300), "]".repeat(300)),
        format!("{first}\n{{\"type\":\"x\",\"id\":\"a\",\"v\":1e400}}\n"),
        format!(
            "{first}\n{}\n",
            summary.replace(":1}", ":1e300}").replace("\"b\"", "\"c\"")
        ),
        format!(
            "{old}\n{}\n{summary}",
            said("a", "", "v1").replace("user", "hookMessage")
        ),
        format!("\u{feff}{first}\r\n\r\n"),
        "null\n\0\0\0".to_owned(),
    ]
    .map(String::into_bytes)
    .to_vec()
}

/// Numbers without rhyme, the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % end.max(1)
    }
}

fn changed(seeds: &[Vec<u8>], dice: &mut Dice) -> Vec<u8> {
    let mut data = seeds[dice.below(seeds.len())].clone();
    for _ in 0..=dice.below(4) {
        let at = dice.below(data.len() + 1);
        let to = (at + dice.below(40)).min(data.len());
        match dice.below(5) {
            0 => data.truncate(at),
            1 => drop(data.drain(at..to)),
            2 => {
                let piece = data[at..to].to_vec();
                data.splice(at..at, piece);
            }
            3 => data.insert(at, MARKS[dice.below(MARKS.len())]),
            _ => {
                if let Some(byte) = data.get_mut(at) {
                    *byte ^= 1 << dice.below(8);
                }
            }
        }
    }
    data
}

#[test]
fn any_bytes_are_a_session_or_an_error() {
    let seeds = seeds();
    for seed in &seeds {
        load(seed);
    }
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    for _ in 0..CASES {
        let data = changed(&seeds, &mut dice);
        if let Err(panic) = std::panic::catch_unwind(|| load(&data)) {
            println!("failing input: b\"{}\"", data.escape_ascii());
            std::panic::resume_unwind(panic);
        }
    }
}
