//! Flags of dreb, senpi and pi, for commands that were written for those.
//!
//! What such a flag asks for is done under our name, or is so anyway, or is refused with the way to
//! get it here. Nothing is passed over that would change what a run does.

use std::ffi::OsString;

use super::Failure;

/// What becomes of a flag.
#[derive(Clone, Copy)]
enum Meaning {
    /// It asks for what is so anyway.
    Nothing,
    /// The same, with a value.
    NothingWithValue,
    /// We call it so.
    Ours(&'static str),
    /// It cannot be had; the text says what to do.
    Refused(&'static str),
}

use Meaning::{Nothing, NothingWithValue, Ours, Refused};

/// The flags by name. Short ones of two letters are one flag there, not two.
const FLAGS: [(&[&str], Meaning); 23] = [
    // There are none of these to leave out.
    (&["-ne", "--no-extensions"], Nothing),
    (&["-ns", "--no-skills"], Nothing),
    (&["-np", "--no-prompt-templates"], Nothing),
    (&["--no-themes"], Nothing),
    (&["--theme"], NothingWithValue),
    // Tools run without asking; no request is made before the first prompt; errors are told in full.
    (&["-a", "--approve"], Nothing),
    (&["--offline"], Nothing),
    (&["--verbose"], Nothing),
    (&["-t"], Ours("--tools")),
    (&["-nt"], Ours("--no-tools")),
    (&["-n"], Ours("--name")),
    (&["-nc"], Ours("--no-context-files")),
    (&["-v"], Ours("--version")),
    (
        &["-xt", "--exclude-tools"],
        Refused("name the tools that may be called: --tools NAME,…"),
    ),
    (
        &["-nbt", "--no-builtin-tools"],
        Refused(
            "leave out all tools with --no-tools, or name those that may be called: --tools NAME,…",
        ),
    ),
    (
        &["-na", "--no-approve"],
        Refused(
            "tools run without asking and a project's .quipu/settings.json is always read; \
             leave out its AGENTS.md with --no-context-files, its tools with --tools or --no-tools",
        ),
    ),
    (
        &["-e", "--extension"],
        Refused("there are no extensions; say what one told the model with --append-system-prompt"),
    ),
    (
        &["--skill"],
        Refused("there are no skills; give the file to the model with --append-system-prompt FILE"),
    ),
    (
        &["--prompt-template"],
        Refused("there are no templates; write the prompt out, or add a file to it with @FILE"),
    ),
    (
        &["--models"],
        Refused("choose one model with --model PROVIDER/ID"),
    ),
    (
        &["--list-models"],
        Refused("use the subcommand: quipu models"),
    ),
    (
        &["--ui"],
        Refused("the system prompt is the same everywhere; add to it with --append-system-prompt"),
    ),
    (
        &["--export"],
        Refused("use the subcommand: quipu sessions export ID|FILE"),
    ),
];

/// The words of a command line with the flags of other agents in our terms.
///
/// # Errors
/// A usage failure that names the first flag that cannot be had, and the words as they were.
pub(super) fn translate(words: Vec<OsString>) -> Result<Vec<OsString>, (Failure, Vec<OsString>)> {
    let mut translated = Vec::with_capacity(words.len());
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if word == "--" {
            translated.push(word.clone());
            translated.extend(rest.cloned());
            break;
        }
        let text = word.to_string_lossy();
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (&*text, None),
        };
        match meaning(name) {
            None => translated.push(word.clone()),
            Some(Nothing) => {}
            Some(NothingWithValue) => {
                if value.is_none() {
                    rest.next();
                }
            }
            Some(Ours(ours)) => {
                let value = value.map(|value| format!("={value}"));
                translated.push((ours.to_owned() + &value.unwrap_or_default()).into());
            }
            Some(Refused(instead)) => {
                let failure = Failure::usage(format!("There is no {name} here: {instead}."));
                return Err((failure, words));
            }
        }
    }
    Ok(translated)
}

fn meaning(name: &str) -> Option<Meaning> {
    let mut flags = FLAGS.iter();
    let found = flags.find(|(names, _)| names.contains(&name))?;
    Some(found.1)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use clap::{CommandFactory as _, Parser as _};

    use super::{FLAGS, Meaning, translate};
    use crate::cli::Args;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    fn translated(line: &str) -> String {
        let words = translate(words(line)).unwrap_or_else(|(failure, _)| panic!("{failure}"));
        let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
        words.join(" ")
    }

    #[test]
    fn what_is_so_anyway_is_left_out() {
        assert_eq!(
            translated("quipu -a --mode json --no-themes --theme dark -ne --theme=x hi"),
            "quipu --mode json hi"
        );
    }

    #[test]
    fn what_we_have_gets_our_name() {
        let line = translated("quipu --mode json -t read,ls -n name -nc hi");
        assert_eq!(
            line,
            "quipu --mode json --tools read,ls --name name --no-context-files hi"
        );
        let args = Args::try_parse_from(words(&line)).unwrap();
        assert_eq!(args.tools.unwrap(), ["read", "ls"]);
        assert_eq!(args.name.as_deref(), Some("name"));
        assert_eq!(translated("quipu -t=read"), "quipu --tools=read");
    }

    #[test]
    fn prompts_are_left_alone() {
        let line = "quipu --mode json hi -- -t --skill x";
        assert_eq!(translated(line), line);
    }

    #[test]
    fn a_refusal_names_the_flag_and_the_way() {
        for (line, flag, ours) in [
            ("quipu --skill x hi", "--skill", "--append-system-prompt"),
            ("quipu --models a,b hi", "--models", "--model"),
            ("quipu -xt bash hi", "-xt", "--tools"),
            ("quipu --ui=agent hi", "--ui", "--append-system-prompt"),
        ] {
            let (failure, _) = translate(words(line)).unwrap_err();
            let told = failure.to_string();
            assert!(told.contains(&format!("no {flag} here")), "{told}");
            assert!(told.contains(ours), "{told}");
        }
    }

    /// A flag of ours must not be taken for theirs, and what we send people to must exist.
    #[test]
    fn the_table_and_our_flags_do_not_meet() {
        let command = Args::command();
        let ours: Vec<String> = command
            .get_arguments()
            .flat_map(|arg| {
                let long = arg.get_long().map(|long| format!("--{long}"));
                let short = arg.get_short().map(|short| format!("-{short}"));
                long.into_iter().chain(short)
            })
            .chain(["--help", "--version", "-h", "-V"].map(String::from))
            .collect();
        for (names, meaning) in FLAGS {
            for name in names {
                assert!(!ours.iter().any(|our| our == name), "{name} is ours");
            }
            let named: Vec<&str> = match &meaning {
                Meaning::Ours(our) => vec![our],
                Meaning::Refused(text) => text
                    .split([' ', ':', ';', ','])
                    .filter(|word| word.starts_with("--"))
                    .collect(),
                Meaning::Nothing | Meaning::NothingWithValue => Vec::new(),
            };
            for name in named {
                assert!(ours.iter().any(|our| our == name), "{name} is not ours");
            }
        }
    }
}
