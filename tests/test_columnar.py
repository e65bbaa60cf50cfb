"""Parquet files as their readers want them."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import duckdb
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

from tests.process import dyno


def test_parquet_has_decimals_as_integers_and_ranges_of_what_can_be_skipped(
    tmp_path: Path,
) -> None:
    for file_format in ("parquet", "arrow"):
        done = dyno(
            "generate", "tpch", "--scale", "0.01", "--format", file_format, "--to", tmp_path,
            "--json",
        )  # fmt: skip
        assert json.loads(done.stdout)["valid"], done.stderr
    group = pq.ParquetFile(tmp_path / "lineitem.parquet").metadata.row_group(0)
    columns = [group.column(number) for number in range(group.num_columns)]
    stored = {column.path_in_schema: column.physical_type for column in columns}
    assert stored["l_extendedprice"] == stored["l_tax"] == "INT64"
    ranged = {column.path_in_schema for column in columns if column.is_stats_set}
    assert ranged == set(stored) - {"l_comment"}
    encodings = {column.path_in_schema: set(column.encodings) for column in columns}
    assert "DELTA_BINARY_PACKED" in encodings["l_orderkey"]
    assert "RLE_DICTIONARY" in encodings["l_shipmode"]
    assert "DELTA_LENGTH_BYTE_ARRAY" in encodings["l_comment"]

    # A reader that shares no code with the writer, against the same rows in another format.
    total, least, comments = duckdb.sql(
        "SELECT sum(l_extendedprice), min(l_discount), count(DISTINCT l_comment) "
        f"FROM '{tmp_path / 'lineitem.parquet'}'"
    ).fetchall()[0]
    rows = ipc.open_file(tmp_path / "lineitem.arrow").read_all().to_pydict()
    assert total == sum(rows["l_extendedprice"])
    assert least == min(rows["l_discount"]) == Decimal("0.00")
    assert comments == len(set(rows["l_comment"]))
