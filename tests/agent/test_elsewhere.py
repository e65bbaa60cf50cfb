"""A PostgreSQL on another machine: in a network namespace, 1 ms away, with an agent beside it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import psycopg
import pytest

from dyno.bundle.reader import Bundle, list_bundles
from dyno.decide.limits.cpu import LEAST_PERCENT
from dyno.host.storage import storage_facts
from dyno.studies.store import StudyStore
from tests import forked
from tests.agent.network import TOKEN, Link, agent, postgres, server_network
from tests.process import events, wait_until
from tests.targets.debian import as_server, owned
from tests.targets.loops import mounted

LEVEL = "oltp-tpcc-postgresql-users-2"


class Place(NamedTuple):
    """The other machine with its database, loaded with one warehouse."""

    link: Link
    url: str
    data: Path
    pid: int


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    root = os.environ.get("PYTEST_DEBUG_TEMPROOT")
    with contextlib.ExitStack() as stack:
        link = stack.enter_context(server_network())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=root)))
        folder.chmod(0o755)
        url = stack.enter_context(postgres(link, folder))
        loaded = dyno(
            "load", "tpcc", "--target", url, "--scale", "1", "--out", str(folder / "load")
        )
        assert loaded.wait(300) in (0, 1), "disturbed loads are whole, too"
        data = folder / "debian"
        yield Place(link, url, data, int((data / "postmaster.pid").read_text().split()[0]))


def dyno(*words: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "dyno", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**forked.light(), "DYNO_AGENT_TOKEN": TOKEN, **environment},
    )


def run(place: Place, out: Path, *options: str, seconds: int = 6) -> subprocess.Popen[str]:
    return dyno(
        *("run", "tpcc", "--target", place.url, "--users", "2", "--duration", f"{seconds}s"),
        *("--warmup", "1s", "--reconnect", "60s", "--json", "--out", str(out), *options),
    )


@contextlib.contextmanager
def agent_at(
    place: Place, *options: str, port: str = "0"
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    words = ("--listen", place.link.address, "--port", port, "--plain-http", *options)
    with agent(*words, inside=place.link.inside) as found:
        yield found


def ended(process: subprocess.Popen[str], out: Path) -> tuple[dict[str, Any], Bundle]:
    stdout, stderr = process.communicate(timeout=300)
    assert process.returncode in (0, 1), stderr
    return json.loads(stdout), list_bundles(out)[0]


def under_load(out: Path) -> Any:
    """Waits until the users have worked for a moment."""
    # The file is there before the users are.
    wait_until(lambda: any(file.stat().st_size for file in out.glob("*/ops/*.jsonl")), "the load")


def seconds(bundle: Bundle, source: str, subject: str, metric: str) -> list[tuple[float, float]]:
    """Time since the start of the run, and value."""
    wanted = (source, subject, metric)
    start = bundle.run.clock.unix_ns
    return [
        ((row["t_ns"] - start) / 1e9, row["value"])
        for row in bundle.table("samples").to_pylist()
        if (row["source"], row["subject"], row["metric"]) == wanted
    ]


def estimates(bundle: Bundle) -> dict[str, float]:
    return {one.name: one.value for one in bundle.estimates()}


def assert_every_tick(bundle: Bundle) -> None:
    times = [at for at, _ in seconds(bundle, "cpu@db1", "host", "busy")]
    assert times == sorted(set(times))
    missed = sum(value for _, value in seconds(bundle, "dyno@db1", "sampler", "missed_ticks"))
    gaps = [after - before for before, after in pairwise(times)]
    assert sum(round(gap) - 1 for gap in gaps if gap > 1.5) <= missed, "a tick was lost"
    assert seconds(bundle, "dyno@db1", "agent", "missed_ticks") == []
    own = [at for at, _ in seconds(bundle, "cpu", "host", "busy")]
    assert times[0] < own[0] + 2
    assert times[-1] > own[-1] - 2


@pytest.mark.long
def test_the_machine_of_the_server_is_judged(place: Place, tmp_path: Path) -> None:
    with agent_at(place) as (_, url):
        found, bundle = ended(run(place, tmp_path, "--agent", f"db1={url}"), tmp_path)
    facts = bundle.run.targets["postgresql"]
    assert (facts.place, facts.machine) == ("elsewhere", "db1")
    subject = storage_facts(place.data)["subject"]
    if subject is not None:
        assert facts.devices.get("data") == (subject,), facts.device_notes
    assert facts.volumes["data"]["fs_type"] == storage_facts(place.data)["fs_type"]
    assert bundle.run.machines["db1"]["cpu"]["logical"] == os.cpu_count()
    assert_every_tick(bundle)
    known = estimates(bundle)
    there = f"resource.{LEVEL}@db1"
    assert known[f"{there}.process.server.cpu.mean"] > 0
    # Both look at the same machine: means over the same seconds agree.
    for metric in ("disk", "cpu"):
        device = f"{subject}.write_iops" if metric == "disk" else "host.busy"
        if metric == "disk" and subject is None:
            continue
        here = known[f"resource.{LEVEL}.{metric}.{device}.mean"]
        assert known[f"{there}.{metric}.{device}.mean"] == pytest.approx(here, rel=0.25, abs=10)
    # The users, who are here, are other processes there.
    assert sum(value for name, value in known.items() if name.startswith(f"{there}.others.")) > 0
    limits = [item for item in found["criteria"] if item["criterion"].startswith("cpu")]
    assert limits[0]["passed"] is not None
    assert "of db1" in limits[0]["note"]
    messages = [finding.message for finding in bundle.findings()]
    assert not [one for one in messages if "was not monitored" in one]
    ((_, bound),) = seconds(bundle, "clock", "db1", "bound")[:1]
    assert place.link.DELAY_S <= bound < 0.02


def cpu_used(bundle: Bundle) -> float:
    known = estimates(bundle)
    return sum(known[f"resource.{LEVEL}.cpu.host.{one}.mean"] for one in ("busy", "steal"))


@pytest.mark.long
def test_a_long_link_is_the_bottleneck(place: Place, tmp_path: Path) -> None:
    """Without an agent: what the database and the driver report is enough."""
    _, bundle = ended(run(place, tmp_path / "0"), tmp_path / "0")
    for again in ("1", "2", "3"):  # until the machine has CPU to spare
        if cpu_used(bundle) >= LEAST_PERCENT:
            _, bundle = ended(run(place, tmp_path / again), tmp_path / again)
    (found,) = (
        one for one in bundle.findings() if one.phase == LEVEL and one.code.startswith("limit-")
    )
    if cpu_used(bundle) < LEAST_PERCENT:
        assert found.code == "limit-network", found.message
        assert any(f"{LEVEL}.sessions.postgresql." in name for name in found.evidence)
    else:  # the driver may have waited for a CPU
        assert found.code == "limit-unattributed", found.message


def cut_for(place: Place, tmp_path: Path, length_s: float) -> None:
    with agent_at(place) as (_, url):
        process = run(place, tmp_path, "--agent", f"db1={url}", seconds=round(length_s) + 8)
        under_load(tmp_path)
        with place.link.cut():
            time.sleep(length_s)  # the length of the cut is what is tested
        _, bundle = ended(process, tmp_path)
    assert_every_tick(bundle)


@pytest.mark.long
def test_nothing_is_lost_by_a_cut(place: Place, tmp_path: Path) -> None:
    cut_for(place, tmp_path, 3)


@pytest.mark.long
def test_nothing_is_lost_by_a_cut_of_half_a_minute(place: Place, tmp_path: Path) -> None:
    cut_for(place, tmp_path, 30)
    (bundle,) = list_bundles(tmp_path)
    lines = [json.loads(line) for line in (bundle.path / "events.jsonl").read_text().splitlines()]
    names = [line["event"] for line in lines]
    assert names.count("agent-lost") == names.count("agent-back") == 1


@pytest.mark.long
def test_a_killed_agent_does_not_end_the_run(place: Place, tmp_path: Path) -> None:
    with agent_at(place) as (served, url):
        process = run(place, tmp_path, "--agent", f"db1={url}", seconds=8)
        under_load(tmp_path)
        kill_agent(served)
        _, bundle = ended(process, tmp_path)
    lost = [one for one in events(tmp_path) if one["event"] == "agent-lost"]
    assert [one["machine"] for one in lost] == ["db1"]
    assert "does not respond" in lost[0]["reason"]
    assert sum(value for _, value in seconds(bundle, "dyno@db1", "agent", "missed_ticks")) >= 3
    assert "server-unseen" in {finding.code for finding in bundle.findings()}


@pytest.mark.long
def test_partitions_in_tablespaces_there_have_volumes_of_their_own(tmp_path: Path) -> None:
    # File systems that are mounted later are not in the name space of the server.
    with (
        mounted("one", "two") as home,
        server_network() as link,
        postgres(link, home) as url,
        agent("--listen", link.address, "--port", "0", "--plain-http", inside=link.inside) as at,
    ):
        volumes = (home / "one", home / "two")
        with psycopg.connect(url, autocommit=True) as session:
            for volume in volumes:
                space = owned(volume / "space")
                session.execute(f"CREATE TABLESPACE {volume.name} LOCATION '{space}'".encode())
        layout = tmp_path / "parts.toml"
        layout.write_text(
            '[tables.orders]\npartition = { column = "o_orderkey", count = 2, '
            'volumes = ["tablespace:one", "tablespace:two"] }\n'
        )
        for verb in (("load", "tpch", "--scale", "0.01", "--layout", str(layout)), ("run", "tpch")):
            words = ("--target", url, "--agent", f"db1={at[1]}", "--json", "--out", str(tmp_path))
            _, bundle = ended(dyno(*verb, *words), tmp_path)
            facts = bundle.run.targets["postgresql"]
            for number, volume in enumerate(volumes, start=1):
                subject = storage_facts(volume)["subject"]
                assert facts.devices[f"partition-{number}"] == (subject,)
                assert subject in facts.devices["data"]


STUDY = """
pairs = 2
headline = ["tps"]
exploratory = ["cpu_max", "data_write_ms", "log_write_ms", "memory_available"]

