"""The 22 decision-support queries, one file each: SQL, result columns, parameters.

The SQL implements the functional definitions of the TPC-H specification in the dialect that
PostgreSQL and DuckDB share; a target defines its own text where it must differ.
"""

from __future__ import annotations

from dyno.contracts.workload import Query
from dyno.workloads.tpch.queries import (
    q01,
    q02,
    q03,
    q04,
    q05,
    q06,
    q07,
    q08,
    q09,
    q10,
    q11,
    q12,
    q13,
    q14,
    q15,
    q16,
    q17,
    q18,
    q19,
    q20,
    q21,
    q22,
)

QUERIES: tuple[Query, ...] = (
    q01.QUERY,
    q02.QUERY,
    q03.QUERY,
    q04.QUERY,
    q05.QUERY,
    q06.QUERY,
    q07.QUERY,
    q08.QUERY,
    q09.QUERY,
    q10.QUERY,
    q11.QUERY,
    q12.QUERY,
    q13.QUERY,
    q14.QUERY,
    q15.QUERY,
    q16.QUERY,
    q17.QUERY,
    q18.QUERY,
    q19.QUERY,
    q20.QUERY,
    q21.QUERY,
    q22.QUERY,
)
