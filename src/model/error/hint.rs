//! How long a service asks to wait before the next try.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

/// From `retry-after-ms` or `retry-after` (seconds or a date).
pub(super) fn from_headers(header: &dyn Fn(&str) -> Option<String>) -> Option<Duration> {
    let number = |name: &str| header(name)?.trim().parse::<f64>().ok();
    if let Some(ms) = number("retry-after-ms") {
        return duration(ms / 1000.0);
    }
    if let Some(seconds) = number("retry-after") {
        return duration(seconds);
    }
    let until = http_date(&header("retry-after")?)?;
    Some(until.duration_since(SystemTime::now()).unwrap_or_default())
}

/// From fields of the error, structured details (`"retryDelay":"34.5s"`), or words (`try again in
/// 1m2.5s`).
pub(super) fn from_body(error: &Value, message: &str, details: &str) -> Option<Duration> {
    if let Some(seconds) = error.get("retry_after").and_then(Value::as_f64) {
        return duration(seconds);
    }
    if let Some((_, rest)) = details.split_once("\"retryDelay\":\"") {
        return span(rest.split('"').next()?);
    }
    let lower = message.to_ascii_lowercase();
    let at = lower.find("try again in ")? + "try again in ".len();
    let word = lower[at..].split(|c: char| !c.is_ascii_alphanumeric() && c != '.');
    span(word.into_iter().next()?.trim_end_matches('.'))
}

fn duration(seconds: f64) -> Option<Duration> {
    // A wait of more than a day is as good as for ever, and a Duration cannot hold every float.
    (seconds.is_finite() && seconds >= 0.0)
        .then(|| Duration::from_secs_f64(seconds.min(10.0 * 86_400.0)))
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

/// A date in the one form that HTTP allows senders: `Sun, 06 Nov 1994 08:49:37 GMT`.
fn http_date(text: &str) -> Option<SystemTime> {
    let mut parts = text.split_whitespace().skip(1);
    let day: u64 = parts.next()?.parse().ok()?;
    let month = parts.next()?;
    let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let month = months.iter().position(|name| *name == month)? as u64 + 1;
    let year: u64 = parts.next()?.parse().ok()?;
    let mut clock = parts
        .next()?
        .split(':')
        .map(|part| part.parse::<u64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    if !(1970..=9999).contains(&year) || !(1..=31).contains(&day) || hour > 23 || minute > 59 {
        return None;
    }
    // Days of the proleptic Gregorian calendar, with years that begin in March.
    let (y, m) = if month <= 2 {
        (year - 1, month + 9)
    } else {
        (year, month - 3)
    };
    let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719_468;
    Some(UNIX_EPOCH + Duration::from_secs(days * 86_400 + hour * 3600 + minute * 60 + second))
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

    #[test]
    fn reads_dates() {
        let at = |seconds| Some(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(http_date("Sun, 06 Nov 1994 08:49:37 GMT"), at(784_111_777));
        assert_eq!(
            http_date("Thu, 29 Feb 2024 00:00:00 GMT"),
            at(1_709_164_800)
        );
        assert_eq!(http_date("Thu, 01 Jan 1970 00:00:00 GMT"), at(0));
        for bad in [
            "",
            "soon",
            "Sun, 06 Nov 94 08:49:37 GMT",
            "Sun, 06 Nov 1994 8 GMT",
        ] {
            assert_eq!(http_date(bad), None, "{bad}");
        }
    }

    #[test]
    fn numbers_no_duration_can_hold_are_no_hint() {
        for (text, wait) in [
            ("-1", None),
            ("NaN", None),
            ("inf", None),
            ("1e300", Some(864_000)),
        ] {
            let header = |name: &str| (name == "retry-after").then(|| text.to_owned());
            assert_eq!(
                from_headers(&header),
                wait.map(Duration::from_secs),
                "{text}"
            );
        }
    }
}
