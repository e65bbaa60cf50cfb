//! Dimension tables.

use super::{id, status};
use crate::schema::{Column, TableSchema};

pub(super) const STATUS_TYPE: TableSchema = TableSchema {
    name: "status_type",
    columns: &[status("st_id"), Column::varchar("st_name", 10)],
    primary_key: &["st_id"],
};

pub(super) const TAXRATE: TableSchema = TableSchema {
    name: "taxrate",
    columns: &[
        Column::char("tx_id", 4),
        Column::varchar("tx_name", 50),
        Column::decimal("tx_rate", 6, 5),
    ],
    primary_key: &["tx_id"],
};

pub(super) const ZIP_CODE: TableSchema = TableSchema {
    name: "zip_code",
    columns: &[
        Column::varchar("zc_code", 12),
        Column::varchar("zc_town", 80),
        Column::varchar("zc_div", 80),
    ],
    primary_key: &["zc_code"],
};

pub(super) const ADDRESS: TableSchema = TableSchema {
    name: "address",
    columns: &[
        id("ad_id"),
        Column::varchar("ad_line1", 80).or_null(),
        Column::varchar("ad_line2", 80).or_null(),
        Column::varchar("ad_zc_code", 12),
        Column::varchar("ad_ctry", 80).or_null(),
    ],
    primary_key: &["ad_id"],
};
