//! Tests of the reading of a line.

use super::*;

fn read(line: &str) -> Document<'_> {
    Document::read(line, Document::default()).unwrap()
}

#[test]
fn a_line_is_read_as_it_stands() {
    let line = r#"{"a":[1,-2,2.5,"x\ty","plain",null,true,{}],"b/c":{"~":7},"a2":[]}"#;
    let document = read(line);
    let root = document.root();
    let untyped: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!(root.to_value(), untyped);
    assert_eq!(root.to_string(), line);
    assert_eq!(root.len(), 3);
    assert_eq!(root.pointer("/a/3").unwrap().as_str(), Some("x\ty"));
    assert_eq!(root.pointer("/b~1c/~0").unwrap().as_u64(), Some(7));
    assert!(root.pointer("/a/8").is_none() && root.pointer("a").is_none());
    let keys: Vec<&str> = root.fields().map(|(key, _)| key).collect();
    assert_eq!(keys, ["a", "b/c", "a2"]);
    let kinds: Vec<&str> = root.get("a").unwrap().items().map(Value::kind).collect();
    assert_eq!(
        kinds,
        [
            "number", "number", "number", "string", "string", "null", "boolean", "object"
        ]
    );
}

#[test]
fn a_used_document_is_the_scratch_of_the_next() {
    let first = "[1,2,3]".to_owned();
    let document = Document::read(&first, Document::default()).unwrap();
    let capacity = document.nodes.capacity();
    let second = "[4]".to_owned();
    let document = Document::read(&second, document).unwrap();
    assert_eq!(document.nodes.capacity(), capacity, "it is used again");
    drop(first);
    assert_eq!(document.root().to_string(), "[4]");
}

#[test]
fn equality_is_that_of_json_schema() {
    let same = [
        (r#"{"a":1,"b":[2.0]}"#, r#"{"b":[2],"a":1.0}"#),
        ("-0.0", "0"),
        ("1e3", "1000"),
        (r#""\u0061""#, r#""a""#),
        ("18446744073709551615", "18446744073709551615"),
    ];
    for (a, b) in same {
        let (a, b) = (read(a), read(b));
        assert_eq!(a.root(), b.root());
        assert_eq!(a.root().fingerprint(), b.root().fingerprint());
    }
    let other = [
        (r#"{"a":1}"#, r#"{"a":1,"b":1}"#),
        (r#"{"a":1,"b":2}"#, r#"{"a":2,"b":1}"#),
        ("[1,2]", "[2,1]"),
        ("[[1],2]", "[1,[2]]"),
        ("1", r#""1""#),
        ("0", "false"),
        ("0", "null"),
        ("1.5", "1"),
        ("9007199254740993", "9007199254740992"),
    ];
    for (a, b) in other {
        let (a, b) = (read(a), read(b));
        assert_ne!(a.root(), b.root());
        assert_ne!(
            a.root().fingerprint(),
            b.root().fingerprint(),
            "{a:?} {b:?}"
        );
    }
}

#[test]
fn what_is_no_json_says_where() {
    let fault = |line| Document::read(line, Document::default()).unwrap_err();
    let error = fault(r#"{"a":}"#);
    assert_eq!(error.to_string(), "expected value at column 6");
    assert!(!error.cut && !error.trailing);
    assert!(fault(r#"{"a":1"#).cut);
    let error = fault("{} {}");
    assert!(error.trailing, "{error:?}");
    assert_eq!(error.column, 4);
    for line in ["", "1e999", r#""\ud800""#, "NaN", &"[".repeat(1000)] {
        assert!(Document::read(line, Document::default()).is_err(), "{line}");
    }
}
