//! How many rows a table has.

/// How many rows a table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowCount {
    /// Rows.
    pub count: u64,
    /// Whether [`count`](Self::count) is exact, or only the expected number.
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
