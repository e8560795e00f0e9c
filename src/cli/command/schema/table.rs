//! Text in columns.

use std::fmt::Write as _;

/// Writes rows with their cells under each other; the last cell has no end.
pub(super) fn write(text: &mut String, rows: &[Vec<String>]) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let width = if column + 1 == columns {
                0
            } else {
                widths[column]
            };
            let _ = write!(line, "{cell:width$}  ");
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

/// Markdown with its tables as columns and its code as indented lines, for a terminal.
pub(super) fn plain(markdown: &str) -> String {
    let mut text = String::new();
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut code = false;
    for line in markdown.lines() {
        if let Some(row) = line.strip_prefix("| ").filter(|_| !code) {
            let row = row.trim_end_matches('|').replace("\\|", "\u{0}");
            let cells = row.split(" | ").map(|cell| cell.replace('\u{0}', "|"));
            rows.push(cells.map(|cell| cell.trim().to_owned()).collect());
            continue;
        }
        if line.starts_with("|---") && !code {
            continue;
        }
        write(&mut text, &std::mem::take(&mut rows));
        match line {
            "```json" => {
                text.push_str("Examples:\n\n");
                code = true;
            }
            "```" => code = false,
            line if code => {
                let _ = writeln!(text, "  {line}");
            }
            line => {
                let _ = writeln!(text, "{line}");
            }
        }
    }
    write(&mut text, &rows);
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn tables_become_columns() {
        let page =
            "A\n\n| f | type | |\n|---|---|---|\n| `a` | x \\| y | long |\n\n```json\n{}\n```\n";
        let expected = "A\n\nf    type\n`a`  x | y  long\n\nExamples:\n\n  {}\n";
        assert_eq!(super::plain(page), expected);
    }
}
