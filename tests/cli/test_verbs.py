"""The short verbs, as a user runs them."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dyno import workloads
from dyno.contracts.target import LoadOutcome
from dyno.stages.load import text_bytes
from tests.process import dyno


def test_doctor_reports_what_this_machine_can_do(out: Path) -> None:
    done = dyno("doctor", "--json", "--out", out)
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads(done.stdout)
    assert {"run", "bundle", "valid", "reasons", "items", "host"} <= set(document)
    items = {item["name"]: item["ok"] for item in document["items"]}
    assert {name: items[name] for name in ("engines", "postgresql", "duckdb", "space")} == {
        "engines": True, "postgresql": True, "duckdb": True, "space": True
    }  # fmt: skip
    assert document["host"]["cpu"]


def test_doctor_looks_at_a_target(out: Path) -> None:
    done = dyno("doctor", "embedded:duckdb", "--out", out)
    assert done.returncode == 0, done.stderr
    assert "no oltp" in done.stdout
    absent = dyno("doctor", "postgresql://nobody@127.0.0.1:1/x", "--out", out)
    assert absent.returncode == 3
    assert "MISSING" in absent.stdout


def union(files: list[Path]) -> Any:
    """Text files put together in order (CSV without its headers); rows of columnar ones, sorted."""
    kind = files[0].suffix
    if kind == ".tbl":
        return b"".join(file.read_bytes() for file in files)
    if kind == ".csv":
        heads, bodies = zip(*(file.read_bytes().split(b"\n", 1) for file in files), strict=True)
        assert len(set(heads)) == 1
        return b"".join(bodies)
    read = pq.read_table if kind == ".parquet" else lambda file: pa.ipc.open_file(file).read_all()
    table = pa.concat_tables([read(file) for file in files])
    return sorted(zip(*(column.to_pylist() for column in table.columns), strict=True))


@pytest.mark.parametrize(
    "file_format",
    ["tbl", "parquet", *(pytest.param(name, marks=pytest.mark.long) for name in ("csv", "arrow"))],
)
def test_generate_writes_every_row_once_in_any_number_of_parts(
    tmp_path: Path, file_format: str
) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    args = ("generate", "tpch", "--scale", "0.01", "--format", file_format, "--json")
    one = json.loads(dyno(*args, "--to", whole).stdout)
    three = json.loads(dyno(*args, "--to", parts, "--parts", "3").stdout)
    assert {table["table"]: table["rows"] for table in one["tables"]} == {
        table["table"]: table["rows"] for table in three["tables"]
    }
    counts = {table["table"]: table["rows"] for table in one["tables"]}
    assert counts["orders"] == 15_000
    assert counts["lineitem"] == 60_175
    for table in one["tables"]:
        (file,) = [whole / name for name in table["files"]]
        pieces = [parts / f"{table['table']}.{part}.{file_format}" for part in (1, 2, 3)]
        assert union(pieces) == union([file]), table["table"]
    alone = json.loads(
        dyno(*args, "--to", parts, "--parts", "3", "--part", "2", "--replace").stdout
    )
    assert {table["table"]: table["files"] for table in alone["tables"]}["orders"] == [
        f"orders.2.{file_format}"
    ]
    nothing = json.loads(dyno(*args, "--to", "/dev/null").stdout)
    assert {table["table"]: table["rows"] for table in nothing["tables"]} == counts
    assert sum(table["bytes"] for table in nothing["tables"]) > 1_000_000
    again = dyno(*args, "--to", whole)
    assert again.returncode == 2
    assert "exists" in again.stderr
    assert dyno(*args, "--to", whole, "--replace").returncode == 0


@pytest.mark.parametrize(("workload", "scale"), [("tpch", "0.1"), ("tpcc", "1")])
def test_load_rates_are_of_the_size_of_tbl_files(workload: str, scale: str) -> None:
    args = ("generate", workload, "--scale", scale, "--format", "tbl", "--to", "/dev/null")
    tables = json.loads(dyno(*args, "--json").stdout)["tables"]
    rows = tuple({**table, "bytes": 1} for table in tables)
    outcome = LoadOutcome(rows, seconds=1.0, rows=1, bytes=1)
    written = sum(table["bytes"] for table in tables)
    # Keys have fewer digits than at scale 1.
    assert text_bytes(workloads.get(workload), outcome) == pytest.approx(written, rel=0.03)


def test_a_run_can_be_listed_shown_reported_exported_and_cleaned(out: Path, tmp_path: Path) -> None:
    null = ("--target", "null:?mean_us=500&scale=2", "--users", "3")
    run = dyno("run", "tpcc", *null, "--warmup", "0.2s", "--duration", "1s", "--json", "--out", out)
    document = json.loads(run.stdout)
    (level,) = document["tpcc"]["levels"]
    # Three users, half a millisecond a transaction, nothing else: Little's law.
    assert level["tps"] <= 6000
    assert level["users"] == 3

    listed = json.loads(dyno("runs", "list", "--json", "--out", out).stdout)
    assert [item["run"] for item in listed] == [document["run"]]
    shown = dyno("runs", "show", "last", "--out", out)
    assert shown.returncode == 0, shown.stderr
    assert document["run"] in shown.stdout

    page = Path(document["sheet"])
    remade = [page.with_name(name) for name in ("sheet.html", "estimates.json", "findings.json")]
    before = {file: file.read_text() for file in remade[1:]}
    for file in remade:
        file.unlink()
    report = dyno("report", document["run"][:12], "--json", "--out", out)
    assert report.returncode in {0, 1}, report.stderr
    assert page.stat().st_size > 1000
    assert {file: file.read_text() for file in before} == before
    assert json.loads(report.stdout)["tpcc"] == document["tpcc"]

    archive = tmp_path / "run.tar.gz"
    assert dyno("runs", "export", "last", "--to", archive, "--out", out).returncode == 0
    with tarfile.open(archive) as packed:
        assert f"{document['run']}/run.json" in packed.getnames()
    assert dyno("runs", "export", "last", "--to", archive, "--out", out).returncode == 2

    cleaned = dyno("clean", "--runs", "--yes", "--json", "--out", out)
    assert cleaned.returncode == 0, cleaned.stderr
    assert json.loads(cleaned.stdout)["removed"] == [document["bundle"]]
    assert "No runs" in dyno("runs", "list", "--out", out).stdout


def test_clean_asks_first_and_keeps_what_is_not_its_own(out: Path) -> None:
    assert dyno("doctor", "embedded:duckdb", "--out", out).returncode == 0
    mine = [out / "engines" / "notes.txt", out / "engines" / "postgresql" / "mine.txt"]
    mine += [out / "engines" / "sqlite" / name for name in ("tpch.sqlite", "mine.sqlite")]
    for file in mine:
        file.parent.mkdir(exist_ok=True)
        file.write_text("keep")
    refused = dyno("clean", "--out", out, given="n\n")
    assert refused.returncode == 0
    assert "Nothing removed" in refused.stderr
    assert (out / "engines" / "duckdb").exists()
    cleaned = dyno("clean", "--yes", "--json", "--out", out)
    assert cleaned.returncode == 0, cleaned.stderr
    assert json.loads(cleaned.stdout)["removed"] == [str(out / "engines" / "duckdb")]
    assert str(mine[1].parent) in cleaned.stderr
    assert not (out / "engines" / "duckdb").exists()
    assert all(file.read_text() == "keep" for file in mine)


def test_a_dry_run_does_nothing(tmp_path: Path) -> None:
    done = dyno("quickstart", "--dry-run", "--scale", "3", "--out", tmp_path / "out")
    assert done.returncode == 0
    assert "scale 3" in done.stdout
    assert not (tmp_path / "out").exists()
