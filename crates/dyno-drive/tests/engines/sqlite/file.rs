//! `SQLite` files for tests.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::path::PathBuf;

use dyno_gen::Workload;
use dyno_gen::schema::ColumnType;
use rusqlite::Connection;

/// A file with a workload's empty tables, in a folder removed with it.
pub struct File {
    pub folder: PathBuf,
    pub path: PathBuf,
}

impl File {
    /// Decimals are stored in columns of type `decimal`.
    pub fn new(name: &str, workload: Workload, decimal: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("dyno-drive-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("x.sqlite");
        let file = Self { folder, path };
        for table in workload.tables() {
            let mut columns = Vec::new();
            for column in table.columns {
                let kind = match column.kind {
                    ColumnType::Int32 | ColumnType::Int64 => "integer",
                    ColumnType::Decimal { .. } => decimal,
                    _ => "text",
                };
                let key = if table.primary_key == [column.name] { " primary key" } else { "" };
                columns.push(format!("{} {kind}{key}", column.name));
            }
            file.execute(&format!("create table {} ({})", table.name, columns.join(", ")));
        }
        file
    }

    pub fn open(&self) -> Connection {
        Connection::open(&self.path).unwrap()
    }

    pub fn execute(&self, sql: &str) {
        self.open().execute_batch(sql).unwrap();
    }

    /// The single number that a query returns.
    pub fn number(&self, sql: &str) -> i64 {
        self.open().query_row(sql, [], |row| row.get(0)).unwrap()
    }

    pub fn count(&self, table: &str) -> u64 {
        self.number(&format!("select count(*) from {table}")) as u64
    }

    /// Whether this process has the file open.
    pub fn is_open(&self) -> bool {
        let links = std::fs::read_dir("/proc/self/fd").unwrap();
        links
            .filter_map(|link| std::fs::read_link(link.ok()?.path()).ok())
            .any(|it| it == self.path)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
