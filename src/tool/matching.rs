//! Finding the text that an edit means, and changing nothing else.
//!
//! All edits are matched against the original text, first exactly (line breaks count as equal,
//! whether LF or CRLF), then, if that finds nothing, with trailing blanks, typographic quotes,
//! dashes and spaces evened out. A match is carried back to the original, so only its region is
//! replaced, and the region's own kind of line break is used for the new text.

use std::ops::Range;

use memchr::memmem;

use super::EditError;

const BOM: char = '\u{feff}';

/// One replacement, as the model gave it.
pub(super) struct Replacement {
    pub(super) old: String,
    pub(super) new: String,
}

/// The text of `path` after all `edits`.
pub(super) fn apply(
    path: &str,
    original: &str,
    edits: &[Replacement],
) -> Result<String, EditError> {
    if edits.is_empty() {
        return Err(EditError::NoEdits);
    }
    let (bom, body) = original.split_at(if original.starts_with(BOM) {
        BOM.len_utf8()
    } else {
        0
    });
    let mut finder = Finder {
        body,
        exact: View::of(body, Folding::LineBreaks),
        loose: None,
    };
    let mut found = Vec::with_capacity(edits.len());
    for (index, edit) in edits.iter().enumerate() {
        let which = if edits.len() == 1 {
            String::new()
        } else {
            format!("edits[{index}]: ")
        };
        let path = path.to_owned();
        let old = edit.old.strip_prefix(BOM).unwrap_or(&edit.old);
        if old.is_empty() {
            return Err(EditError::EmptyOldText { which });
        }
        match finder.find(old) {
            Found::Once(range) => found.push((range, index)),
            Found::Never => return Err(EditError::NotFound { which, path }),
            Found::Often(count) => return Err(EditError::Ambiguous { which, path, count }),
        }
    }
    found.sort_by_key(|(range, _)| range.start);
    for pair in found.windows(2) {
        if let [(a, first), (b, second)] = pair
            && a.end > b.start
        {
            let (first, second, path) = (*first, *second, path.to_owned());
            return Err(EditError::Overlap {
                first,
                second,
                path,
            });
        }
    }
    let mut text = bom.to_owned();
    let mut end = 0;
    for (range, index) in found {
        text.push_str(&body[end..range.start]);
        let new = &edits[index].new;
        let new = View::of(new.strip_prefix(BOM).unwrap_or(new), Folding::LineBreaks).text;
        if uses_crlf(body, &body[range.clone()]) {
            text.push_str(&new.replace('\n', "\r\n"));
        } else {
            text.push_str(&new);
        }
        end = range.end;
    }
    text.push_str(&body[end..]);
    if text == original {
        return Err(EditError::NoChange(path.to_owned()));
    }
    Ok(text)
}

/// The kind of line break of `region`, or of the file's first line if it has none.
fn uses_crlf(body: &str, region: &str) -> bool {
    let text = if region.contains('\n') { region } else { body };
    text.split_once('\n')
        .is_some_and(|(line, _)| line.ends_with('\r'))
}

enum Found {
    Never,
    /// The range in the original.
    Once(Range<usize>),
    Often(usize),
}

struct Finder<'a> {
    body: &'a str,
    exact: View,
    /// Made when it is first needed.
    loose: Option<View>,
}

impl Finder<'_> {
    fn find(&mut self, old: &str) -> Found {
        let exact = View::of(old, Folding::LineBreaks).text;
        let found = self.exact.find(&exact, false);
        if !matches!(found, Found::Never) {
            return found;
        }
        let loose = View::of(old, Folding::Typography).text;
        if loose.trim().is_empty() {
            return Found::Never;
        }
        // Blanks at the end of the old text may only stand for blanks at the end of a line.
        let ends_line = old.ends_with(char::is_whitespace) && !old.ends_with('\n');
        let view = self
            .loose
            .get_or_insert_with(|| View::of(self.body, Folding::Typography));
        view.find(&loose, ends_line)
    }
}

/// What a [`View`] evens out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Folding {
    /// CRLF becomes LF.
    LineBreaks,
    /// That, and blanks at the end of lines vanish, and typographic characters become ASCII.
    Typography,
}

