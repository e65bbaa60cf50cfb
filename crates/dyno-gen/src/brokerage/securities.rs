//! Companies and their securities: numbers, symbols and names.

use std::fmt::Write as _;

use super::draws::{Use, hash};
use super::pools::companies::{FIRST, INDUSTRIES, LAST};

/// Preferred stock of 100 companies: 137 securities, with the common stock of each.
const PREFERRED: u64 = 37;

/// Symbols of four letters. Further companies have five.
const FOUR_LETTERS: u64 = 26 * 26 * 26 * 26;

/// Combinations of the words of company names in an industry.
const NAMES: u64 = (FIRST.len() * LAST.len()) as u64;

/// The number of securities of the first `companies` companies.
#[inline]
pub(super) const fn securities(companies: u64) -> u64 {
    companies + companies * PREFERRED / 100
}

/// The company of a security, both from 0, and whether the security is its preferred stock.
#[inline]
pub(super) fn company_of(security: u64) -> (u64, bool) {
    let mut company = security * 100 / (100 + PREFERRED);
    while securities(company + 1) <= security {
        company += 1;
    }
    (company, security > securities(company))
}

/// `s_issue` of common and of preferred stock.
pub(super) const fn issue(preferred: bool) -> &'static str {
    if preferred { "PREF_A" } else { "COMMON" }
}

/// The symbol of a security.
#[derive(Debug, Clone, Copy)]
pub(super) struct Symbol {
    text: [u8; 7],
    length: u8,
}

impl Symbol {
    pub(super) fn new(security: u64) -> Self {
        let (company, preferred) = company_of(security);
        let mut symbol = Self { text: *b"ZZZZZZZ", length: 0 };
        // A multiplier without a common factor with 26 permutes all words of a length.
        let (letters, mut word) = match company.checked_sub(FOUR_LETTERS) {
            None => (4, (company * 123_457 + 40_009) % FOUR_LETTERS),
            Some(rest) => (5, (rest * 7_654_321 + 40_009) % (FOUR_LETTERS * 26)),
        };
        for _ in 0..letters {
            symbol.push(b'A' + (word % 26) as u8);
            word /= 26;
        }
        if preferred {
            symbol.push(b'.');
            symbol.push(b'A');
        }
        symbol
    }

    fn push(&mut self, letter: u8) {
        self.text[usize::from(self.length)] = letter;
        self.length += 1;
    }

    #[inline]
    pub(super) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.text[..usize::from(self.length)]).expect("symbols are ASCII")
    }
}

/// The index of a company's industry.
pub(super) const fn industry(company: u64) -> usize {
    (company % INDUSTRIES.len() as u64) as usize
}

/// Appends the name of a company, which is unique: the words of an industry's names are permuted,
/// and later companies have a number.
pub(super) fn company_name(seed: u64, company: u64, text: &mut String) {
    let (industry, place) = (industry(company), company / INDUSTRIES.len() as u64);
    let shift = hash(seed, Use::Company, industry as u64) % NAMES;
    let name = (place * 477 + shift) % NAMES;
    let (first, last) = (name / LAST.len() as u64, name % LAST.len() as u64);
    text.push_str(FIRST[first as usize]);
    text.push(' ');
    text.push_str(INDUSTRIES[industry].2);
    if place >= NAMES {
        write!(text, " {}", place / NAMES + 1).expect("text takes all");
    }
    text.push(' ');
    text.push_str(LAST[last as usize]);
}

/// Appends the name of a security.
pub(super) fn security_name(seed: u64, security: u64, text: &mut String) {
    let (company, preferred) = company_of(security);
    company_name(seed, company, text);
    text.push_str(if preferred { " Preferred Stock A" } else { " Common Stock" });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn securities_are_685_of_500_companies_and_know_their_company() {
        assert_eq!([50, 100, 500, 5_000].map(securities), [68, 137, 685, 6_850]);
        let mut expected = 0;
        for company in 0..2_000 {
            assert_eq!(company_of(expected), (company, false));
            if securities(company + 1) == expected + 2 {
                assert_eq!(company_of(expected + 1), (company, true));
            }
            expected = securities(company + 1);
        }
    }

    #[test]
    fn symbols_and_names_are_unique_and_fit() {
        let last = securities(FOUR_LETTERS);
        let some = (0..20_000).chain(last - 500..last + 500);
        let mut symbols = HashSet::new();
        let mut names = HashSet::new();
        for security in some {
            assert!(symbols.insert(Symbol::new(security).as_str().to_owned()), "{security}");
            let mut name = String::new();
            security_name(3, security, &mut name);
            assert!(name.len() <= 70 && names.insert(name), "{security}");
        }
    }
}