[base]
workload = "tpcc"
target = "{url}"
scale = 1

[base.load]
agent = "db1={agent}"

[base.run]
agent = "db1={agent}"
warmup = "500ms"
duration = "3s"
no_criteria = true

[factors]
"run.users" = [1, 4]
"""


@pytest.mark.long
def test_the_metrics_of_a_study_are_those_of_the_other_machine(tmp_path: Path) -> None:
    with (
        mounted("data", "log") as home,
        server_network() as link,
        postgres(link, home / "data", wal=owned(home / "log" / "wal")) as url,
        agent("--listen", link.address, "--port", "0", "--plain-http", inside=link.inside) as at,
    ):
        study = tmp_path / "elsewhere.toml"
        study.write_text(STUDY.format(url=url, agent=at[1]))
        done = dyno("study", str(study), "--yes", "--no-early-stop", "--out", str(tmp_path / "out"))
        _, stderr = done.communicate(timeout=600)
        assert done.returncode in (0, 1), stderr
        store = StudyStore.open(tmp_path / "out" / "studies" / "elsewhere")
        entries = store.entries()
        assert len(entries) >= 4
        for entry in entries:
            assert entry.bundle is not None
            bundle = Bundle.open(store.folder / entry.bundle)
            known = estimates(bundle)
            (log,) = bundle.run.targets["postgresql"].devices["log"]
            assert log == storage_facts(home / "log")["subject"]
            phase = next(one.name for one in bundle.run.phases if one.kind == "oltp")
            there = f"resource.{phase}@db1"
            assert entry.figures["log_write_ms"] == known[f"{there}.disk.{log}.write_await.mean"]
            assert entry.figures["cpu_max"] > 0
            assert entry.figures["memory_available"] > 0


def test_a_database_is_watched_and_followed_through_its_restart(
    place: Place, tmp_path: Path
) -> None:
    with agent_at(place) as (_, url):
        words = ("--agent", f"db1={url}", "--interval", "1s", "--json", "--out", str(tmp_path))
        process = dyno("watch", place.url, *words)
        wait_until(lambda: of_server(tmp_path), "samples of the server")
        restart(place)
        wait_until(lambda: "server-restarted" in names(tmp_path), "the restart")
        before = of_server(tmp_path)
        wait_until(lambda: of_server(tmp_path) > before + 8, "its processes")
        process.send_signal(signal.SIGINT)
        _, bundle = ended(process, tmp_path)
    main = int((place.data / "postmaster.pid").read_text().split()[0])
    (restarted,) = [one for one in events(tmp_path) if one["event"] == "server-restarted"]
    assert restarted["machine"] == "db1"
    assert int(restarted["pid"]) == main
    facts = bundle.run.targets["postgresql"]
    assert (facts.place, facts.machine) == ("elsewhere", "db1")
    known = estimates(bundle)
    (phase,) = [one.name for one in bundle.run.phases if one.kind == "watch"]
    assert known[f"resource.{phase}@db1.cpu.host.busy.mean"] > 0
    assert known[f"resource.{phase}@db1.process.server.processes.mean"] > 1


@pytest.mark.long
def test_an_agent_that_restarts_at_once_goes_on_with_the_server(
    place: Place, tmp_path: Path
) -> None:
    with agent_at(place) as (served, url):
        words = ("--agent", f"db1={url}", "--interval", "1s", "--json", "--out", str(tmp_path))
        process = dyno("watch", place.url, *words)
        wait_until(lambda: of_server(tmp_path) > 3, "samples of the server")
        kill_agent(served)
        with agent_at(place, port=url.rpartition(":")[2]):
            wait_until(lambda: "agent-restarted" in names(tmp_path), "the new agent")
            before = of_server(tmp_path)
            wait_until(lambda: of_server(tmp_path) > before + 3, "samples of the server")
            process.send_signal(signal.SIGINT)
            ended(process, tmp_path)
    (restarted,) = [one for one in events(tmp_path) if one["event"] == "agent-restarted"]
    assert restarted["server"] is True


def of_server(out: Path) -> int:
    """Samples of the server's processes so far."""
    lines = [
        line
        for file in out.glob("*/samples.jsonl")
        for line in file.read_text().rpartition("\n")[0].splitlines()
    ]
    keys = [(row["source"], row["subject"]) for row in map(json.loads, lines)]
    return keys.count(("process@db1", "server"))


