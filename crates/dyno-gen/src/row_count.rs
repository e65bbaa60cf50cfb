//! Row counts of tables.

/// Row count of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowCount {
    /// Number of rows.
    pub count: u64,
    /// Whether [`count`](Self::count) is exact or expected.
    pub exact: bool,
}

impl RowCount {
    pub(crate) const fn exact(count: u64) -> Self {
        Self { count, exact: true }
    }

    pub(crate) const fn expected(count: u64) -> Self {
        Self { count, exact: false }
    }
}
