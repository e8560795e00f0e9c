//! `quipu sample`: a stream that holds everything, for whoever writes a reader.

use std::io::{self, BufWriter};
use std::process::ExitCode;

use clap::Args;

use crate::cli::args;
use crate::wire::Wire;

/// The arguments of `quipu sample`.
#[derive(Debug, Args)]
#[command(
    after_help = "The same seed gives the same bytes, for ever. Every sample holds everything, except what a stream \
                  has only once: even seeds number and date each line (`seq` and `at`, native wire), have a plain header and \
                  end well; odd seeds have all optional fields of the header and end in an error."
)]
pub(in crate::cli) struct Sample {
    /// The form of the event stream
    #[arg(long, value_parser = args::wire(), default_value = "quipu")]
    wire: Wire,

    /// Other texts, numbers, pieces and orders
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        allow_negative_numbers = true
    )]
    seed: u64,

    /// Go on until there are about so many deltas, for streams of any size
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        allow_negative_numbers = true
    )]
    deltas: u64,
}

impl Sample {
    /// Writes the sample.
    pub(in crate::cli) fn run(&self) -> ExitCode {
        let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
        let sample = crate::sample::Sample::new(self.wire)
            .seed(self.seed)
            .deltas(self.deltas);
        super::printed(sample.write(&mut out))
    }
}
