//! `quipu replay`: a recording in the place of the agent.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;

use super::io::is_output;
use crate::cli::run::block_on;
use crate::cli::signal::Signals;
use crate::cli::{exit_code, note};
use crate::event::ErrorCode;
use crate::replay::pace::Pace;
use crate::replay::{Interrupt, Played, Recording, play};

/// The arguments of `quipu replay`.
///
/// Write a recording again, byte for byte and with its timing: a stand-in for the agent in tests
/// of programs that read its stream.
///
/// The options of replay stand before FILE. All words after FILE are taken for the agent's and
/// ignored, `--help`, `--` and unknown flags included; standard input is not read.
///
/// Times are those of the lines: `at` where lines are stamped, else the times of the header, of
/// messages and of hooks, with the lines between them spread evenly over what took time. A recording
/// without times is written at once. The exit status is that of the recording.
#[derive(Debug, Args)]
pub(in crate::cli) struct Replay {
    /// How many times as fast, such as 2 or 0.5
    #[arg(long, value_name = "X", default_value = "1", value_parser = speed, allow_negative_numbers = true)]
    speed: f64,

    /// Without any gap
    #[arg(long, conflicts_with = "speed")]
    instant: bool,

    /// The longest gap before a line, at speed 1: seconds, such as 90s or 5m, or `none`
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = gap, allow_negative_numbers = true)]
    max_gap: MaxGap,

    /// Ends with this status instead of the recording's; a signal has its own
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    exit_code: Option<u8>,

    /// The recording, or `-` for standard input; then what the agent would be called with
    #[arg(value_names = ["FILE", "ARGUMENT"], required = true, num_args = 1.., trailing_var_arg = true)]
    words: Vec<OsString>,
}

/// The lowest speed; at it a second takes a quarter of an hour.
const SLOWEST: f64 = 0.001;

/// The longest gap; `None` for any length.
#[derive(Clone, Copy, Debug)]
struct MaxGap(Option<Duration>);

fn speed(text: &str) -> Result<f64, String> {
    match text.trim_end_matches(['x', '×']).parse::<f64>() {
        Ok(speed) if speed.is_finite() && speed >= SLOWEST => Ok(speed),
        _ => Err(format!("use a number from {SLOWEST} up, such as 2 or 0.5")),
    }
}

fn gap(text: &str) -> Result<MaxGap, String> {
    if text == "none" {
        return Ok(MaxGap(None));
    }
    let time = match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => humantime::parse_duration(text).ok(),
    };
    time.map(|time| MaxGap(Some(time)))
        .ok_or_else(|| "use seconds, a time such as 90s or 5m, or `none`".to_owned())
}

impl Replay {
    pub(super) fn run(&self) -> ExitCode {
        let path = Path::new(self.words.first().map_or("-".as_ref(), OsString::as_os_str));
        if is_output(path) {
            note(&format!(
                "quipu: {} is the same file as standard output",
                path.display()
            ));
            return ExitCode::from(exit_code(ErrorCode::Usage));
        }
        let recording = match Recording::open(path) {
            Ok(recording) => recording,
            Err(error) => {
                note(&format!(
                    "quipu: {} cannot be read: {error}",
                    path.display()
                ));
                return ExitCode::from(exit_code(ErrorCode::Usage));
            }
        };
        let pace = if self.instant {
            Pace::Instant
        } else {
            Pace::Timed {
                speed: self.speed,
                max_gap: self.max_gap.0,
            }
        };
        block_on(async {
            let played = match Signals::install() {
                Ok(mut signals) => {
                    let interrupt = async {
                        let caught = signals.next().await;
                        Interrupt {
                            name: caught.name,
                            exit_code: caught.exit_code,
                        }
                    };
                    play(recording, path, pace, interrupt).await
                }
                Err(error) => Err(error),
            };
            match played {
                Ok(played) => self.status(path, played),
                Err(error) => failed(&format!("the recording cannot be played: {error}")),
            }
        })
    }

    fn status(&self, path: &Path, played: Played) -> u8 {
        match played.write_error {
            // The reader has gone: nobody is left to be told.
            Some(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                return exit_code(ErrorCode::Internal);
            }
            Some(error) => return failed(&format!("the stream could not be written: {error}")),
            None => {}
        }
        if let Some(interrupt) = played.interrupt {
            return interrupt.exit_code;
        }
        if let Some(error) = played.read_error {
            return failed(&format!("{} cannot be read: {error}", path.display()));
        }
        if played.lines == 0 {
            note(&format!(
                "quipu: {} is empty: no line was written",
                path.display()
            ));
        }
        self.exit_code.unwrap_or(played.exit_code)
    }
}

fn failed(what: &str) -> u8 {
    note(&format!("quipu: {what}"));
    exit_code(ErrorCode::Internal)
}
