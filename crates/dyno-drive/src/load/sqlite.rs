//! Loads SQLite by prepared inserts in one transaction. Several threads generate rows and one
//! inserts them, in table order: each row is then appended at the end of its tree.

mod feed;
mod file;

use std::time::Instant;

use dyno_gen::sink::{Value, values};
use dyno_gen::{Dataset, Part};
use dyno_record::{Control, Result};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Statement, ToSql, Transaction, TransactionBehavior};

use self::feed::Feed;
use self::file::Opened;
use super::config::SqliteFile;
use super::plan::{LoadOutcome, LoadPlan, LoadedTable};
use super::tables;
use crate::wire::quoted;
use crate::wire::sqlite::classed;

/// See [`load`](super::load). All or nothing: if the load ends early, even by a kill, it is rolled
/// back completely.
pub fn load(plan: &LoadPlan, file: &SqliteFile, control: &Control) -> Result<LoadOutcome> {
    let data = Dataset::new(plan.workload, plan.scale, plan.seed)?.with_days(plan.days)?;
    let tables = tables(&data, plan.tables.as_deref())?;
    let mut rows = 0;
    let mut parts = Vec::new();
    for table in &tables {
        rows += data.row_count(table)?.count;
        parts.extend(data.parts(table, u64::MAX)?);
    }
    control.set_total(rows);
    let opened = Opened::open(file)?;
    let start = Instant::now();
    let mut outcome = LoadOutcome { tables: vec![], seconds: 0.0, rows: 0, bytes: 0 };
    // Immediate, so that another writer causes an error now. Dropping the transaction rolls it
    // back.
    let transaction =
        Transaction::new_unchecked(&opened.connection, TransactionBehavior::Immediate).map_err(
            |error| classed(&error).context(format!("beginning to load {}", file.path.display())),
        )?;
    let threads = plan.streams.max(1) as usize;
    Feed::over(&data, &parts, file.decimals, threads, |feed| {
        for of_table in parts.chunk_by(|a, b| a.table.name == b.table.name) {
            let table = fill(&opened.connection, feed, of_table, control)?;
            outcome.rows += table.rows;
            outcome.bytes += table.bytes;
            outcome.tables.push(table);
        }
        Ok(())
    })?;
    control.check()?;
    control.set_step("writing to storage");
    transaction.commit().map_err(|error| classed(&error).context("committing"))?;
    outcome.seconds = start.elapsed().as_secs_f64();
    opened.close()?;
    Ok(outcome)
}

/// Inserts all parts of one table, which `feed` returns in order.
fn fill(
    connection: &Connection,
    feed: &mut Feed,
    parts: &[Part],
    control: &Control,
) -> Result<LoadedTable> {
    let table = parts[0].table;
    control.set_step(format!("loading {}", table.name));
    let start = Instant::now();
    let columns = table.columns.len();
    let here = |error: &rusqlite::Error| classed(error).context(format!("loading {}", table.name));
    let mut insert = connection.prepare(&statement(&parts[0])).map_err(|error| here(&error))?;
    let (mut rows, mut bytes) = (0, 0);
    for _ in parts {
        while let Some(chunk) = feed.next()? {
            control.check()?;
            let added = insert_rows(&mut insert, columns, &chunk).map_err(|error| here(&error))?;
            control.add(added, chunk.len() as u64);
            rows += added;
            bytes += chunk.len() as u64;
        }
    }
    Ok(LoadedTable { table: table.name, rows, bytes, seconds: start.elapsed().as_secs_f64() })
}

/// Inserts the rows of a chunk; returns their number.
fn insert_rows(insert: &mut Statement, columns: usize, chunk: &[u8]) -> rusqlite::Result<u64> {
    let (mut rows, mut column) = (0, 0);
    for value in values(chunk) {
        column += 1;
        insert.raw_bind_parameter(column, Bound(value))?;
        if column == columns {
            rows += insert.raw_execute()? as u64;
            column = 0;
        }
    }
    Ok(rows)
}

/// Binds a generated value.
struct Bound<'a>(Value<'a>);

impl ToSql for Bound<'_> {
    #[inline]
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Value::Null => ValueRef::Null,
            Value::Int(value) => ValueRef::Integer(value),
            Value::Real(value) => ValueRef::Real(value),
            Value::Text(value) => ValueRef::Text(value),
        }))
    }
}

fn statement(part: &Part) -> String {
    let names: Vec<_> = part.table.columns.iter().map(|column| quoted(column.name)).collect();
    let places = vec!["?"; names.len()].join(", ");
    let (table, names) = (quoted(part.table.name), names.join(", "));
    format!("insert into {table} ({names}) values ({places})")
}
