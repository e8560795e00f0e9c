//! When each line is due.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::contract::json::Value;
use crate::contract::moment::Moment;

/// Lines without a time that are kept waiting for one; more are not spread but written at once.
const STRETCH: usize = 1 << 20;
/// How far behind its time the writing may be and still catch up. Beyond that, what made it late (a
/// reader that takes nothing) moves all the rest.
const SLACK: Duration = Duration::from_millis(50);
/// As good as for ever, and within what clocks can add.
const NEVER: Duration = Duration::from_hours(365 * 24);

/// How fast a recording is played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// Without any gap.
    Instant,
    /// By the times that the recording has.
    Timed {
        /// How many times as fast; above 0.
        speed: f64,
        /// The longest gap before a line, at speed 1; `None` for any length.
        max_gap: Option<Duration>,
    },
}

impl Pace {
    /// How long to wait for a gap of the recording.
    #[must_use]
    pub fn wait(self, gap: Duration) -> Duration {
        let Self::Timed { speed, max_gap } = self else {
            return Duration::ZERO;
        };
        let gap = max_gap.map_or(gap, |most| gap.min(most));
        let seconds = gap.as_secs_f64() / speed;
        Duration::try_from_secs_f64(seconds).map_or(NEVER, |wait| wait.min(NEVER))
    }
}

/// What a line tells of when it was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// Its time, in ms since 1970.
    pub time: Option<u64>,
    /// How much of a stretch without times goes by before it.
    pub share: Share,
    /// The ms that are waited after it, as it says itself.
    pub announces: Option<u64>,
}

/// The part of a line in a stretch without times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Share {
    /// It follows the line before it at once.
    #[default]
    None,
    /// Something goes on before it: a piece of an answer, the end of a tool.
    Equal,
    /// So many ms, which the line before it announced.
    Ms(u64),
}

impl Mark {
    /// The mark of a line.
    #[must_use]
    pub fn of(line: Value<'_, '_>) -> Self {
        let kind = line.get("type").and_then(Value::as_str).unwrap_or_default();
        let share = match kind {
            "message_update"
            | "message_end"
            | "tool_execution_update"
            | "tool_execution_end"
            | "tool_hook_status"
            | "compaction_progress"
            | "compaction_end"
            | "auto_compaction_end"
            | "background_agent_event"
            | "background_agent_end" => Share::Equal,
            _ => Share::None,
        };
        let waits = matches!(kind, "auto_retry_start" | "summarization_retry_scheduled");
        let delay = || line.get("delayMs").and_then(Value::as_u64);
        Self {
            time: Moment::of(line).map(Moment::ms),
            share,
            announces: waits.then(delay).flatten(),
        }
    }
}

/// The gaps before lines, from what the lines tell.
///
/// The time between two lines that tell theirs is spread over what lies between: a retry waits as long
/// as it said, the rest goes in equal parts before each line that took time and before the line that
/// ends the stretch. A time before the last one makes no gap, and later times count from it.
#[derive(Clone, Debug, Default)]
pub struct Gaps {
    ready: VecDeque<Duration>,
    stretch: Vec<Share>,
    /// The latest time that was told.
    known: Option<u64>,
    /// What the line before announced.
    announced: Option<u64>,
}

impl Gaps {
    /// Takes the mark of the next line.
    pub fn push(&mut self, mark: Mark) {
        let share = match self.announced.take() {
            Some(ms) => Share::Ms(ms),
            None => mark.share,
        };
        self.announced = mark.announces;
        self.stretch.push(share);
        if let Some(time) = mark.time {
            let whole = self.known.map_or(0, |known| time.saturating_sub(known));
            self.known = Some(time);
            self.settle(whole);
        } else if self.stretch.len() >= STRETCH {
            self.settle(0);
        }
    }

    /// No further line comes.
    pub fn finish(&mut self) {
        self.settle(0);
    }

    /// The gap before the next line, once it can be told.
    pub fn pop(&mut self) -> Option<Duration> {
        self.ready.pop_front()
    }

    /// Spreads so many ms over the stretch.
    fn settle(&mut self, whole: u64) {
        if let Some(share @ Share::None) = self.stretch.last_mut() {
            *share = Share::Equal;
        }
        let mut left = Duration::from_millis(whole);
        let mut gaps = vec![Duration::ZERO; self.stretch.len()];
        for (gap, share) in gaps.iter_mut().zip(&self.stretch) {
            if let Share::Ms(ms) = share {
                *gap = Duration::from_millis(*ms).min(left);
                left -= *gap;
            }
        }
        let equal = |share: &&Share| **share == Share::Equal;
        let parts = self.stretch.iter().filter(equal).count();
        let part = left / u32::try_from(parts.max(1)).unwrap_or(u32::MAX);
        for (gap, _) in gaps
            .iter_mut()
            .zip(&self.stretch)
            .filter(|(_, share)| equal(share))
        {
            *gap = part;
        }
        self.stretch.clear();
        self.ready.extend(gaps);
    }
}

