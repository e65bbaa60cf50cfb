"""Bundles with NaN, infinite, huge and negative numbers: a line or an answer, and JSON as it is."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.bundles import quickstart
from tests.process import dyno

CASES = [
    ("run.json", ("clock_check",), '{"set_s": 1e999, "asleep_s": 0}'),
    ("run.json", ("clock", "unix_ns"), "9" * 30),
    ("run.json", ("host", "memory", "total_bytes"), "NaN"),
    ("run.json", ("host", "memory", "total_bytes"), "-Infinity"),
    ("run.json", ("plan", "scale"), "Infinity"),
    ("run.json", ("phases", "*", "end_ns"), "-5"),
    ("run.json", ("phases", "*", "cpu"), "1e308"),
    ("run.json", ("phases", "*", "detail", "seconds"), "1e308"),
    ("estimates.json", ("*", "value"), "NaN"),
    ("estimates.json", ("*", "value"), "1e999"),
]
CPU = {"ticks": 500, "total_s": 1.0, "busy_s": 1.0, "steal_s": 0.0, "own_s": 0.0}


def put(node: Any, path: tuple[str, ...], value: Any) -> None:
    """Sets what is at a path of a document; ``*`` are all of a list."""
    name, *rest = path
    if name == "*":
        for item in node:
            put(item, tuple(rest), value)
    elif rest:
        put(node.setdefault(name, {}), tuple(rest), value)
    elif name == "cpu":
        node[name] = {**CPU, "busy_s": value, "others": [{"name": "other", "cpu_s": value}]}
    else:
        node[name] = value


def refuse(token: str) -> NoReturn:
    raise AssertionError(f"{token} is no JSON")


def sane(done: subprocess.CompletedProcess[str]) -> None:
    """A document without NaN, or at most one line of an error."""
    assert done.returncode in {0, 1, 2}, done.stderr
    assert "Traceback" not in done.stderr
    if done.returncode == 2:
        (line,) = done.stderr.splitlines()
        assert len(line) < 600
    elif done.stdout.startswith(("{", "[")):
        json.loads(done.stdout, parse_constant=refuse)
    else:
        assert max(map(len, done.stdout.splitlines())) < 200
        assert not {"nan", "inf"} & set(done.stdout.replace("%", " ").split())


@pytest.mark.long
@pytest.mark.parametrize(("name", "path", "number"), CASES)
def test_numbers_of_a_document(
    tmp_path: Path, name: str, path: tuple[str, ...], number: str
) -> None:
    bundle = quickstart(tmp_path).write()
    out = ("--out", bundle.path.parent)
    estimates = [{"name": "load.tpcc.postgresql.load_s", "value": 1.0, "unit": "s"}]
    (bundle.path / "estimates.json").write_text(json.dumps(estimates))
    file = bundle.path / name
    content = json.loads(file.read_text())
    put(content, path, "<number>")
    file.write_text(json.dumps(content).replace('"<number>"', number))
    sane(dyno("runs", "show", bundle.path, *out))
    sane(dyno("compare", bundle.path, bundle.path, "--json", *out))
    sane(dyno("report", bundle.path, "--json", *out))


@pytest.mark.long
@pytest.mark.parametrize(
    ("table", "column", "number"),
    [
        ("samples", "value", float("inf")),
        ("samples", "value", 1e308),
        ("queries", "seconds", float("nan")),
        ("queries", "seconds", -1e300),
        ("io", "seconds", -5.0),
        ("ops/users-4", "seconds", 1e308),
    ],
)
def test_numbers_of_a_table(tmp_path: Path, table: str, column: str, number: float) -> None:
    bundle = quickstart(tmp_path).write()
    file = bundle.path / f"{table}.parquet"
    found = pq.read_table(file)
    at = found.column_names.index(column)
    spoilt = pa.array([number] * found.num_rows, pa.float64())
    pq.write_table(found.set_column(at, column, spoilt), file)
    out = ("--out", bundle.path.parent)
    sane(dyno("report", bundle.path, "--json", *out))
    sane(dyno("runs", "show", bundle.path, *out))
