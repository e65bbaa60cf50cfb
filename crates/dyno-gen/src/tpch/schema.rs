//! The eight tables, in an order in which a load could check foreign keys.

use crate::schema::{Column, TableSchema};

/// Money, quantities and rates: the widest decimal at any scale.
const fn money(name: &'static str) -> Column {
    Column::decimal(name, 15, 2)
}

/// Keys except the order's have 32 bits, enough up to scale 10,000.
const fn key(name: &'static str) -> Column {
    Column::int32(name)
}

pub(crate) const PART: TableSchema = TableSchema {
    name: "part",
    columns: &[
        key("p_partkey"),
        Column::varchar("p_name", 55),
        Column::char("p_mfgr", 25),
        Column::char("p_brand", 10),
        Column::varchar("p_type", 25),
        Column::int32("p_size"),
        Column::char("p_container", 10),
        money("p_retailprice"),
        Column::prose("p_comment", 23),
    ],
    primary_key: &["p_partkey"],
};

pub(crate) const SUPPLIER: TableSchema = TableSchema {
    name: "supplier",
    columns: &[
        key("s_suppkey"),
        Column::char("s_name", 25),
        Column::varchar("s_address", 40),
        key("s_nationkey"),
        Column::char("s_phone", 15),
        money("s_acctbal"),
        Column::prose("s_comment", 101),
    ],
    primary_key: &["s_suppkey"],
};

pub(crate) const PARTSUPP: TableSchema = TableSchema {
    name: "partsupp",
    columns: &[
        key("ps_partkey"),
        key("ps_suppkey"),
        Column::int32("ps_availqty"),
        money("ps_supplycost"),
        Column::prose("ps_comment", 199),
    ],
    primary_key: &["ps_partkey", "ps_suppkey"],
};

pub(crate) const CUSTOMER: TableSchema = TableSchema {
    name: "customer",
    columns: &[
        key("c_custkey"),
        Column::varchar("c_name", 25),
        Column::varchar("c_address", 40),
        key("c_nationkey"),
        Column::char("c_phone", 15),
        money("c_acctbal"),
        Column::char("c_mktsegment", 10),
        Column::prose("c_comment", 117),
    ],
    primary_key: &["c_custkey"],
};

pub(crate) const ORDERS: TableSchema = TableSchema {
    name: "orders",
    columns: &[
        Column::int64("o_orderkey"),
        key("o_custkey"),
        Column::char("o_orderstatus", 1),
        money("o_totalprice"),
        Column::date("o_orderdate"),
        Column::char("o_orderpriority", 15),
        Column::char("o_clerk", 15),
        Column::int32("o_shippriority"),
        Column::prose("o_comment", 79),
    ],
    primary_key: &["o_orderkey"],
};

pub(crate) const LINEITEM: TableSchema = TableSchema {
    name: "lineitem",
    columns: &[
        Column::int64("l_orderkey"),
        key("l_partkey"),
        key("l_suppkey"),
        Column::int32("l_linenumber"),
        money("l_quantity"),
        money("l_extendedprice"),
        money("l_discount"),
        money("l_tax"),
        Column::char("l_returnflag", 1),
        Column::char("l_linestatus", 1),
        Column::date("l_shipdate"),
        Column::date("l_commitdate"),
        Column::date("l_receiptdate"),
        Column::char("l_shipinstruct", 25),
        Column::char("l_shipmode", 10),
        Column::prose("l_comment", 44),
    ],
    primary_key: &["l_orderkey", "l_linenumber"],
};

pub(crate) const NATION: TableSchema = TableSchema {
    name: "nation",
    columns: &[
        key("n_nationkey"),
        Column::char("n_name", 25),
        key("n_regionkey"),
        Column::prose("n_comment", 152),
    ],
    primary_key: &["n_nationkey"],
};

pub(crate) const REGION: TableSchema = TableSchema {
    name: "region",
    columns: &[key("r_regionkey"), Column::char("r_name", 25), Column::prose("r_comment", 152)],
    primary_key: &["r_regionkey"],
};

/// All tables of the workload.
pub(crate) const TABLES: &[TableSchema] =
    &[PART, SUPPLIER, PARTSUPP, CUSTOMER, ORDERS, LINEITEM, NATION, REGION];
