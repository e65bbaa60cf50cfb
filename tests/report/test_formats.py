from __future__ import annotations

from pathlib import Path

import pytest

from dyno.bundle.model import Clock, Run, TargetFacts
from dyno.bundle.phases.oltp import OltpDetail
from dyno.report.kit import formats
from dyno.report.run.repeat import command
from dyno.report.run.series import Series, thinned, throughput
from dyno.safety import text
from tests import bundle_data as data
from tests.bundles import Builder


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (0, "0"),
        (3, "3"),
        (85_312.4, "85,312"),
        (12.345, "12.3"),
        (1.2345, "1.23"),
        (0.19354, "0.194"),
        (0.00012, "0.0001"),
        (-2.5, "-2.50"),
    ],
)
def test_rounded(value: float | None, text: str) -> None:
    assert formats.rounded(value) == text


def test_sizes_and_times() -> None:
    space = "\N{NARROW NO-BREAK SPACE}"
    assert formats.bytes_text(24 * 2**30) == f"24{space}GiB"
    assert formats.bytes_text(8192) == f"8{space}KiB"
    assert formats.decimal_bytes(1_060_000_000) == f"1.06{space}GB"
    assert formats.decimal_bytes(3) == f"3{space}B"
    assert formats.seconds(0.85) == f"850{space}ms"
    assert formats.seconds(200) == f"3{space}min 20{space}s"
    assert formats.seconds(7500) == f"2{space}h 5{space}min"
    assert formats.moment(1_795_183_200_000_000_000) == "2026-11-20 14:00:00 UTC"
    assert formats.moment(10**40) == "at an unknown time"


def test_names() -> None:
    assert formats.operation_title("order_status") == "Order-Status"
    assert formats.query_title("q05") == "Q5"
    assert formats.query_title("mine") == "mine"
    assert formats.users_title(OltpDetail(users=1), "x") == "1 user"
    assert formats.users_title(OltpDetail(), "users-4") == "users-4"
    assert text.plain("a\x1b[31mb") == "a\N{REPLACEMENT CHARACTER}[31mb"


@pytest.mark.parametrize(
    ("name", "version", "title"),
    [
        ("postgresql", "PostgreSQL 18.1", "PostgreSQL"),
        ("mysql", "MariaDB 11.8.3", "MariaDB"),
        ("mysql", "8.0", "mysql"),
        ("gone", None, "gone"),
    ],
)
def test_a_target_bears_the_name_of_its_product(name: str, version: str | None, title: str) -> None:
    found = run("run")
    if version is not None:
        facts = TargetFacts(url="x", version=version, place="machine")
        found = found.model_copy(update={"targets": {name: facts}})
    assert formats.target_title(found, name) == title


def run(verb: str, workloads: tuple[str, ...] = (), **plan: object) -> Run:
    clock = Clock(unix_ns=0, monotonic_ns=0)
    return Run(run="r", dyno="0", verb=verb, workloads=workloads, plan=plan, clock=clock)


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (run("run", ("tpcc",), command="dyno run tpcc --users 4"), "dyno run tpcc --users 4"),
        (run("quickstart"), "dyno quickstart"),
        (run("io", command=5), "dyno io"),
    ],
)
def test_the_command_that_repeats_a_run(made: Run, text: str) -> None:
    assert command(made) == text


def test_thinning_keeps_the_mean() -> None:
    series = Series([float(at) for at in range(5000)], [float(at % 10) for at in range(5000)])
    fewer = thinned(series, 500)
    assert len(fewer.values) == 500
    assert sum(fewer.values) / 500 == pytest.approx(4.5)
    assert thinned(fewer, 500) is fewer


def test_the_line_of_throughput_falls_to_nothing_where_nothing_ended(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "whole").machine().oltp(4)
    whole = throughput(builder.write())
    builder.path = tmp_path / "gap"
    rows = builder.tables["ops/users-4"]
    moments = sorted({row["t_ns"] for row in rows})
    rows[:] = [row for row in rows if row["t_ns"] not in moments[7:10]]
    gap = throughput(builder.write())
    start = whole.seconds.index((moments[6] - data.START_NS) / 1e9)
    assert min(whole.values[1:-1]) > 0
    assert gap.values[start + 1 : start + 3] == [0.0, 0.0]
    assert gap.seconds[start + 1 : start + 3] == [
        whole.seconds[start + 1],
        whole.seconds[start + 3],
    ]
