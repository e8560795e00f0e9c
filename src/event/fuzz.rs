//! The readers of this room as fuzz targets.

use serde_json::Value;

use super::{JsonFault, PartialJson};
use crate::fuzz::cuts;
use crate::model::repair_surrogates;

/// Growing arguments: however they are cut they mean the same, and in the end they are what a parser
/// of whole texts makes of them.
///
/// # Panics
/// When that does not hold.
pub fn partial_json(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let read = |pieces: &[&str]| {
        let mut parser = PartialJson::default();
        for piece in pieces {
            parser.push(piece);
        }
        parser
    };
    let shown = |parser: &PartialJson| {
        let open = parser.open_text().map(|open| (open.begin, open.depth));
        let value = Value::Object(parser.value().clone()).to_string();
        (value, parser.check(), open)
    };
    let whole = read(&[&text]);

    let mut grown = PartialJson::default();
    let mut buffer = [0; 4];
    for letter in text.chars() {
        grown.push(letter.encode_utf8(&mut buffer));
    }
    assert_eq!(shown(&grown), shown(&whole), "letter by letter");
    for cut in cuts(text.as_bytes()).filter(|cut| text.is_char_boundary(*cut)) {
        let (head, rest) = text.split_at(cut);
        let pieces = read(&[head, rest]);
        assert_eq!(shown(&pieces), shown(&whole), "cut at {cut}");
        if let Some(open) = read(&[head]).open_text() {
            assert!(open.begin <= head.len() && open.text.len() <= 3 * head.len());
        }
    }

    let repaired = repair_surrogates(&text);
    let expected = serde_json::from_str::<Value>(repaired.as_deref().unwrap_or(&text));
    match (whole.finish(), expected) {
        (Ok(ours), Ok(theirs)) => assert_eq!(
            Value::Object(ours).to_string(),
            theirs.to_string(),
            "another value"
        ),
        (Ok(ours), Err(error)) => {
            // No text at all stands for no arguments.
            let blank = text.trim().is_empty() && ours.is_empty();
            assert!(blank, "{ours:?} is not JSON: {error}");
        }
        // They may nest deeper for others than for us.
        (Err(JsonFault::TooDeep { .. }), _) | (Err(_), Err(_)) => {}
        (Err(fault), Ok(theirs)) => assert!(!theirs.is_object(), "refused: {fault}"),
    }
}
