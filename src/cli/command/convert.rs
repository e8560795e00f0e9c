//! `quipu convert`: a recording on another wire.

use std::cell::RefCell;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::io::{is_output, open_bytes};
use crate::cli::{exit_code, note};
use crate::contract::lines::{Frame, Lines};
use crate::convert::{Converter, Detector, Loss, Report};
use crate::event::ErrorCode;
use crate::wire::{Wire, visible_line};

/// Bytes that are read at once, and after which lines are written even while there is more to read.
const BUFFER: usize = 256 * 1024;

/// The arguments of `quipu convert`.
///
/// What the other wire cannot carry, and what had to be made up for it, is listed on standard error
/// at the end. Exit status: 0 converted, 1 a line could not be read or begins another stream (what
/// came before it is written and ended), 2 usage.
#[derive(Debug, Args)]
pub(in crate::cli) struct Convert {
    /// The recording; `-` is standard input
    #[arg(value_name = "FILE|-", default_value = "-")]
    file: PathBuf,

    /// The wire that it is of; `auto` finds out by its first lines
    #[arg(long, value_name = "WIRE", value_parser = source(), default_value = "auto")]
    from: Source,

    /// The wire to write it on
    #[arg(long, value_name = "WIRE", value_parser = wire())]
    to: Wire,
}

#[derive(Clone, Copy, Debug)]
enum Source {
    Auto,
    Of(Wire),
}

fn wire() -> impl TypedValueParser<Value = Wire> {
    PossibleValuesParser::new(Wire::ALL.map(Wire::name)).try_map(|name| name.parse::<Wire>())
}

fn source() -> impl TypedValueParser<Value = Source> {
    let names = std::iter::once("auto").chain(Wire::ALL.map(Wire::name));
    PossibleValuesParser::new(names).map(|name| match name.parse() {
        Ok(wire) => Source::Of(wire),
        Err(_) => Source::Auto,
    })
}

/// Lines on their way to standard output, shared with the input: before that waits for more, what is
/// there is written.
#[derive(Clone, Debug, Default)]
struct Out(Rc<RefCell<Vec<u8>>>);

impl Out {
    fn flush(&self) -> io::Result<()> {
        let mut lines = self.0.borrow_mut();
        if lines.is_empty() {
            return Ok(());
        }
        let mut out = io::stdout().lock();
        out.write_all(&lines)?;
        out.flush()?;
        lines.clear();
        Ok(())
    }
}

/// An input that writes what is ready before it waits.
struct Input {
    from: Box<dyn Read>,
    out: Out,
    /// Why standard output cannot be written any more.
    broken: Rc<RefCell<Option<io::Error>>>,
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Err(error) = self.out.flush() {
            *self.broken.borrow_mut() = Some(error);
            // The end of the input, so that nothing more is read for nobody.
            return Ok(0);
        }
        self.from.read(buffer)
    }
}

/// Why a conversion ended early.
enum Stop {
    /// Standard output cannot be written.
    Output(io::Error),
    /// The input, for a reason in words.
    Input(String),
    /// What was asked for does not fit the input; nothing was written.
    Usage(String),
}

impl Convert {
    pub(super) fn run(&self) -> ExitCode {
        let usage = |what: &str| {
            note(&format!("quipu: {}", visible_line(what)));
            ExitCode::from(exit_code(ErrorCode::Usage))
        };
        let from = match open_bytes(&self.file) {
            Ok(from) => from,
            Err(error) => return usage(&error.to_string()),
        };
        if is_output(&self.file) {
            return usage(&format!(
                "{} is the same file as standard output",
                self.file.display()
            ));
        }
        let out = Out::default();
        let broken = Rc::default();
        let input = Input {
            from,
            out: out.clone(),
            broken: Rc::clone(&broken),
        };
        let mut lines = Lines::new(BufReader::with_capacity(BUFFER, input));
        let ended = self.convert(&mut lines, &out, &broken);
        match ended {
            Ok(()) => ExitCode::SUCCESS,
            Err(Stop::Output(error)) => super::printed(Err(error)),
            Err(Stop::Usage(what)) => usage(&what),
            Err(Stop::Input(error)) => {
                note(&format!("quipu: {}", visible_line(&error)));
                ExitCode::from(exit_code(ErrorCode::Internal))
            }
        }
    }