/// From gaps to points in time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    due: Option<Instant>,
}

impl Clock {
    /// When the next line is due, `wait` after the one before.
    pub fn due(&mut self, wait: Duration, now: Instant) -> Instant {
        let late = now.checked_sub(SLACK).unwrap_or(now);
        let before = self.due.map_or(now, |due| due.max(late));
        let due = before + wait.min(NEVER);
        self.due = Some(due);
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(share: Share) -> Mark {
        Mark {
            share,
            ..Mark::default()
        }
    }

    fn at(time: u64) -> Mark {
        Mark {
            time: Some(time),
            ..Mark::default()
        }
    }

    fn gaps(marks: &[Mark]) -> Vec<u128> {
        let mut gaps = Gaps::default();
        for mark in marks {
            gaps.push(*mark);
        }
        gaps.finish();
        let gaps: Vec<u128> = std::iter::from_fn(|| gaps.pop())
            .map(|gap| gap.as_millis())
            .collect();
        assert_eq!(gaps.len(), marks.len());
        gaps
    }

    #[test]
    fn stamps_are_taken_as_they_are() {
        assert_eq!(gaps(&[at(5), at(5), at(25), at(26)]), [0, 0, 20, 1]);
    }

    #[test]
    fn a_stretch_is_spread_over_what_took_time() {
        let (none, equal) = (line(Share::None), line(Share::Equal));
        let marks = [none, at(100), none, equal, equal, none, at(400), none];
        assert_eq!(gaps(&marks), [0, 0, 0, 100, 100, 0, 100, 0]);
        assert_eq!(gaps(&[none, equal]), [0, 0], "nothing tells a time");
    }

    #[test]
    fn a_retry_waits_as_it_said() {
        let (none, equal) = (line(Share::None), line(Share::Equal));
        let retry = Mark {
            announces: Some(2000),
            ..none
        };
        assert_eq!(
            gaps(&[at(0), retry, none, equal, at(2300)]),
            [0, 0, 2000, 150, 150]
        );
        assert_eq!(
            gaps(&[at(0), retry, none, at(500)]),
            [0, 0, 500, 0],
            "no more than there was"
        );
    }

    #[test]
    fn times_that_jump_back_or_far_make_no_harm() {
        assert_eq!(gaps(&[at(100), at(40), at(60)]), [0, 0, 20]);
        let wild = gaps(&[at(0), at(u64::MAX), at(1), at(3)]);
        assert_eq!((wild[0], wild[2], wild[3]), (0, 0, 2));
    }

    #[test]
    fn a_stretch_without_end_is_not_kept() {
        let mut gaps = Gaps::default();
        gaps.push(at(0));
        assert!(gaps.pop().is_some());
        for _ in 0..STRETCH {
            gaps.push(line(Share::Equal));
        }
        assert_eq!(gaps.pop(), Some(Duration::ZERO));
    }

    #[test]
    fn speed_and_the_longest_gap() {
        let second = Duration::from_secs(1);
        let timed = |speed, most: Option<u64>| Pace::Timed {
            speed,
            max_gap: most.map(Duration::from_secs),
        };
        assert_eq!(timed(2.0, None).wait(second), second / 2);
        assert_eq!(timed(0.5, None).wait(second), second * 2);
        assert_eq!(timed(0.5, Some(3)).wait(second * 3600), second * 6);
        assert_eq!(timed(1.0, None).wait(Duration::MAX), NEVER);
        assert_eq!(timed(f64::MIN_POSITIVE, None).wait(second), NEVER);
        assert_eq!(timed(f64::MAX, None).wait(second), Duration::ZERO);
        assert_eq!(Pace::Instant.wait(second), Duration::ZERO);
    }

    #[test]
    fn a_late_line_is_caught_up_and_a_long_stop_moves_the_rest() {
        let begin = Instant::now() + NEVER;
        let ms = Duration::from_millis;
        let mut clock = Clock::default();
        assert_eq!(clock.due(ms(10), begin), begin + ms(10));
        assert_eq!(clock.due(ms(10), begin + ms(30)), begin + ms(20));
        let stopped = begin + ms(5000);
        assert_eq!(clock.due(ms(100), stopped), stopped + ms(50));
    }

    #[test]
    fn what_lines_are_marked_with() {
        use crate::contract::json::Document;
        let of = |line| Mark::of(Document::read(line, Document::default()).unwrap().root());
        assert_eq!(
            of(r#"{"type":"auto_retry_start","delayMs":7}"#).announces,
            Some(7)
        );
        assert_eq!(of(r#"{"type":"message_update"}"#), line(Share::Equal));
        assert_eq!(of(r#"{"type":"turn_start","delayMs":7}"#), Mark::default());
        assert_eq!(of(r#"{"type":"turn_start","at":7}"#), at(7));
        assert_eq!(of("[]"), Mark::default());
    }
}
