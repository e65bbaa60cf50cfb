//! Days since 1970-01-01 as dates of the Gregorian calendar.

use super::digits::pair;

/// Year, month and day of a day number.
///
/// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`.
#[inline]
pub fn civil(days: i32) -> (u32, u32, u32) {
    // Eras of 400 years, which start on 1 March of year 0.
    let shifted = i64::from(days) + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097) as u32;
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = (i64::from(year_of_era) + era * 400) as u32 + u32::from(month <= 2);
    (year, month, day)
}

/// `YYYY-MM-DD`, for years 0 to 9999.
#[inline]
pub fn date_text(days: i32) -> [u8; 10] {
    let (year, month, day) = civil(days);
    let mut text = *b"0000-00-00";
    text[..2].copy_from_slice(&pair(year / 100 % 100));
    text[2..4].copy_from_slice(&pair(year % 100));
    text[5..7].copy_from_slice(&pair(month));
    text[8..].copy_from_slice(&pair(day));
    text
}

/// `YYYY-MM-DD HH:MM:SS.ffffff`; the caller may cut off the fraction (the last 7 bytes).
pub fn timestamp_text(micros: i64) -> [u8; 26] {
    const DAY: i64 = 86_400_000_000;
    let mut text = *b"0000-00-00 00:00:00.000000";
    text[..10].copy_from_slice(&date_text(micros.div_euclid(DAY) as i32));
    let within = micros.rem_euclid(DAY);
    let (seconds, fraction) = ((within / 1_000_000) as u32, (within % 1_000_000) as u32);
    for (at, value) in [
        (11, seconds / 3600),
        (14, seconds / 60 % 60),
        (17, seconds % 60),
        (20, fraction / 10_000),
        (22, fraction / 100 % 100),
        (24, fraction % 100),
    ] {
        text[at..at + 2].copy_from_slice(&pair(value));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_days() {
        for (days, text) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (10_957, "2000-01-01"),
            (11_016, "2000-02-29"),
            (8_035, "1992-01-01"),
            (-25_509, "1900-02-28"),
            (-25_508, "1900-03-01"),
            (2_932_896, "9999-12-31"),
        ] {
            assert_eq!(date_text(days), text.as_bytes(), "{text}");
        }
    }

    #[test]
    fn every_day_follows_the_one_before() {
        let mut last = civil(-200_000);
        for days in -199_999..200_000 {
            let next = civil(days);
            let (year, month, day) = last;
            assert!(
                next == (year, month, day + 1)
                    || (day >= 28 && next == (year, month + 1, 1))
                    || ((month, day) == (12, 31) && next == (year + 1, 1, 1)),
                "{last:?} then {next:?}"
            );
            last = next;
        }
    }

    #[test]
    fn the_time_of_day_is_told_to_the_microsecond() {
        assert_eq!(&timestamp_text(-1), b"1969-12-31 23:59:59.999999");
        assert_eq!(&timestamp_text(45_296_000_001), b"1970-01-01 12:34:56.000001");
    }
}
