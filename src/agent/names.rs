//! Which tool a requested name means: gateways prefix and recase tool names.

/// The tool that a call of `requested` runs, among `tools`; `None` when nothing matches or several do.
///
/// Candidate forms are the name itself and, for a gateway name (`mcp__<id>__Edit`, `mcp_<id>_Edit`),
/// its unprefixed tails, longest first. For each form: an exact match, else the only tool whose name is
/// equal without case, `-` and `_`, else the only tool one of whose own unprefixed forms is. It never
/// guesses between two.
#[must_use]
pub fn resolve<'a>(requested: &str, tools: &[&'a str]) -> Option<&'a str> {
    for form in forms(requested) {
        if let Some(exact) = tools.iter().find(|tool| **tool == form) {
            return Some(exact);
        }
        let wanted = folded(form);
        if wanted.is_empty() {
            continue;
        }
        let same = tools.iter().copied().filter(|tool| folded(tool) == wanted);
        let tails = tools
            .iter()
            .copied()
            .filter(|tool| forms(tool).skip(1).any(|tail| folded(tail) == wanted));
        for found in [only(same), only(tails)] {
            match found {
                Found::One(tool) => return Some(tool),
                Found::Several => return None,
                Found::Nothing => {}
            }
        }
    }
    None
}

enum Found<'a> {
    Nothing,
    One(&'a str),
    Several,
}

fn only<'a>(mut found: impl Iterator<Item = &'a str>) -> Found<'a> {
    match (found.next(), found.next()) {
        (None, _) => Found::Nothing,
        (Some(tool), None) => Found::One(tool),
        (Some(_), Some(_)) => Found::Several,
    }
}

fn folded(name: &str) -> String {
    name.chars()
        .filter(|c| !matches!(c, '-' | '_'))
        .flat_map(char::to_lowercase)
        .collect()
}

/// The name, then its tails behind a gateway prefix, longest first.
fn forms(name: &str) -> impl Iterator<Item = &str> {
    let mut tails = Vec::new();
    if let Some(rest) = unprefixed(name, "mcp__") {
        // Each place behind a run of two or more underscores may be where the tool's own name begins.
        let bytes = rest.as_bytes();
        for at in 2..bytes.len() {
            if bytes[at] != b'_' && bytes[at - 1] == b'_' && bytes[at - 2] == b'_' {
                tails.push(&rest[at..]);
            }
        }
    } else if let Some((_, tail)) = unprefixed(name, "mcp_").and_then(|rest| rest.split_once('_'))
        && !tail.is_empty()
    {
        tails.push(tail);
    }
    std::iter::once(name).chain(tails)
}

fn unprefixed<'a>(name: &'a str, prefix: &str) -> Option<&'a str> {
    let head = name.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix)
        .then(|| &name[prefix.len()..])
}

#[cfg(test)]
mod tests {
    use super::resolve;

    const TOOLS: [&str; 5] = ["read", "bash", "edit", "write", "todo_list"];

    #[test]
    fn exact_recased_and_gateway_names_resolve() {
        for (requested, tool) in [
            ("read", Some("read")),
            ("Bash", Some("bash")),
            ("mcp__686f__Edit", Some("edit")),
            ("MCP__a__b__write", Some("write")),
            ("mcp_a1_Read", Some("read")),
            ("todoList", Some("todo_list")),
            ("mcp__gw__TodoList", Some("todo_list")),
            ("mcp__gw__todo__list", Some("todo_list")),
            ("reads", None),
            ("", None),
            ("mcp__", None),
            ("mcp_a1b2c3-Bash", None),
            ("mcp__gw__été", None),
        ] {
            assert_eq!(resolve(requested, &TOOLS), tool, "{requested}");
        }
    }

    #[test]
    fn two_candidates_are_not_resolved() {
        assert_eq!(resolve("Say", &["mcp_a_say", "mcp_b_say"]), None);
        assert_eq!(
            resolve("mcp_b_say", &["mcp_a_say", "mcp_b_say"]),
            Some("mcp_b_say")
        );
        assert_eq!(resolve("Say", &["mcp_a_say", "other"]), Some("mcp_a_say"));
        assert_eq!(resolve("todo-list", &["todo_list", "todolist"]), None);
    }
}
