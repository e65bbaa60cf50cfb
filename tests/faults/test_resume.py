"""A load killed at any moment goes on with ``--resume``: no row lost, none doubled."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pymysql
import pytest

from dyno.bundle.reader import list_bundles
from dyno.contracts.target import Limits
from dyno.targets import journal
from dyno.targets.mysql.server import USER
from dyno.targets.mysql.server import Server as MariadbServer
from dyno.targets.postgresql.server import Server
from tests.mariadb import require_mariadb
from tests.process import dyno, end, no_server_left, servers, spoilt, start, wait_until

SCALE = {"postgresql": "0.05", "duckdb": "0.2", "mysql": "0.05"}
LIMITS = Limits(memory_bytes=256 << 20, threads=2)
LARGE = 4 << 20
"""Bytes of a DuckDB file in which tables of this scale are, and not nearly all."""


def arguments(engine: str, out: Path, *more: str) -> tuple[str | Path, ...]:
    scale = () if "--scale" in more else ("--scale", SCALE[engine])
    return ("load", "tpch", "--target", f"embedded:{engine}", *scale, *more, "--json", "--out", out)


def load(engine: str, out: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return dyno(*arguments(engine, out, *more))


def went_well(done: subprocess.CompletedProcess[str]) -> bool:
    """Whether it ended well; other work on the machine spoils its metrics, not its rows."""
    found = json.loads(done.stdout or '{"reasons": []}')
    noise = bool(found["reasons"]) and not spoilt(found)
    return done.returncode == 0 or (done.returncode == 1 and noise)


def some_are_in(engine: str, out: Path, workload: str = "tpch") -> bool:
    """Whether parts of the load under way are in its journal."""
    if engine == "duckdb":  # nobody else can open the file
        files = (out / "engines" / "duckdb").glob("dyno.duckdb*")
        return sum(file.stat().st_size for file in files) > LARGE
    query = f"SELECT count(*) FROM dyno_{workload}.{journal.TABLE}"
    if engine == "mysql":
        socket = MariadbServer(out.resolve() / "engines" / engine, LIMITS).socket
        try:
            session = pymysql.connect(
                unix_socket=str(socket.parent.resolve() / socket.name), user=USER
            )
            with session, session.cursor() as cursor:
                cursor.execute(query)
                return int((cursor.fetchone() or (0,))[0]) >= 3
        except (pymysql.Error, OSError):  # there is no server yet, or no journal
            return False
    server = Server(out.resolve() / "engines" / engine, LIMITS)
    # Where the path is too long for a socket, the folder is a link to one with a short path.
    conninfo: dict[str, Any] = {**server.conninfo(), "host": str(server.socket_folder.resolve())}
    try:
        with psycopg.connect(**conninfo) as session:
            (count,) = session.execute(query).fetchone() or (0,)  # pyright: ignore
    except psycopg.Error:  # there is no server yet, or no journal
        return False
    return int(count) >= 3


def kill_dyno(pid: int, _out: Path) -> None:
    os.kill(pid, signal.SIGKILL)


def kill_server(_pid: int, out: Path) -> None:
    found = wait_until(lambda: servers(out), "a server")
    pids = {process.pid for process in found}
    for process in found:
        if process.ppid() not in pids:
            os.kill(process.pid, signal.SIGKILL)


def interrupt(pid: int, _out: Path) -> None:
    os.kill(pid, signal.SIGINT)


def cut_off(engine: str, out: Path, kill: Callable[[int, Path], None]) -> None:
    """Begins a load with two streams and kills it once parts are in."""
    process = start(*arguments(engine, out, "--streams", "2"))
    wait_until(lambda: process.poll() is not None or some_are_in(engine, out), "a part")
    kill(process.pid, out)
    assert end(process)[0] not in {0, 1}
    no_server_left(out)


@pytest.mark.long
@pytest.mark.parametrize(
    ("engine", "kill"),
    [
        ("postgresql", kill_dyno),
        ("postgresql", kill_server),
        ("mysql", kill_dyno),
        ("mysql", kill_server),
        ("duckdb", kill_dyno),
        ("duckdb", interrupt),
    ],
)
def test_a_load_that_was_cut_off_goes_on(
    out: Path, engine: str, kill: Callable[[int, Path], None]
) -> None:
    if engine == "mysql":
        require_mariadb()
    cut_off(engine, out, kill)
    if engine != "duckdb" and kill is kill_dyno:
        refusals(engine, out)
    resumed = load(engine, out, "--resume")
    assert went_well(resumed), resumed.stderr
    checks = {item.name: item for item in list_bundles(out)[0].checks()}
    assert all(item.passed for item in checks.values())
    # The exact sums of every table's columns are the generator's, as after a load in one go.
    assert sum(name.startswith("content of ") for name in checks) == 8
    (phase,) = [phase for phase in list_bundles(out)[0].run.phases if phase.kind == "load"]
    if engine != "duckdb":  # nobody can look into DuckDB's file for parts that are in
        assert phase.detail.resumed_parts > 0
        assert phase.detail.resumed_rows > 0
    whole = sum(item.detail.get("rows", 0) for item in checks.values() if "rows of" in item.name)
    assert phase.detail.rows + phase.detail.resumed_rows == whole


def refusals(engine: str, out: Path) -> None:
    """What is not done with a load that was cut off."""
    run = dyno("run", "tpch", "--target", f"embedded:{engine}", "--out", out)
    assert run.returncode == 3
    assert "--resume" in run.stderr
    for more, advice in [
        ((), "Use --resume to continue, or --replace"),
        (("--resume", "--scale", "0.04"), f"has scale {SCALE[engine]}, not 0.04"),
        (("--resume", "--streams", "7"), "omit --streams"),
    ]:
        refused = load(engine, out, *more)
        assert refused.returncode == 2, refused.stderr
        assert advice in refused.stderr
