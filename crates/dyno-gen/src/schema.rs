//! Table schemas: the only declaration of columns and keys.
//!
//! Targets render their own DDL from it, so types are independent of any dialect.

use serde::{Deserialize, Serialize};

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ColumnType {
    /// 32-bit signed integer.
    Int32,
    /// 64-bit signed integer.
    Int64,
    /// Exact decimal with `precision` digits, `scale` of them after the point.
    Decimal {
        /// Total digits, at most 18.
        precision: u8,
        /// Digits after the point.
        scale: u8,
    },
    /// Calendar date.
    Date,
    /// Date and time without a time zone, to the microsecond.
    Timestamp,
    /// Text of fixed length, blank-padded by engines that pad.
    Char {
        /// Length in characters.
        len: u16,
    },
    /// Text of at most `max` characters.
    Varchar {
        /// Maximum length in characters.
        max: u16,
    },
}

/// One column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Column {
    /// Name in lower case.
    pub name: &'static str,
    /// Type.
    pub kind: ColumnType,
    /// Whether the column allows NULL.
    pub nullable: bool,
    /// Whether the texts are sentences, which rarely repeat: a dictionary is useless for them,
    /// general compression is not.
    pub prose: bool,
    /// Whether there are dates before 1970, which need a wider type in some engines.
    pub early: bool,
}

/// One table of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TableSchema {
    /// Name in lower case.
    pub name: &'static str,
    /// Columns, in the order of the values of a row.
    pub columns: &'static [Column],
    /// Columns of the primary key; empty without one.
    pub primary_key: &'static [&'static str],
}

impl Column {
    /// A column of `kind`, NOT NULL.
    pub(crate) const fn new(name: &'static str, kind: ColumnType) -> Self {
        Self { name, kind, nullable: false, prose: false, early: false }
    }

    pub(crate) const fn int32(name: &'static str) -> Self {
        Self::new(name, ColumnType::Int32)
    }

    pub(crate) const fn int64(name: &'static str) -> Self {
        Self::new(name, ColumnType::Int64)
    }

    pub(crate) const fn decimal(name: &'static str, precision: u8, scale: u8) -> Self {
        Self::new(name, ColumnType::Decimal { precision, scale })
    }

    pub(crate) const fn date(name: &'static str) -> Self {
        Self::new(name, ColumnType::Date)
    }

    /// A column of dates, some of them before 1970.
    pub(crate) const fn early_date(name: &'static str) -> Self {
        Self { early: true, ..Self::date(name) }
    }

    pub(crate) const fn timestamp(name: &'static str) -> Self {
        Self::new(name, ColumnType::Timestamp)
    }

    pub(crate) const fn char(name: &'static str, len: u16) -> Self {
        Self::new(name, ColumnType::Char { len })
    }

    pub(crate) const fn varchar(name: &'static str, max: u16) -> Self {
        Self::new(name, ColumnType::Varchar { max })
    }

    /// A column of sentences of at most `max` characters.
    pub(crate) const fn prose(name: &'static str, max: u16) -> Self {
        Self { prose: true, ..Self::varchar(name, max) }
    }

    /// The same column, nullable.
    pub(crate) const fn or_null(self) -> Self {
        Self { nullable: true, ..self }
    }
}

#[cfg(test)]
mod tests {
    use crate::Workload;

    #[test]
    fn keys_name_columns_that_are_never_null() {
        for table in Workload::ALL.iter().flat_map(|workload| workload.tables()) {
            for key in table.primary_key {
                let column = table.columns.iter().find(|column| column.name == *key);
                assert!(column.is_some_and(|column| !column.nullable), "{} {key}", table.name);
            }
        }
    }

    #[test]
    fn json_tells_the_type_by_name() {
        let json = serde_json::to_value(Workload::Tpch.tables()).unwrap();
        let price = &json[0]["columns"][7];
        assert_eq!(price["name"], "p_retailprice");
        assert_eq!(price["kind"]["type"], "decimal");
        assert_eq!(price["kind"]["precision"], 15);
    }
}
