//! Counters of `SQLite`'s page cache, by connection.
//!
//! `rusqlite` has no call for them, and of Dyno's crates this one may use `unsafe`. Source: `SQLite`
//! manual, "Status Parameters for database connections".

use std::ffi::c_int;

use rusqlite::{Connection, ffi};

/// What a connection's caches did between two calls of [`PageCounts::take`], in pages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PageCounts {
    /// Pages that were in the cache.
    pub hits: u64,
    /// Pages that were not, and were read.
    pub misses: u64,
    /// Pages written to the log or the file.
    pub writes: u64,
    /// Those of them that left the cache before the end of their transaction, for lack of memory.
    pub spills: u64,
    /// Memory of the caches now, bytes.
    pub bytes: u64,
}

impl PageCounts {
    /// Reads the counters and sets them to zero. None if `SQLite` does not know one of them.
    pub fn take(connection: &Connection) -> Option<Self> {
        Some(Self {
            hits: status(connection, ffi::SQLITE_DBSTATUS_CACHE_HIT)?,
            misses: status(connection, ffi::SQLITE_DBSTATUS_CACHE_MISS)?,
            writes: status(connection, ffi::SQLITE_DBSTATUS_CACHE_WRITE)?,
            spills: status(connection, ffi::SQLITE_DBSTATUS_CACHE_SPILL)?,
            bytes: status(connection, ffi::SQLITE_DBSTATUS_CACHE_USED)?,
        })
    }
}

/// A counter, which is zero afterwards, or a size.
fn status(connection: &Connection, verb: c_int) -> Option<u64> {
    let (mut current, mut highest) = (0, 0);
    // SAFETY: the borrowed connection keeps its handle open, and as it is not `Sync`, no other
    // thread uses it meanwhile. SQLite keeps neither pointer beyond the call.
    let code = unsafe {
        ffi::sqlite3_db_status64(connection.handle(), verb, &raw mut current, &raw mut highest, 1)
    };
    if code == ffi::SQLITE_OK { u64::try_from(current).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGES: u64 = 64;

    fn scan(connection: &Connection) -> PageCounts {
        let sum = "select sum(length(t)) from page";
        let found: i64 = connection.query_row(sum, [], |row| row.get(0)).unwrap();
        assert_eq!(found as u64, PAGES * 4000);
        PageCounts::take(connection).unwrap()
    }

    #[test]
    fn pages_are_counted_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.sqlite");
        let connection = Connection::open(&file).unwrap();
        connection
            .execute_batch(
                "pragma page_size = 4096; pragma journal_mode = wal; create table page (t blob);
                 with recursive n(i) as (select 1 union all select i + 1 from n where i < 64)
                 insert into page select zeroblob(4000) from n",
            )
            .unwrap();
        let written = PageCounts::take(&connection).unwrap();
        assert!(written.writes >= PAGES, "{written:?}");
        assert_eq!(written.spills, 0);
        assert!(written.bytes >= PAGES * 4096, "{written:?}");
        let idle = PageCounts::take(&connection).unwrap();
        assert_eq!(idle, PageCounts { bytes: written.bytes, ..PageCounts::default() });

        let other = Connection::open(&file).unwrap();
        let cold = scan(&other);
        assert!(cold.misses >= PAGES && cold.writes == 0, "{cold:?}");
        let warm = scan(&other);
        assert_eq!((warm.misses, warm.writes), (0, 0));
        assert!(warm.hits >= PAGES, "{warm:?}");

        // With a cache of ten pages, a transaction writes some before its end.
        let small = Connection::open(&file).unwrap();
        small.execute_batch("pragma cache_size = 10; update page set t = zeroblob(3999)").unwrap();
        let small = PageCounts::take(&small).unwrap();
        assert!(small.misses >= PAGES, "{small:?}");
        assert!(0 < small.spills && small.spills <= small.writes, "{small:?}");
    }
}
