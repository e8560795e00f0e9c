//! Conversion as a fuzz target.

use super::{Converter, Loss, Report};
use crate::contract::Wire;
use crate::contract::lines::Lines;
use crate::event::tracker::{OrderFault, Tracker};
use crate::event::{DrebEvent, QuipuEvent, SenpiEvent};

/// A recording: whatever stands in it, it becomes lines of the target's type on every wire, and those
/// of a native target are in order but for what contradicted itself.
///
/// # Panics
/// When that does not hold.
#[allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a target says by a panic that something is wrong"
)]
pub fn convert(data: &[u8]) {
    for from in Wire::ALL {
        for to in Wire::ALL {
            let mut converter = Converter::new(from, to);
            let mut out = Vec::new();
            let mut lines = Lines::new(data);
            while let Some(frame) = lines.next_line().unwrap() {
                if converter.line(&frame, &mut out).is_err() {
                    break;
                }
            }
            let report = converter.finish(&mut out);
            let text = std::str::from_utf8(&out).expect("lines are UTF-8");
            assert!(text.is_empty() || text.ends_with('\n'), "a line is cut");
            for line in text.lines() {
                let read = match to {
                    Wire::Quipu => serde_json::from_str::<QuipuEvent>(line).map(drop),
                    Wire::Senpi => serde_json::from_str::<SenpiEvent>(line).map(drop),
                    Wire::Dreb => serde_json::from_str::<DrebEvent>(line).map(drop),
                };
                if let Err(error) = read {
                    panic!("from {} to {}: {error}: {line}", from.name(), to.name());
                }
            }
            if to == Wire::Quipu && from != to {
                in_order(text, &report);
            }
        }
    }
}

/// A native stream is in order; only what contradicted itself still does.
#[allow(clippy::unwrap_used, reason = "the lines were read before")]
pub(crate) fn in_order(text: &str, report: &Report) {
    let mut tracker = Tracker::default();
    for line in text.lines() {
        let Err(error) = tracker.observe(&serde_json::from_str::<QuipuEvent>(line).unwrap()) else {
            continue;
        };
        let kept = matches!(
            error.fault,
            OrderFault::Differs { .. } | OrderFault::Message(_)
        ) && report.count(Loss::Contradiction, error.event) > 0;
        assert!(kept, "{error}: {line}");
    }
}
