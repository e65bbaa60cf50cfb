"""Every target × every workload, found by enumeration: it works, or it says why it cannot."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dyno import _core, targets, workloads
from dyno.bundle.reader import list_bundles
from dyno.contracts import databases, flash
from dyno.contracts.target import Capabilities, Limits
from dyno.contracts.workload import Workload
from dyno.errors import UsageError
from tests.babelfish import alone, require_url
from tests.conftest import missing
from tests.process import assert_valid, dyno, no_server_left

EMPTY = ("trade_request",)
"""Tables that only transactions fill."""

LIMITS = Limits(memory_bytes=1 << 30, threads=2)


def url_of(name: str) -> str:
    """A URL that needs nothing but this machine, or that of the server for tests."""
    if name == "sqlserver":
        return require_url()
    return f"embedded:{name}" if name != "null" else "null:?mean_us=200"


def smallest(workload: Workload) -> str:
    """A hundredth or a tenth where the workload allows fractions."""
    for scale in (0.01, 0.1):
        with contextlib.suppress(UsageError):
            return f"{workload.parse_scale(scale):g}"
    return "1"


def capabilities(name: str, out: Path) -> Capabilities:
    target = targets.open_target(targets.parse(url_of(name)), out, LIMITS)
    return target.capabilities


LONG = ("clickhouse", "mysql", "sqlite", "sqlserver")


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=pytest.mark.long if name in LONG else ())
        for name in targets.names()
    ],
)
def target(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Iterator[tuple[str, Path]]:
    if lacks := targets.lacks(request.param):
        missing(lacks)
    out = tmp_path_factory.mktemp(request.param)
    if request.param == "sqlserver":
        with alone() as url:
            yield request.param, out
            assert dyno("clean", "--yes", "--target", url, "--out", out).returncode == 0
        return
    yield request.param, out
    no_server_left(out)


@pytest.mark.parametrize("workload", workloads.names())
def test_load_run_check(target: tuple[str, Path], workload: str) -> None:
    name, out = target
    able = capabilities(name, out)
    where = ("--target", url_of(name), "--json", "--out", out)
    found = workloads.get(workload)
    scale = ("--scale", smallest(found), *(() if found.days is None else ("--days", "1")))

    # Another workload may have loaded the tables already, which it shares.
    guests = databases.guests(workload, workloads.names())
    over = ("--replace",) if any(guest < workload for guest in guests) else ()
    load = dyno("load", workload, *where, *scale, *over)
    if able.load is not True:
        assert load.returncode == 2
        assert able.load in load.stderr
    else:
        assert_valid(load)
        assert all(check.passed for check in list_bundles(out)[0].checks())
        again = dyno("load", workload, *where, *scale)
        assert again.returncode == 2
        assert "--replace" in again.stderr
        assert_valid(dyno("check", workload, *where))

    short = (
        ("--users", "2", "--warmup", "500ms", "--duration", "1s") if found.kind == "oltp" else ()
    )
    run = dyno("run", workload, *where, *short)
    capability = able.oltp if found.kind == "oltp" else able.dss
    if capability is not True:
        assert run.returncode == 2
        assert capability in run.stderr
        return
    assert dyno("report", "last", "--out", where[-1], charts=True).returncode in {0, 1}
    if found.kind == "dss":
        queries = assert_valid(run)["workloads"][workload]["engines"][name]["queries"]
        assert len(queries) == len(found.queries)
        assert all(query["seconds"] > 0 for query in queries)
    else:
        assert_driven(run, workload, "client")
        if "procedure" not in found.transactions.modes:
            return
        inside = dyno("run", workload, *where, *short, "--mode", "procedure")
        if able.procedure is not True:
            assert inside.returncode == 2
            assert able.procedure in inside.stderr
            return
        assert_driven(inside, workload, "procedure")


def assert_driven(run: subprocess.CompletedProcess[str], workload: str, mode: str) -> None:
    """A run of one level, in which transactions succeeded and none failed."""
    document = assert_valid(run, "unsteady", "client-bound", "other-mix")
    (level,) = document["workloads"][workload]["levels"]
    assert level["mode"] == mode
    assert level["tps"] > 0
    assert level["errors"] == 0


def test_a_gap_is_a_reason_not_a_shrug(target: tuple[str, Path]) -> None:
    able = capabilities(*target)
    for value in vars(able).values():
        assert value is True or (isinstance(value, str) and len(value) > 15)


@pytest.mark.parametrize("part", flash.PARTS)
@pytest.mark.parametrize("name", targets.names())
def test_a_part_moves_onto_flash_or_there_is_a_reason(name: str, part: flash.Part) -> None:
    reason = flash.lacks(name, part)
    *private, url = targets.about(name)[1]
    if reason is None:
        assert isinstance(targets.open_target(targets.parse(url), Path(), LIMITS), flash.Movable)
        if not private:
            return
        (url,) = private  # which has its own way
    done = dyno("accelerate", "move", part, url, "--flash", "/flash")
    assert done.returncode == 2
    assert (reason or "--flash-temp") in done.stderr


def test_the_compiled_half_lists_what_it_holds_and_python_knows_each() -> None:
    parts = json.loads(_core.parts())
    assert set(parts["workloads"]) <= set(workloads.names())  # others are declared from Python
    words = [*targets.names(), *(url for name in targets.names() for url in targets.about(name)[1])]
    for wire in parts["wires"]:
        assert any(wire in word or word in wire for word in words), wire
    from dyno.bundle.phases import PhaseKind  # noqa: F401  (the model imports without the engines)

    for workload in parts["workloads"]:
        for table in json.loads(_core.schema(workload)):
            count, _ = _core.rows(workload, table["name"], 1, 1)
            assert count > 0 or table["name"] in EMPTY
