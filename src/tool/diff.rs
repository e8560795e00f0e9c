//! What an edit changed, for people and for programs.

use std::time::Duration;

use similar::{ChangeTag, TextDiff};

/// Unchanged lines around a change.
const CONTEXT: usize = 4;

/// The longest diff or patch of a result, in bytes.
const MOST: usize = 50 * 1024;

/// The longest texts that are compared, in bytes; more takes too long for what it tells.
pub(super) const MOST_COMPARED: usize = 8 << 20;

/// After this a diff is finished roughly instead of minimally.
const PATIENCE: Duration = Duration::from_millis(500);

fn compare<'a>(old: &'a str, new: &'a str) -> Option<TextDiff<'a, 'a, str>> {
    (old.len() + new.len() <= 2 * MOST_COMPARED)
        .then(|| TextDiff::configure().timeout(PATIENCE).diff_lines(old, new))
}

/// The unified diff; absent if it would be too long, for a part of a patch is none.
pub(super) fn patch(old_path: &str, new_path: &str, old: &str, new: &str) -> Option<String> {
    let diff = compare(old, new)?;
    let patch = diff
        .unified_diff()
        .context_radius(CONTEXT)
        .header(old_path, new_path)
        .to_string();
    (patch.len() <= MOST).then_some(patch)
}

/// The changed lines with their numbers: `-12 text` numbered in the old file, `+12 text` and
/// ` 12 text` in the new one; ` ...` stands for lines left out. A long one ends early and says so.
pub(super) fn numbered(old: &str, new: &str) -> Option<String> {
    let diff = compare(old, new)?;
    let width = diff.old_len().max(diff.new_len()).to_string().len();
    let mut lines = Vec::new();
    let mut length = 0;
    let mut next = 0;
    for group in diff.grouped_ops(CONTEXT) {
        if group.first().is_some_and(|op| op.old_range().start > next) {
            lines.push(format!(" {:width$} ...", ""));
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let (sign, index) = match change.tag() {
                ChangeTag::Delete => ('-', change.old_index()),
                ChangeTag::Insert => ('+', change.new_index()),
                ChangeTag::Equal => (' ', change.new_index()),
            };
            let number = index.unwrap_or_default() + 1;
            let text = change.value().trim_end_matches(['\r', '\n']);
            let line = format!("{sign}{number:width$} {text}");
            length += line.len() + 1;
            if length > MOST {
                lines.push(format!(
                    " {:width$} ... (the rest of the diff is left out)",
                    ""
                ));
                return Some(lines.join("\n"));
            }
            lines.push(line);
        }
        next = group.last().map_or(next, |op| op.old_range().end);
    }
    if next < diff.old_len() {
        lines.push(format!(" {:width$} ...", ""));
    }
    Some(lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::{MOST, numbered, patch};

    fn lines(range: std::ops::RangeInclusive<u32>) -> String {
        range.fold(String::new(), |mut text, n| {
            writeln!(text, "line {n}").unwrap();
            text
        })
    }

    #[test]
    fn a_change_is_shown_with_its_lines() {
        let old = lines(1..=30);
        let new = old
            .replace("line 12\n", "twelve\nand more\n")
            .replace("line 30\n", "");
        insta::assert_snapshot!(numbered(&old, &new).unwrap(), @r"
            ...
          8 line 8
          9 line 9
         10 line 10
         11 line 11
        -12 line 12
        +12 twelve
        +13 and more
         14 line 13
         15 line 14
         16 line 15
         17 line 16
            ...
         27 line 26
         28 line 27
         29 line 28
         30 line 29
        -30 line 30
        ");
        insta::assert_snapshot!(patch("a", "a", &lines(1..=3), "line 1\nline 2\nline 3").unwrap(), @r"
        --- a
        +++ a
        @@ -1,3 +1,3 @@
         line 1
         line 2
        -line 3
        +line 3
        \ No newline at end of file
        ");
    }

    #[test]
    fn both_are_bounded() {
        let new = lines(1..=20_000);
        assert_eq!(patch("a", "a", "", &new), None);
        let diff = numbered("", &new).unwrap();
        assert!(diff.len() < MOST + 100 && diff.ends_with("(the rest of the diff is left out)"));
        let huge = "x\n".repeat(9 << 20);
        assert_eq!(numbered("", &huge), None);
    }
}