def names(out: Path) -> set[str]:
    return {one["event"] for one in events(out)} if list(out.glob("*/events.jsonl")) else set()


def restart(place: Place) -> None:
    """Restarts the server as its own tool does; the sessions are broken off."""
    control = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))[-1]
    words = (*place.link.inside, *as_server(), str(control), "-D", str(place.data), "-w")
    log = ("-l", str(place.data / "log"))
    subprocess.run([*words, *log, "-m", "fast", "restart"], cwd="/", check=True, timeout=60)


def kill_agent(served: subprocess.Popen[str]) -> None:
    served.kill()
    served.wait()


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"DYNO_AGENT_TOKEN": "another-token-of-16-and-more"}, "refused the token"),
        ({"DYNO_AGENT_TOKEN": ""}, "needs its token"),
    ],
)
def test_a_run_without_the_token_does_not_start(
    place: Place, tmp_path: Path, environment: dict[str, str], words: str
) -> None:
    with agent_at(place) as (_, url):
        options = ("--target", place.url, "--agent", url, "--out", str(tmp_path / "out"))
        done = dyno("check", "tpcc", *options, **environment)
        _, stderr = done.communicate(timeout=120)
    assert done.returncode == (3 if environment["DYNO_AGENT_TOKEN"] else 2)
    assert words in stderr
    assert not list((tmp_path / "out").glob("*/run.json"))


def test_an_embedded_engine_has_no_other_machine(tmp_path: Path) -> None:
    for target in ("embedded:duckdb", "null:"):
        options = ("--target", target, "--agent", "http://127.0.0.1:1", "--out", str(tmp_path))
        done = dyno("run", "tpcc", *options)
        _, stderr = done.communicate(timeout=120)
        assert done.returncode in (2, 3), stderr
    assert "does not respond" in stderr


def test_the_agent_is_small(place: Place) -> None:
    with agent_at(place) as (served, _):
        process = psutil.Process(served.pid)
        assert process.memory_info().rss < 60e6
