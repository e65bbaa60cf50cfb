//! A table as text, for checks of its values.

use std::collections::{HashMap, HashSet};

use dyno_gen::Dataset;
use dyno_gen::sink::{TextFormat, TextSink};
use dyno_record::Control;

/// The rows of a table as text fields by column.
pub struct Table {
    pub columns: HashMap<&'static str, usize>,
    pub rows: Vec<Vec<String>>,
}

impl Table {
    pub fn of(data: &Dataset, name: &str) -> Self {
        let schema = data.table(name).unwrap();
        let mut text = Vec::new();
        let mut sink = TextSink::new(TextFormat::Tbl, |chunk: &[u8]| {
            text.extend_from_slice(chunk);
            Ok(())
        });
        let part = data.part(name, 0, 1).unwrap();
        let written = data.write(&part, &mut sink, &Control::new()).unwrap();
        sink.finish().unwrap();
        let rows: Vec<Vec<_>> = String::from_utf8(text)
            .unwrap()
            .lines()
            .map(|line| line.strip_suffix('|').unwrap().split('|').map(str::to_owned).collect())
            .collect();
        assert!(rows.iter().all(|row| row.len() == schema.columns.len()));
        assert_eq!(rows.len() as u64, written);
        let count = data.row_count(name).unwrap();
        assert_eq!((count.count, count.exact), (written, true), "{name}");
        let columns = schema.columns.iter().enumerate().map(|(i, column)| (column.name, i));
        let table = Self { columns: columns.collect(), rows };
        table.assert_key(schema.primary_key);
        table
    }

    fn assert_key(&self, key: &[&str]) {
        let key: Vec<_> = key.iter().map(|name| self.columns[name]).collect();
        let distinct: HashSet<Vec<&str>> = self
            .rows
            .iter()
            .map(|row| key.iter().map(|column| row[*column].as_str()).collect())
            .collect();
        assert!(key.is_empty() || distinct.len() == self.rows.len(), "keys are unique");
    }

    pub fn texts(&self, column: &str) -> impl Iterator<Item = &str> {
        let column = self.columns[column];
        self.rows.iter().map(move |row| row[column].as_str())
    }

    /// Numbers without their decimal point: hundredths for money.
    pub fn numbers(&self, column: &str) -> impl Iterator<Item = i64> {
        self.texts(column).map(|text| text.replace('.', "").parse().unwrap())
    }

    pub fn assert_all(&self, column: &str, expected: &str) {
        assert!(self.texts(column).all(|text| text == expected), "{column} is {expected}");
    }

    pub fn assert_between(&self, column: &str, low: i64, high: i64) {
        let (least, most) = (self.numbers(column).min(), self.numbers(column).max());
        assert!(least >= Some(low) && most <= Some(high), "{column} is {least:?} to {most:?}");
        // Enough rows to reach both ends of a short range.
        if self.rows.len() as i64 > 20 * (high - low + 1) {
            assert_eq!((least, most), (Some(low), Some(high)), "{column}");
        }
    }

    pub fn assert_lengths(&self, column: &str, low: usize, high: usize) {
        let fits = |text: &str| (low..=high).contains(&text.len());
        assert!(self.texts(column).all(fits), "{column} has {low} to {high} characters");
    }

    /// About one row in ten satisfies `holds`.
    pub fn assert_tenth(&self, column: &str, holds: impl Fn(&str) -> bool) {
        let share =
            self.texts(column).filter(|text| holds(text)).count() as f64 / self.rows.len() as f64;
        assert!((0.09..0.11).contains(&share), "{column}: {share}");
    }
}
