//! Trading days: 261 weeks of five days each, Monday 2019-12-30 to Friday 2024-12-27.
//!
//! Fixed, so that the data depends on its scale, days and seed only.

/// Days with a row in `daily_market` for each security: five years of 261 days.
pub(super) const MARKET_DAYS: u32 = 1_305;
/// Days of the 52-week high and low.
pub(super) const YEAR: u32 = 261;

/// 2019-12-30 in days since 1970-01-01.
const FIRST: i32 = 18_260;

/// A second, in microseconds.
pub(super) const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;
/// Trading hours are 09:00 to 17:00.
pub(super) const OPEN_HOUR: i32 = 9;
const OPEN: i64 = OPEN_HOUR as i64 * 3_600 * SECOND;
pub(super) const CLOSE_HOUR: i32 = 17;
/// The length of a trading day: 8 hours.
pub(super) const TRADING: i64 = 8 * 3_600 * SECOND;

/// The date of trading day `day` (from 0), in days since 1970-01-01.
#[inline]
pub(super) const fn date(day: u32) -> i32 {
    FIRST + (day / 5 * 7 + day % 5) as i32
}

/// The opening time of trading day `day`, in microseconds since 1970-01-01.
#[inline]
pub(super) const fn opening(day: u32) -> i64 {
    date(day) as i64 * DAY + OPEN
}

/// The date of settlement: two trading days after `day`.
#[inline]
pub(super) const fn settled(day: u32) -> i32 {
    date(day + 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::civil;

    #[test]
    fn trading_days_are_five_years_of_weekdays() {
        assert_eq!(civil(date(0)), (2019, 12, 30));
        assert_eq!(civil(date(MARKET_DAYS - 1)), (2024, 12, 27));
        for day in 0..MARKET_DAYS {
            assert!(date(day + 1) > date(day));
            assert!((date(day) + 3) % 7 < 5, "day {day} is a weekday"); // 1970-01-01: Thursday
        }
        assert_eq!(civil(settled(MARKET_DAYS - 1)), (2024, 12, 31));
    }
}
