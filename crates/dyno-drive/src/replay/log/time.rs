//! Time stamps of logs. Only differences count, so a zone matters when it changes within a log.

/// One half hour: every zone differs from UTC by multiples of a quarter of an hour, and summer time
/// by half an hour or an hour.
const HALF_HOUR_MS: i64 = 30 * 60 * 1000;

/// The clock of a log: wall time to a time line without jumps.
#[derive(Debug, Default)]
pub struct Wall {
    zone: String,
    /// What the wall clock is ahead of the time line, ms.
    ahead_ms: i64,
    last_ms: Option<i64>,
}

impl Wall {
    /// Maps a wall time in ms since 1970 in `zone` to the time line, ns.
    ///
    /// A numeric zone (`+02`, `-03:30`) is exact. A change to or from a summer time, such as from CEST
    /// to CET, is one hour; between other zones it is the whole half hours that the wall clock jumped
    /// by.
    pub fn at_ns(&mut self, wall_ms: i64, zone: &str) -> i64 {
        if let Some(ahead_ms) = numeric(zone) {
            self.ahead_ms = ahead_ms;
        } else if self.last_ms.is_none() {
            // London changes between BST and GMT, Dublin between IST and GMT.
            self.ahead_ms = if is_summer(zone) || zone == "IST" { 2 * HALF_HOUR_MS } else { 0 };
        } else if zone != self.zone {
            let jump_ms = wall_ms - self.ahead_ms - self.last_ms.unwrap_or(wall_ms);
            let half = HALF_HOUR_MS / 2;
            // Elsewhere IST is standard time: in India all year, in Israel next to IDT.
            let dublin = self.zone == "GMT" && zone == "IST";
            self.ahead_ms += match (is_summer(&self.zone), is_summer(zone) || dublin) {
                (false, true) => 2 * HALF_HOUR_MS,
                (true, false) => -2 * HALF_HOUR_MS,
                _ => (jump_ms + half).div_euclid(HALF_HOUR_MS) * HALF_HOUR_MS,
            };
        }
        if zone != self.zone {
            zone.clone_into(&mut self.zone);
        }
        let at_ms = wall_ms - self.ahead_ms;
        self.last_ms = Some(at_ms);
        at_ms.saturating_mul(1_000_000)
    }
}

/// Whether a zone is a summer time of an hour, by its abbreviation in the tz database.
fn is_summer(zone: &str) -> bool {
    zone.len() > 2 && zone.ends_with("DT") || matches!(zone, "CEST" | "EEST" | "WEST" | "BST")
}

/// A zone such as `+02`, `-0330` or `+05:45`, in ms; `UTC`, `GMT` and `Z` are 0.
fn numeric(zone: &str) -> Option<i64> {
    if matches!(zone, "UTC" | "GMT" | "Z") {
        return Some(0);
    }
    let (sign, digits) = match zone.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let digits: String = digits.chars().filter(|one| *one != ':').collect();
    if !matches!(digits.len(), 2 | 4) || !digits.bytes().all(|one| one.is_ascii_digit()) {
        return None;
    }
    let (hours, minutes) = digits.split_at(2);
    let minutes: i64 = if minutes.is_empty() { 0 } else { minutes.parse().ok()? };
    let hours: i64 = hours.parse().ok()?;
    (hours <= 15 && minutes < 60).then(|| sign * (hours * 60 + minutes) * 60_000)
}

/// Splits `2026-11-26 14:42:30.123 CET` into ms since 1970 by the wall clock, and the zone.
pub fn stamp(text: &str) -> Option<(i64, &str)> {
    let (date, rest) = text.split_once(' ')?;
    let (time, zone) = rest.split_once(' ')?;
    if zone.is_empty() || zone.len() > 40 {
        return None;
    }
    Some((date_ms(date)? + time_ms(time)?, zone))
}

/// `2026-11-26T14:42:30.123456Z`, as in MySQL's log, in ns since 1970 by its own offset.
pub fn iso_ns(text: &str) -> Option<i64> {
    let (date, rest) = text.split_once('T')?;
    let end = rest.find(['Z', '+', '-'])?;
    let (time, zone) = rest.split_at(end);
    let (seconds, fraction) = time.split_once('.').unwrap_or((time, ""));
    let micros: i64 = match fraction.len() {
        0 => 0,
        6 => fraction.parse().ok()?,
        _ => return None,
    };
    let wall_ms = date_ms(date)? + time_ms(seconds)? - numeric(zone)?;
    Some(wall_ms * 1_000_000 + micros * 1_000)
}

/// `261126  9:42:30`, as in MariaDB's general log, in ms since 1970 by the wall clock.
pub fn short_ms(text: &str) -> Option<i64> {
    let (date, time) = text.split_at_checked(6)?;
    if !date.bytes().all(|one| one.is_ascii_digit()) {
        return None;
    }
    let (year, month_day) = date.split_at(2);
    let (month, day) = month_day.split_at(2);
    let civil = days(2000 + year.parse::<i64>().ok()?, month.parse().ok()?, day.parse().ok()?)?;
    Some(civil * 86_400_000 + time_ms(time.trim_start())?)
}

