//! What a trade costs, and what it pays.

/// Commission of a broker, rounded to hundredths: `rate` is in hundredths of a percent.
pub const fn commission_cents(shares: i32, cents: i64, rate: i64) -> i64 {
    (shares as i64 * cents * rate + 5_000) / 10_000
}

/// What a trade changes in the account's cash, hundredths: its value, less the fees, and less the
/// tax on a gain if it is withheld.
pub const fn settled_cents(sells: bool, value_cents: i64, fees_cents: i64, tax_cents: i64) -> i64 {
    (if sells { value_cents } else { -value_cents }) - fees_cents - tax_cents
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_a_trade() {
        // 200 shares at 25.00 and 0.40 %: 5,000.00 and 20.00.
        assert_eq!(commission_cents(200, 2_500, 40), 2_000);
        assert_eq!(settled_cents(false, 500_000, 2_300, 0), -502_300);
        assert_eq!(settled_cents(true, 500_000, 2_300, 1_000), 496_700);
    }
}