/// A text evened out, and where each part of it comes from.
struct View {
    text: String,
    /// In order, without gaps in the view.
    pieces: Vec<Piece>,
}

/// A part of a view: as long as its source if it was copied, one byte if it was folded.
struct Piece {
    view: Range<usize>,
    source: Range<usize>,
}

impl View {
    fn of(source: &str, folding: Folding) -> Self {
        let mut view = Self {
            text: String::with_capacity(source.len()),
            pieces: Vec::new(),
        };
        let mut start = 0;
        for line in source.split_inclusive('\n') {
            let text = line.strip_suffix('\n').unwrap_or(line);
            let (text, end) = match text.strip_suffix('\r') {
                Some(text) if line.ends_with('\n') => (text, "\r\n"),
                _ => (text, &line[text.len()..]),
            };
            let mut copied = 0;
            let kept = match folding {
                Folding::LineBreaks => text,
                Folding::Typography => text.trim_end(),
            };
            if folding == Folding::Typography {
                for (at, character) in kept.char_indices() {
                    let Some(plain) = fold(character) else {
                        continue;
                    };
                    view.add(&kept[copied..at], start + copied..start + at);
                    copied = at + character.len_utf8();
                    view.add(plain, start + at..start + copied);
                }
            }
            view.add(&kept[copied..], start + copied..start + kept.len());
            if !end.is_empty() {
                view.add("\n", start + text.len()..start + line.len());
            }
            start += line.len();
        }
        view
    }

    fn add(&mut self, text: &str, source: Range<usize>) {
        if text.is_empty() {
            return;
        }
        let view = self.text.len()..self.text.len() + text.len();
        self.text.push_str(text);
        match self.pieces.last_mut() {
            Some(last)
                if last.source.end == source.start
                    && last.view.len() == last.source.len()
                    && view.len() == source.len() =>
            {
                last.view.end = view.end;
                last.source.end = source.end;
            }
            _ => self.pieces.push(Piece { view, source }),
        }
    }

    fn find(&self, old: &str, ends_line: bool) -> Found {
        let text = self.text.as_bytes();
        let counts =
            |at: &usize| !ends_line || matches!(text.get(at + old.len()), None | Some(b'\n'));
        let finder = memmem::Finder::new(old);
        let mut matches = finder.find_iter(text).filter(counts);
        let Some(first) = matches.next() else {
            return Found::Never;
        };
        let more = matches.count();
        // Matches that overlap the first one make it ambiguous too.
        let more = more.max(
            finder
                .find_iter(&text[first + 1..])
                .map(|at| at + first + 1)
                .filter(counts)
                .count(),
        );
        if more > 0 {
            Found::Often(more + 1)
        } else {
            Found::Once(self.source(first, first + old.len()))
        }
    }

    /// Where the non-empty range of the view comes from.
    fn source(&self, start: usize, end: usize) -> Range<usize> {
        let piece = |at: usize| {
            let index = self.pieces.partition_point(|piece| piece.view.end <= at);
            &self.pieces[index]
        };
        let (first, last) = (piece(start), piece(end - 1));
        let copied = |piece: &Piece| piece.view.len() == piece.source.len();
        let start = first.source.start
            + if copied(first) {
                start - first.view.start
            } else {
                0
            };
        let end = if copied(last) {
            last.source.start + (end - last.view.start)
        } else {
            last.source.end
        };
        start..end
    }
}

