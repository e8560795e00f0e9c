//! How long a service asks to wait before the next try.

use std::time::{Duration, SystemTime};

use serde_json::Value;

/// A wait of more than this is as good as for ever; in seconds.
const LONGEST: f64 = 10.0 * 86_400.0;

/// From `retry-after-ms` or `retry-after` (seconds or a date). One that makes no sense is none.
pub(super) fn from_headers(header: &dyn Fn(&str) -> Option<String>) -> Option<Duration> {
    let number = |name: &str| header(name)?.trim().parse::<f64>().ok();
    number("retry-after-ms")
        .and_then(|ms| duration(ms / 1000.0))
        .or_else(|| number("retry-after").and_then(duration))
        .or_else(|| date(header("retry-after")?.trim()))
}

/// From fields of the error, structured details (`"retryDelay":"34.5s"`), or words (`try again in
/// 1m2.5s`).
pub(super) fn from_body(error: &Value, message: &str, details: &str) -> Option<Duration> {
    let field = || match error.get("retry_after")? {
        Value::String(text) => seconds_or_span(text.trim()),
        value => duration(value.as_f64()?),
    };
    let detail = || {
        let (_, rest) = details.split_once("\"retryDelay\":\"")?;
        span(rest.split('"').next()?)
    };
    let words = || {
        let lower = message.to_ascii_lowercase();
        let at = lower.find("try again in ")? + "try again in ".len();
        let word = lower[at..].split(|c: char| !c.is_ascii_alphanumeric() && c != '.');
        span(word.into_iter().next()?.trim_end_matches('.'))
    };
    field().or_else(detail).or_else(words)
}

fn seconds_or_span(text: &str) -> Option<Duration> {
    text.parse().map_or_else(|_| span(text), duration)
}

/// To the millisecond; a `Duration` cannot hold every float.
fn duration(seconds: f64) -> Option<Duration> {
    (seconds.is_finite() && seconds >= 0.0)
        .then(|| Duration::from_secs_f64((seconds.min(LONGEST) * 1000.0).round() / 1000.0))
}

/// The time until a date in one of the three forms that HTTP knows.
fn date(text: &str) -> Option<Duration> {
    let until = httpdate::parse_http_date(text).ok()?;
    let wait = until.duration_since(SystemTime::now()).unwrap_or_default();
    // Whole seconds, as such a date has; else the last try would come a moment too early.
    duration(wait.as_secs_f64().ceil())
}

/// A span such as `20ms`, `7.66s`, `1m30s` or `2h5m`.
fn span(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut total = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        let after = &rest[digits..];
        let unit_end = after
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(after.len());
        total += number
            * match &after[..unit_end] {
                "ms" => 0.001,
                "s" => 1.0,
                "m" => 60.0,
                "h" => 3600.0,
                "d" => 86_400.0,
                _ => return None,
            };
        rest = &after[unit_end..];
    }
    if text.is_empty() {
        None
    } else {
        duration(total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_spans() {
        for (text, ms) in [
            ("20ms", 20),
            ("1s", 1000),
            ("7.66s", 7660),
            ("1m30s", 90_000),
        ] {
            assert_eq!(span(text), Some(Duration::from_millis(ms)), "{text}");
        }
        for bad in ["", "s", "1", "soon", "1x", "..s"] {
            assert_eq!(span(bad), None, "{bad}");
        }
    }

    fn wait(headers: &[(&str, &str)]) -> Option<Duration> {
        from_headers(&|wanted| {
            let (_, value) = headers.iter().find(|(name, _)| *name == wanted)?;
            Some((*value).to_owned())
        })
    }

    #[test]
    fn reads_dates_in_all_forms() {
        for past in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "Thu, 01 Jan 1970 00:00:00 GMT",
        ] {
            assert_eq!(
                wait(&[("retry-after", past)]),
                Some(Duration::ZERO),
                "{past}"
            );
        }
        let soon = SystemTime::now() + Duration::from_secs(100);
        let hint = wait(&[("retry-after", &httpdate::fmt_http_date(soon))]).unwrap();
        assert!((90..=100).contains(&hint.as_secs()), "{hint:?}");
        assert_eq!(hint.subsec_nanos(), 0);
        let far = wait(&[("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT")]);
        assert_eq!(far, Some(Duration::from_secs_f64(LONGEST)));
    }

    #[test]
    fn a_date_that_is_none_is_no_hint() {
        for bad in [
            "",
            "soon",
            "Sun, 06 Nov 94 08:49:37 GMT",
            "Sun, 06 Nov 1994 8 GMT",
            "Sun, 06 Nov 1994 08:49:9223372036854775807 GMT",
            "Sun, 06 Nov 1994 08:49:18446744073709551615 GMT",
            "Sun, 06 Nov 1994 9223372036854775807:49:37 GMT",
            "Sun, 18446744073709551615 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 18446744073709551615 08:49:37 GMT",
        ] {
            assert_eq!(wait(&[("retry-after", bad)]), None, "{bad}");
        }
    }

    #[test]
    fn numbers_no_duration_can_hold_are_no_hint() {
        for (text, seconds) in [
            ("-1", None),
            ("NaN", None),
            ("inf", None),
            ("1e300", Some(864_000)),
        ] {
            let seconds = seconds.map(Duration::from_secs);
            assert_eq!(wait(&[("retry-after", text)]), seconds, "{text}");
            let field = serde_json::json!({ "retry_after": text });
            assert_eq!(from_body(&field, "", ""), seconds, "{text}");
        }
    }

    #[test]
    fn a_hint_that_makes_no_sense_hides_no_other() {
        for bad in ["NaN", "-1", "inf", "soon", ""] {
            let headers = [("retry-after-ms", bad), ("retry-after", "1")];
            assert_eq!(wait(&headers), Some(Duration::from_secs(1)), "{bad}");
            let error = serde_json::json!({ "retry_after": bad });
            let words = "Try again in 2s.";
            let seconds = Some(Duration::from_secs(2));
            assert_eq!(from_body(&error, words, ""), seconds, "{bad}");
            let detail = format!("{{\"retryDelay\":\"{bad}\"}}");
            assert_eq!(from_body(&error, words, &detail), seconds, "{bad}");
        }
    }

    #[test]
    fn a_field_may_be_a_text() {
        for (text, ms) in [("1", 1000), (" 1.5 ", 1500), ("20ms", 20), ("1m", 60_000)] {
            let error = serde_json::json!({ "retry_after": text });
            let wait = Some(Duration::from_millis(ms));
            assert_eq!(from_body(&error, "", ""), wait, "{text}");
        }
        assert_eq!(duration(1.234_567_8), Some(Duration::from_millis(1235)));
    }
}
