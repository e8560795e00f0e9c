//! The choice of a session by a person at a terminal.

use std::fmt::Write as _;
use std::io::{self, BufRead, IsTerminal as _, Write};

use super::Failure;
use crate::session::Found;
use crate::wire::visible_line;

/// Most sessions that are offered.
const OFFERED: usize = 20;

/// Whether somebody is there to choose: standard input and standard error are a terminal.
pub(super) fn is_possible() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Lets the user choose one of these sessions; `None` if there are none.
///
/// This comes before the stream, which begins with the header of the chosen session.
///
/// # Errors
/// A [`Failure`] if nothing was chosen.
pub(super) fn among(sessions: Vec<Found>) -> Result<Option<Found>, Failure> {
    if sessions.is_empty() {
        return Ok(None);
    }
    ask(sessions, &mut io::stdin().lock(), &mut io::stderr().lock()).map(Some)
}

fn ask(
    mut sessions: Vec<Found>,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> Result<Found, Failure> {
    let none = || Failure::usage("No session was chosen.");
    sessions.truncate(OFFERED);
    let mut list = String::new();
    for (number, session) in (1..).zip(&sessions) {
        let _ = writeln!(list, "{number:3}  {}", visible_line(&session.line()));
    }
    loop {
        write!(output, "{list}Number of the session to go on with [1]: ")
            .and_then(|()| output.flush())
            .map_err(|_| none())?;
        let mut answer = String::new();
        if input.read_line(&mut answer).map_err(|_| none())? == 0 {
            return Err(none());
        }
        let number = match answer.trim() {
            "" => Some(1),
            "q" => return Err(none()),
            answer => answer.parse::<usize>().ok(),
        };
        if let Some(index) = number.and_then(|number| number.checked_sub(1))
            && index < sessions.len()
        {
            return Ok(sessions.swap_remove(index));
        }
        list.clear();
        let _ = writeln!(output, "A number from 1 to {}, or q.", sessions.len());
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::cli::session::header;

    fn sessions() -> Vec<Found> {
        let found = |id: &str| {
            let mut header = header("/p".as_ref());
            header.id = id.to_owned();
            Found {
                path: "/nowhere/s.jsonl".into(),
                header,
                modified: SystemTime::UNIX_EPOCH,
            }
        };
        ["one", "two"].map(found).into()
    }

    fn chosen(input: &str) -> (Result<String, Failure>, String) {
        let mut output = Vec::new();
        let found = ask(sessions(), &mut input.as_bytes(), &mut output);
        let id = found.map(|found| found.header.id);
        (id, String::from_utf8(output).unwrap())
    }

    #[test]
    fn a_number_or_nothing_chooses() {
        assert_eq!(chosen("\n").0.unwrap(), "one");
        assert_eq!(chosen("2\n").0.unwrap(), "two");
        let (id, told) = chosen("0\n3\nx\n 2 \n");
        assert_eq!(id.unwrap(), "two");
        assert!(
            told.starts_with("  1  one  1970-01-01T00:00:00Z\n  2  two  "),
            "{told}"
        );
        assert_eq!(told.matches("A number from 1 to 2").count(), 3);
        assert_eq!(told.matches("1970").count(), 2, "the list is shown once");
    }

    #[test]
    fn one_may_choose_none() {
        for input in ["q\n", ""] {
            assert!(chosen(input).0.is_err());
        }
    }
}
