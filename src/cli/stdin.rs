//! Standard input as a part of the first prompt.

use std::io::{IsTerminal as _, Read as _};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::timeout;

use super::{Failure, note};

/// How long an open but silent standard input is waited for when there is a prompt without it.
const PATIENCE: Duration = Duration::from_secs(2);
/// The most that is read; more is surely not meant as a prompt.
const LIMIT: usize = 16 << 20;

enum Step {
    Began,
    Ended(std::io::Result<Vec<u8>>),
}

/// Reads standard input to its end if it is not a terminal; `None` if it holds nothing.
///
/// # Errors
/// A [`Failure`] if it cannot be read or holds more than 16 MiB.
pub(super) async fn read(prompt_given: bool) -> Result<Option<String>, Failure> {
    if std::io::stdin().is_terminal() {
        return Ok(None);
    }
    let mut steps = spawn();
    let first = if prompt_given {
        if let Ok(step) = timeout(PATIENCE, steps.recv()).await {
            step
        } else {
            note(
                "quipu: standard input is open but silent; going on without it \
                 (redirect it from /dev/null to avoid the wait)",
            );
            return Ok(None);
        }
    } else {
        steps.recv().await
    };
    let end = match first {
        Some(Step::Began) => steps.recv().await,
        step => step,
    };
    match end {
        Some(Step::Ended(Ok(bytes))) if bytes.len() > LIMIT => Err(Failure::usage(format!(
            "Standard input holds more than {} MiB; name a file in the prompt instead.",
            LIMIT >> 20
        ))),
        Some(Step::Ended(Ok(bytes))) => {
            let text = String::from_utf8_lossy(&bytes).trim().to_owned();
            Ok((!text.is_empty()).then_some(text))
        }
        Some(Step::Ended(Err(error))) => Err(Failure::usage(format!(
            "Standard input cannot be read: {error}"
        ))),
        Some(Step::Began) | None => Ok(None),
    }
}

/// Reads on a thread of its own: a blocked read cannot be cancelled, but it can be left behind.
fn spawn() -> mpsc::UnboundedReceiver<Step> {
    let (sender, steps) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock().take(LIMIT as u64 + 1);
        let mut bytes = vec![0; 1];
        let end = match input.read(&mut bytes) {
            Ok(0) => Ok(Vec::new()),
            Ok(_) => {
                let _ = sender.send(Step::Began);
                input.read_to_end(&mut bytes).map(|_| bytes)
            }
            Err(error) => Err(error),
        };
        let _ = sender.send(Step::Ended(end));
    });
    steps
}
