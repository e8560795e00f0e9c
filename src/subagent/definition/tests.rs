use pretty_assertions::assert_eq;

use super::*;
use crate::config::Environment;

fn load(files: &[(&str, &str)]) -> Definitions {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let home = root.path().join("home");
    let environment: Environment = [("QUIPU_HOME", &home)].into_iter().collect();
    let paths = Paths::from_environment(&environment).unwrap();
    let mut found = Definitions::load(&paths, &root.path().join("p"));
    let shown = root.path().display().to_string();
    for warning in &mut found.warnings {
        *warning = warning.replace(&shown, "");
    }
    found
}

fn fault(text: &str) -> String {
    parse(text, "x").map(|_| ()).unwrap_err().to_string()
}

#[test]
fn every_built_in_definition_is_whole() {
    let found = Definitions::built_in();
    let names: Vec<_> = found.iter().map(|known| known.name.as_str()).collect();
    assert_eq!(names, ["Explore", "feature-dev", "code-reviewer"]);
    for (definition, (name, text)) in found.iter().zip(BUILT_IN) {
        let parsed = parse(text, "?").map_err(|fault| fault.to_string()).unwrap();
        assert_eq!(parsed.definition.name, name);
        assert_eq!(parsed.unknown_keys, Vec::<String>::new());
        assert_eq!(parsed.unknown_tools, Vec::<String>::new());
        assert!(!definition.description.is_empty() && definition.prompt.len() > 200);
    }
    assert!(
        !found
            .get("Explore")
            .unwrap()
            .tools
            .contains(&"write".into())
    );
    assert_eq!(found.get("explore"), None);
}

#[test]
fn all_fields_are_read() {
    let text = "\u{feff}---\n# a comment\nname: a.b-c_1\ndescription: \"Does: it all\"\n\
                tools: [read, \"ls\", web_search]\nmodel: p/one, two\nthinking: xhigh\nmore: 1\n\
                ---\n\nBody: one\n---\ntwo\n\n";
    let parsed = parse(text, "stem")
        .map_err(|fault| fault.to_string())
        .unwrap();
    assert_eq!(
        parsed.definition,
        Definition {
            name: "a.b-c_1".into(),
            description: "Does: it all".into(),
            tools: vec!["read".into(), "ls".into()],
            models: vec!["p/one".into(), "two".into()],
            thinking: Some(ThinkingLevel::Xhigh),
            prompt: "Body: one\n---\ntwo".into(),
        }
    );
    assert_eq!(parsed.unknown_keys, ["more"]);
    assert_eq!(parsed.unknown_tools, ["web_search"]);
}

#[test]
fn what_is_left_out_has_a_default() {
    let parsed = parse("---\n---\n", "stem")
        .map_err(|fault| fault.to_string())
        .unwrap();
    assert_eq!(parsed.definition.name, "stem");
    assert_eq!(parsed.definition.tools, USUAL_TOOLS);
    let listed = "---\ntools:\n  - read\n  - ls\nname: n\n---\n";
    let parsed = parse(listed, "x")
        .map_err(|fault| fault.to_string())
        .unwrap();
    assert_eq!(parsed.definition.tools, ["read", "ls"]);
    assert_eq!(parsed.definition.name, "n");
}

#[test]
fn other_ways_of_writing_mean_the_same() {
    let read = |text: &str| {
        let parsed = parse(text, "x").map_err(|fault| fault.to_string()).unwrap();
        assert_eq!(parsed.unknown_tools, Vec::<String>::new(), "{text}");
        parsed.definition
    };
    for tools in [
        "\"read, ls\"",
        "'read,ls'",
        "\"read\", \"ls\"",
        "[\"read\", 'ls'] # both",
        "\n  - read # one\n  - \"ls\"",
        "read, ls # two of them",
    ] {
        assert_eq!(
            read(&format!("---\ntools: {tools}\n---\n")).tools,
            ["read", "ls"],
            "{tools}"
        );
    }
    for all in ["*", "\"*\"", "['*']"] {
        let mut tools = read(&format!("---\ntools: {all}\n---\n")).tools;
        let mut usual = USUAL_TOOLS.map(str::to_owned).to_vec();
        tools.sort();
        usual.sort();
        assert_eq!(tools, usual, "{all}");
    }
    let text = "---\nname: a # the name\ndescription: >\n  Looks at\n\n  it's #1 all.\nmodel: |-\n  p/m\n---\nB";
    let definition = read(text);
    assert_eq!(definition.name, "a");
    assert_eq!(definition.description, "Looks at  it's #1 all.");
    assert_eq!(
        (definition.models.as_slice(), definition.prompt.as_str()),
        (&["p/m".to_owned()][..], "B")
    );
    let definition =
        read("---\ndescription: It's a \"# sign\", C# and #more: all # not this\n---\n");
    assert_eq!(definition.description, "It's a \"# sign\", C# and");
}

#[test]
fn an_agent_cannot_start_agents() {
    let text = "---\ntools: read, subagent, wait, suggest_next\n---\n";
    let parsed = parse(text, "x").map_err(|fault| fault.to_string()).unwrap();
    assert_eq!(parsed.definition.tools, ["read"]);
    assert_eq!(parsed.unknown_tools.len(), 3);
}

#[test]
fn a_fault_names_its_line() {
    assert!(fault("name: x").starts_with("line 1: "));
    assert!(fault("").starts_with("line 1: "));
    assert!(fault("---\nname: x\n").starts_with("line 2: the front matter has no end"));
    assert!(fault("---\nname: x\nhello\n---\n").starts_with("line 3: "));
    assert!(fault("---\nname: a b\n---\n").starts_with("line 2: a name"));
    assert!(fault("---\n\nthinking: hard\n---\n").starts_with("line 3: "));
    assert!(fault("---\n---\nbody\n\0\n").starts_with("line 4: a NUL"));
    assert!(fault("---\ntools: ls\ntools: ls\n---\n").starts_with("line 3: "));
    assert!(parse("---\n---\n", "no name").is_err());
}

#[test]
fn later_folders_win_and_bad_files_are_told() {
    let found = load(&[
        (
            "home/agents/a.md",
            "---\nname: mine\ndescription: home\nx: 1\n---\n",
        ),
        (
            "home/agents/Explore.md",
            "---\ndescription: other\n---\nLook.",
        ),
        ("home/agents/b.txt", "no definition"),
        (
            "p/.quipu/agents/mine.md",
            "---\ndescription: project\nx: 1\n---\n",
        ),
        ("p/.quipu/agents/bad.md", "---\nname: bad\nwhat\n---\n"),
    ]);
    let told: Vec<_> = found
        .iter()
        .map(|known| (known.name.as_str(), known.description.as_str()))
        .collect();
    assert_eq!(told[0], ("Explore", "other"));
    assert_eq!(told.len(), 4);
    assert_eq!(told[3], ("mine", "project"));
    assert_eq!(
        found.warnings,
        [
            "the agent definition /p/.quipu/agents/bad.md is left out: line 3: expected `key: \
             value`, or `---` before the body",
            "agent definitions: ignored unknown `x` (known are `name`, `description`, `tools`, \
             `model`, `thinking`)",
        ]
    );
}

#[test]
fn what_is_no_text_file_is_told() {
    let long = format!("---\n---\n{}", "x".repeat(LIMIT));
    let found = load(&[("home/agents/long.md", &long), ("home/agents/d.md/x", "")]);
    assert_eq!(found.list.len(), BUILT_IN.len());
    assert_eq!(found.warnings.len(), 2, "{:?}", found.warnings);
}
