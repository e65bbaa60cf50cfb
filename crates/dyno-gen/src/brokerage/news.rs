//! News about companies.

use std::ops::Range;

use dyno_record::Result;

use super::Brokerage;
use super::calendar::{MARKET_DAYS, TRADING, opening};
use super::draws::{Draws, Use};
use super::people::Customer;
use super::pools::news::{CIRCUMSTANCES, OBJECTS, REMARKS, SOURCES, VERBS};
use super::securities::company_name;
use crate::sink::RowSink;

pub(super) const PER_COMPANY: u64 = 2;

/// Characters of headline and summary, and the range of those of an item.
const HEADLINE: usize = 80;
const SUMMARY: usize = 255;
const SHORTEST: i64 = 2_000;
const LONGEST: i64 = 9_500;

pub(super) fn items(size: &Brokerage, rows: Range<u64>, sink: &mut impl RowSink) -> Result<u64> {
    let (mut name, mut text) = (String::new(), String::new());
    for company in rows.clone() {
        name.clear();
        company_name(size.seed, company, &mut name);
        for number in 1..=PER_COMPANY {
            let id = company * PER_COMPANY + number;
            let mut draws = Draws::new(size.seed, Use::News, id);
            let length = draws.between(SHORTEST, LONGEST) as usize;
            text.clear();
            while text.len() < length {
                sentence(&mut draws, &name, &mut text);
            }
            sink.begin_row();
            sink.int64(id as i64);
            sink.text(words(&text, HEADLINE));
            sink.text(words(&text, SUMMARY));
            sink.text(&text);
            // On one of the last 100 trading days.
            let day = MARKET_DAYS - 1 - draws.below(100);
            sink.timestamp(opening(day) + draws.between(0, TRADING - 1));
            sink.text(draws.of(&SOURCES));
            if draws.percent(80) {
                text.clear();
                Customer::new(draws.next(), 1).name(&mut text);
                sink.text(&text);
            } else {
                sink.null();
            }
            sink.end_row()?;
        }
    }
    Ok((rows.end - rows.start) * PER_COMPANY)
}

/// Appends a sentence, sometimes with a remark.
fn sentence(draws: &mut Draws, name: &str, text: &mut String) {
    if !text.is_empty() {
        text.push(' ');
    }
    let subjects = [name, "The company", "It", "Its management"];
    let subject = if text.is_empty() { name } else { draws.of(&subjects) };
    for part in [subject, draws.of(&VERBS), draws.of(&OBJECTS)] {
        text.push_str(part);
        text.push(' ');
    }
    text.push_str(draws.of(&CIRCUMSTANCES));
    text.push('.');
    if draws.percent(50) {
        text.push(' ');
        text.push_str(draws.of(&REMARKS));
    }
}

/// The whole words at the start of a text, at most `length` characters.
fn words(text: &str, length: usize) -> &str {
    let cut = text.get(..=length).and_then(|start| start.rfind(' ')).unwrap_or(text.len());
    &text[..cut]
}

pub(super) fn references(rows: Range<u64>, sink: &mut impl RowSink) -> Result<u64> {
    for company in rows.clone() {
        for number in 1..=PER_COMPANY {
            sink.begin_row();
            sink.int64((company * PER_COMPANY + number) as i64);
            sink.int64(company as i64 + 1);
            sink.end_row()?;
        }
    }
    Ok((rows.end - rows.start) * PER_COMPANY)
}
