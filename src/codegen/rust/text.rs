//! Text: docs that rustdoc reads as they are meant, and blank lines between items.

use syn::{Attribute, parse_quote};

/// A `///` attribute with `description`.
pub(super) fn doc(description: &str) -> Attribute {
    let text = format!(" {}", escape(description));
    parse_quote! { #[doc = #text] }
}

/// Escapes what Markdown would read as a link or as HTML, outside of code spans.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut code = false;
    for c in text.chars() {
        match c {
            '`' => code = !code,
            '[' | ']' | '<' | '>' | '*' if !code => escaped.push('\\'),
            _ => {}
        }
        escaped.push(if c == '\n' { ' ' } else { c });
    }
    escaped
}

/// Puts a blank line before each top-level item, which the printer leaves out.
pub(super) fn space(source: &str) -> String {
    let mut spaced = String::with_capacity(source.len() + source.len() / 20);
    let mut last = "";
    for line in source.lines() {
        let starts = ["///", "#[", "pub ", "impl", "fn ", "tagged!", "constant!"];
        let starts = starts.iter().any(|start| line.starts_with(start));
        let goes_on = last.starts_with("///") || last.starts_with("#[") || last.starts_with(")]");
        if starts && !last.is_empty() && !goes_on {
            spaced.push('\n');
        }
        spaced.push_str(line);
        spaced.push('\n');
        last = line;
    }
    spaced
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn markdown_cannot_change_the_meaning() {
        assert_eq!(escape("see [x] and `[y]`"), "see \\[x\\] and `[y]`");
        assert_eq!(escape("a <b>\nc"), "a \\<b\\> c");
    }
}
