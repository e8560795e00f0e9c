//! Names: from the wire's spelling to those of Rust types, variants and fields.

/// The words of `snake_case`, `kebab-case` or `camelCase`, in lower case.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut fresh = true;
    for c in name.chars() {
        if !c.is_ascii_alphanumeric() {
            fresh = true;
            continue;
        }
        if fresh || c.is_ascii_uppercase() {
            words.push(String::new());
            fresh = false;
        }
        if let Some(word) = words.last_mut() {
            word.push(c.to_ascii_lowercase());
        }
    }
    words
}

/// `message_update` and `messageUpdate` become `MessageUpdate`.
#[must_use]
pub fn pascal(name: &str) -> String {
    words(name)
        .into_iter()
        .map(|word| {
            let mut chars = word.chars();
            chars
                .next()
                .map_or(String::new(), |c| c.to_ascii_uppercase().to_string())
                + chars.as_str()
        })
        .collect()
}

/// `QuipuEvent` becomes `QUIPU_EVENT`.
#[must_use]
pub fn screaming(name: &str) -> String {
    words(name).join("_").to_ascii_uppercase()
}

/// `QuipuEvent` becomes `quipu_event`.
#[must_use]
pub fn snake(name: &str) -> String {
    words(name).join("_")
}

/// Whether `name` can be a type: a capital, then letters and digits.
#[must_use]
pub fn is_pascal(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.chars().all(|c| c.is_ascii_alphanumeric())
}

/// Whether `name` can be a field or an enum value: a small letter, then letters, digits and single
/// `_` or `-` between them.
#[must_use]
pub fn is_plain(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.ends_with(|c: char| c.is_ascii_alphanumeric())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
        && !["__", "--", "_-", "-_"]
            .iter()
            .any(|pair| name.contains(pair))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_meet_in_one_name() {
        assert_eq!(pascal("message_update"), "MessageUpdate");
        assert_eq!(pascal("toolResult"), "ToolResult");
        assert_eq!(pascal("cancelled-by-extension"), "CancelledByExtension");
        assert_eq!(screaming("QuipuEvent"), "QUIPU_EVENT");
        assert_eq!(snake("QuipuEvent"), "quipu_event");
        assert!(is_pascal("Usage") && !is_pascal("usage") && !is_pascal("A_b") && !is_pascal(""));
        assert!(is_plain("cacheWrite1h") && is_plain("per-turn-cap"));
        assert!(!is_plain("Max") && !is_plain("a__b") && !is_plain("+1") && !is_plain(""));
    }
}