/// `2026-11-26` in ms.
fn date_ms(text: &str) -> Option<i64> {
    let mut parts = text.splitn(3, '-');
    let year = parts.next()?;
    if year.len() < 4 || year.len() > 6 {
        return None;
    }
    let (month, day) = (parts.next()?, parts.next()?);
    Some(days(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?)? * 86_400_000)
}

/// `14:42:30` or `14:42:30.123` in ms.
fn time_ms(text: &str) -> Option<i64> {
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, "000"));
    let mut parts = seconds.split(':');
    let mut next = |most: i64| {
        let part = parts.next()?;
        let plain = (1..=2).contains(&part.len()) && part.bytes().all(|one| one.is_ascii_digit());
        part.parse::<i64>().ok().filter(|value| plain && *value <= most)
    };
    // 60 is a leap second.
    let (hours, minutes, seconds) = (next(23)?, next(59)?, next(60)?);
    if parts.next().is_some() || fraction.len() > 3 || fraction.starts_with(['+', '-']) {
        return None;
    }
    let millis: i64 = fraction.parse().ok()?;
    let millis = millis * 10i64.pow(3 - fraction.len() as u32);
    Some(((hours * 60 + minutes) * 60 + seconds) * 1000 + millis)
}

/// Days since 1970-01-01 of a date in the Gregorian calendar (Howard Hinnant, "chrono-compatible
/// low-level date algorithms", days_from_civil).
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year - era * 400;
    let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: i64 = 1_000_000_000;

    #[test]
    fn stamps_of_all_kinds() {
        let utc = 1_795_704_150;
        assert_eq!(stamp("2026-11-26 14:42:30.123 UTC"), Some((utc * 1000 + 123, "UTC")));
        assert_eq!(iso_ns("2026-11-26T14:42:30.000007Z"), Some(utc * S + 7_000));
        assert_eq!(iso_ns("2026-11-26T16:42:30.000007+02:00"), Some(utc * S + 7_000));
        assert_eq!(short_ms("261126 14:42:30"), Some(utc * 1000));
        assert_eq!(short_ms("261126  4:42:30"), Some((utc - 36_000) * 1000));
        for wrong in [
            "",
            "2026-11-26",
            "2026-11-26 14:42:30.123",
            "2026-13-26 14:42:30.123 UTC",
            "2026-11-26 24:42:30.123 UTC",
            "2026-11-26 1a:42:30 UTC",
            "2026-11-26 14:42:30.-12 X",
        ] {
            assert_eq!(stamp(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn zones_shift_nothing_unless_they_change() {
        let mut wall = Wall::default();
        let start = wall.at_ns(5_000, "CEST");
        assert_eq!(wall.at_ns(6_000, "CEST") - start, S);
        // The end of summer time: the wall clock goes back an hour, and two seconds pass.
        assert_eq!(wall.at_ns(6_000 - 3_600_000 + 2_000, "CET") - start, 3 * S);
        // And the start of it.
        assert_eq!(wall.at_ns(9_000, "CEST") - start, 4 * S);
        // Zones that nobody knows shift by what the clock jumped.
        let mut wall = Wall::default();
        let start = wall.at_ns(5_000, "XST");
        assert_eq!(wall.at_ns(1_800_000 + 6_000, "YST") - start, S);
    }

    #[test]
    fn quiet_time_across_a_change_to_or_from_summer_time_counts() {
        const HOUR_MS: i64 = 3_600_000;
        for (summer, winter) in [
            ("CEST", "CET"),
            ("EDT", "EST"),
            ("BST", "GMT"),
            ("IST", "GMT"),
            ("IDT", "IST"),
            ("AEDT", "AEST"),
        ] {
            let mut wall = Wall::default();
            let start = wall.at_ns(10 * HOUR_MS, summer);
            // Four hours, of which the wall clock shows three; then twenty minutes back and forth.
            assert_eq!(wall.at_ns(13 * HOUR_MS, winter) - start, 4 * 3600 * S, "{winter}");
            assert_eq!(
                wall.at_ns(14 * HOUR_MS + 1_200_000, summer) - start,
                4 * 3600 * S + 1200 * S
            );
            assert_eq!(
                wall.at_ns(13 * HOUR_MS + 2_400_000, winter) - start,
                4 * 3600 * S + 2400 * S
            );
        }
    }

    #[test]
    fn numeric_zones_are_exact() {
        let mut wall = Wall::default();
        assert_eq!(wall.at_ns(7_200_000, "+02"), 0);
        assert_eq!(wall.at_ns(-12_600_000, "-0330"), 0);
        assert_eq!(wall.at_ns(20_700_000, "+05:45"), 0);
        assert_eq!(wall.at_ns(1_000, "GMT"), S);
    }
}