    fn convert(
        &self,
        lines: &mut Lines<BufReader<Input>>,
        out: &Out,
        broken: &RefCell<Option<io::Error>>,
    ) -> Result<(), Stop> {
        let unreadable =
            |error: io::Error| Stop::Input(format!("{} cannot be read: {error}", self.name()));
        let mut first = Vec::new();
        let mut detector = Detector::default();
        let mut found = None;
        while found.is_none() {
            let Some(frame) = lines.next_line().map_err(unreadable)? else {
                break;
            };
            found = detector.line(frame.bytes);
            if let Source::Of(wire) = self.from
                && !detector.may_be(wire)
            {
                return Err(Stop::Usage(self.not_of(wire, frame.number, &detector)));
            }
            first.push((
                frame.number,
                frame.offset,
                frame.bytes.to_vec(),
                frame.fault,
            ));
        }
        let from = match self.from {
            Source::Of(wire) => wire,
            Source::Auto => found.unwrap_or_else(|| detector.guess()),
        };
        let mut converter = Converter::new(from, self.to);
        let mut failed = None;
        for (number, offset, bytes, fault) in &first {
            let frame = Frame {
                number: *number,
                offset: *offset,
                bytes,
                fault: *fault,
            };
            failed = converter.line(&frame, &mut out.0.borrow_mut()).err();
            if failed.is_some() {
                break;
            }
        }
        while failed.is_none() {
            let Some(frame) = lines.next_line().map_err(unreadable)? else {
                break;
            };
            let mut ready = out.0.borrow_mut();
            failed = converter.line(&frame, &mut ready).err();
            let full = ready.len() >= BUFFER;
            drop(ready);
            if full {
                out.flush().map_err(Stop::Output)?;
            }
        }
        if let Some(error) = broken.take() {
            return Err(Stop::Output(error));
        }
        let nothing = failed.is_none() && !converter.has_begun();
        let report = converter.finish(&mut out.0.borrow_mut());
        out.flush().map_err(Stop::Output)?;
        if nothing {
            note(&format!(
                "quipu: {} holds no line of a stream: none was written",
                visible_line(&self.name())
            ));
        }
        self.tell(from, &report);
        match failed {
            Some(error) => Err(Stop::Input(format!("{}: {error}", self.name()))),
            None => Ok(()),
        }
    }

    /// What messages call the input.
    fn name(&self) -> String {
        if self.file == Path::new("-") {
            return "standard input".to_owned();
        }
        self.file.display().to_string()
    }

    /// That the lines so far are of another wire than was said.
    fn not_of(&self, wire: Wire, line: u64, detector: &Detector) -> String {
        let others = Wire::ALL.into_iter().filter(|wire| detector.may_be(*wire));
        let others: Vec<_> = others.map(Wire::name).collect();
        format!(
            "{}: line {line} is of the {} wire, not of {} as --from says",
            self.name(),
            others.join(" or "),
            wire.name()
        )
    }

    /// Lists what the conversion could not carry.
    fn tell(&self, from: Wire, report: &Report) {
        if report.interrupted {
            note("quipu: the recording ends before its stream does");
        }
        let entries: Vec<String> = report
            .entries()
            .map(|(loss, name, count)| {
                format!("  {} {} × {count}", loss.name(), visible_line(name))
            })
            .collect();
        if !entries.is_empty() {
            note(&format!(
                "quipu: from {} to {} not everything is the same:\n{}",
                from.name(),
                self.to.name(),
                entries.join("\n")
            ));
        }
        if report
            .entries()
            .any(|(loss, ..)| loss == Loss::Contradiction)
        {
            note("quipu: the recording contradicts itself; `quipu verify` finds where");
        }
    }
}
