//! `docs/apis.md`: which test shows what of which API, made from `tests/suite/apis.txt`.

use std::fmt::Write as _;
use std::path::Path;

const LIST: &str = include_str!("../suite/apis.txt");
const FORMS: &str = include_str!("../../src/model/tests/matrix.rs");

const APIS: [&str; 4] = [
    "anthropic-messages",
    "openai-completions",
    "openai-responses",
    "google-generative-ai",
];

struct Group {
    name: &'static str,
    features: Vec<Feature>,
}

struct Feature {
    name: &'static str,
    /// By API or `all`.
    rows: Vec<(&'static str, Shown)>,
}

enum Shown {
    By(Vec<String>),
    /// The API has no such thing.
    Not(&'static str),
}

fn groups() -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for line in LIST
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        if let Some(name) = line.strip_prefix("== ") {
            let features = Vec::new();
            groups.push(Group { name, features });
            continue;
        }
        let features = &mut groups.last_mut().expect("a group").features;
        let Some(row) = line.strip_prefix("  ") else {
            features.push(Feature {
                name: line,
                rows: Vec::new(),
            });
            continue;
        };
        let (api, shown) = row.split_once(": ").expect(row);
        let shown = match shown.strip_prefix("- ") {
            Some(why) => Shown::Not(why),
            None => Shown::By(shown.split(", ").flat_map(|test| each(api, test)).collect()),
        };
        features
            .last_mut()
            .expect("a feature")
            .rows
            .push((api, shown));
    }
    groups
}

/// The names that a name with `{api}` in it stands for.
fn each(api: &str, test: &str) -> Vec<String> {
    if test.contains("{api}") {
        assert_eq!(api, "all", "{test}");
        let name = |api: &&str| test.replace("{api}", &api.replace('-', "_"));
        APIS.iter().map(name).collect()
    } else {
        vec![test.to_owned()]
    }
}

/// The page about the APIs.
pub(crate) fn page() -> String {
    let mut text = "<!-- Made from tests/suite/apis.txt by `UPDATE=1 cargo test --test codegen`. Do \
        not edit. -->\n\n# Proof of the APIs\n\nWhat holds for which API, and the tests that show \
        it. The tests of `suite` run the program against a service on a loopback socket; those of \
        `model` give the bytes of a service to the code that reads them, or look at what is asked.\n"
        .to_owned();
    for group in groups() {
        let name = group.name;
        writeln!(
            text,
            "\n## {name}\n\n| what | API | shown by |\n|---|---|---|"
        )
        .unwrap();
        for feature in group.features {
            for (api, shown) in feature.rows {
                let api = if api == "all" {
                    "all four".to_owned()
                } else {
                    format!("`{api}`")
                };
                let shown = match shown {
                    Shown::Not(why) => format!("not in this API: {why}"),
                    Shown::By(tests) => {
                        let tests: Vec<String> =
                            tests.iter().map(|test| format!("`{test}`")).collect();
                        tests.join("<br>")
                    }
                };
                writeln!(text, "| {} | {api} | {shown} |", feature.name).unwrap();
            }
        }
    }
    text.push_str(
        "\n## Forms of the bytes\n\nEach answer is read in each of these forms, and gives the same \
         deltas in all of them.\n\n",
    );
    for form in forms() {
        writeln!(text, "- {form}").unwrap();
    }
    text
}

/// The names of the forms that the matrix of the unit tests has.
fn forms() -> Vec<&'static str> {
    let name = |line: &'static str| line.trim().strip_prefix("name: \"")?.strip_suffix("\",");
    FORMS.lines().filter_map(name).collect()
}

/// Whether the sources have this test.
fn exists(test: &str) -> bool {
    let (module, name) = test.rsplit_once("::").expect(test);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (folder, module) = match module.strip_prefix("suite::") {
        Some(module) => ("tests/suite", module),
        None => ("src", module),
    };
    let file = |module: &str| format!("{folder}/{}.rs", module.replace("::", "/"));
    let within = module.strip_suffix("::tests").map(file);
    let source = [Some(file(module)), within]
        .into_iter()
        .flatten()
        .find_map(|path| std::fs::read_to_string(root.join(path)).ok())
        .unwrap_or_default();
    let Some((before, _)) = source.split_once(&format!("fn {name}(")) else {
        return false;
    };
    let before: Vec<&str> = before.lines().rev().take(4).collect();
    before.iter().any(|line| line.trim_end().ends_with("test]"))
}

#[test]
fn every_test_of_the_list_exists() {
    let mut lost = Vec::new();
    for feature in groups().iter().flat_map(|group| &group.features) {
        for (_, shown) in &feature.rows {
            if let Shown::By(tests) = shown {
                lost.extend(tests.iter().filter(|test| !exists(test)).cloned());
            }
        }
    }
    assert!(lost.is_empty(), "tests/suite/apis.txt names {lost:#?}");
    assert!(forms().len() > 10, "{:?}", forms());
}

#[test]
fn every_api_has_a_word_on_every_feature() {
    for feature in groups().iter().flat_map(|group| &group.features) {
        let known = |api: &str| feature.rows.iter().any(|(other, _)| *other == api);
        for (api, _) in &feature.rows {
            assert!(
                *api == "all" || APIS.contains(api),
                "{}: {api}",
                feature.name
            );
        }
        for api in APIS {
            assert!(known("all") || known(api), "{} of {api}", feature.name);
        }
    }
}