/// The ASCII character that people and models mix up with `character`.
fn fold(character: char) -> Option<&'static str> {
    Some(match character {
        '\u{2018}'..='\u{201b}' => "'",
        '\u{201c}'..='\u{201f}' => "\"",
        '\u{2010}'..='\u{2015}' | '\u{2212}' => "-",
        '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => " ",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::{Replacement, apply};
    use crate::tool::EditError;

    fn edit(original: &str, edits: &[(&str, &str)]) -> Result<String, EditError> {
        let edits: Vec<_> = edits
            .iter()
            .map(|(old, new)| Replacement {
                old: (*old).to_owned(),
                new: (*new).to_owned(),
            })
            .collect();
        apply("f", original, &edits)
    }

    #[test]
    fn exact_matches_are_replaced_against_the_original() {
        for (original, edits, expected) in [
            ("a b c", &[("b", "B")][..], "a B c"),
            ("a b c", &[("c", "a"), ("a", "c")], "c b a"),
            ("ab", &[("a", "x"), ("b", "y")], "xy"),
            ("a\nb\n", &[("a\n", "")], "b\n"),
            ("a\n", &[("a", "a\nb")], "a\nb\n"),
            ("“x” \"x\"", &[("\"x\"", "y")], "“x” y"),
        ] {
            assert_eq!(edit(original, edits).unwrap(), expected, "{original:?}");
        }
    }

    #[test]
    fn line_breaks_and_mark_of_the_file_stay() {
        for (original, edits, expected) in [
            (
                "a\r\nb\r\nc\r\n",
                &[("a\nb", "x\ny\nz")][..],
                "x\r\ny\r\nz\r\nc\r\n",
            ),
            ("a\r\nb\r\n", &[("b", "x\ny")], "a\r\nx\r\ny\r\n"),
            ("a\r\nb\r\n", &[("b\r\n", "x\r\n")], "a\r\nx\r\n"),
            ("a\nb\n", &[("b\r\n", "x\r\ny\r\n")], "a\nx\ny\n"),
            ("a\nb\r\nc\nd\n", &[("c\nd", "x\ny")], "a\nb\r\nx\ny\n"),
            ("a\nb\r\nc\n", &[("b\nc", "x\ny")], "a\nx\r\ny\n"),
            ("\u{feff}a\n", &[("\u{feff}a", "b")], "\u{feff}b\n"),
            ("\u{feff}a\n", &[("a", "\u{feff}b")], "\u{feff}b\n"),
            ("a\rb\r\n", &[("a\rb", "c")], "c\r\n"),
        ] {
            assert_eq!(edit(original, edits).unwrap(), expected, "{original:?}");
        }
    }

    #[test]
    fn a_loose_match_changes_only_its_region() {
        for (original, edits, expected) in [
            (
                "keep  \nfoo  \nbar\t\nkeep  \n",
                &[("foo\nbar", "x\ny")][..],
                "keep  \nx\ny\t\nkeep  \n",
            ),
            (
                "say “hi” — now…\n‘q’",
                &[("\"hi\" - now", "bye")],
                "say bye…\n‘q’",
            ),
            (
                "a\u{a0}b  \r\nc  \r\n",
                &[("a b\nc", "x\ny")],
                "x\r\ny  \r\n",
            ),
            ("foo\nfoobar\n", &[("foo  ", "x")], "x\nfoobar\n"),
            ("one “a”\ntwo", &[("one \"a\"", "1"), ("two", "2")], "1\n2"),
        ] {
            assert_eq!(edit(original, edits).unwrap(), expected, "{original:?}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_reason() {
        let error =
            |original, edits: &[(&str, &str)]| edit(original, edits).unwrap_err().to_string();
        for (original, edits, part) in [
            ("a", &[][..], "edits is empty"),
            ("a", &[("", "b")], "oldText is empty"),
            ("a", &[("b", "c")], "oldText was not found in f."),
            (
                "a",
                &[("a", "x"), ("b", "c")],
                "edits[1]: oldText was not found in f.",
            ),
            ("a a a", &[("a", "b")], "oldText occurs 3 times in f."),
            ("aaa", &[("aa", "b")], "oldText occurs 2 times in f."),
            ("abab aba", &[("aba", "b")], "oldText occurs 2 times in f."),
            ("“a” “a”", &[("\"a\"", "b")], "oldText occurs 2 times in f."),
            (
                "abc",
                &[("bc", "x"), ("ab", "y")],
                "edits[1] and edits[0] overlap in f.",
            ),
            ("abc", &[("b", "b")], "Nothing to change in f"),
            ("foobar", &[("foo ", "x")], "oldText was not found in f."),
            ("a\n\n\nb", &[(" \n ", "x")], "oldText was not found in f."),
        ] {
            let error = error(original, edits);
            assert!(error.starts_with(part), "{original:?}: {error}");
        }
    }
}
