"""Exporters of Prometheus: recorded texts, and Debian's own programs beside Dyno's probes."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from dyno.agent.address import exporter_address
from dyno.bundle.inside import Inside
from dyno.bundle.reader import list_bundles
from dyno.contracts.probe import Sample
from dyno.errors import TargetError, UsageError
from dyno.stages.observe.cpu import CpuProbe
from dyno.stages.observe.disk import DiskProbe
from dyno.stages.observe.exporters import ExporterProbe, database, node
from dyno.stages.observe.exporters.text import Scrape
from tests.conftest import missing
from tests.process import document, dyno, wait_until
from tests.targets.conftest import embedded_mariadb, public_folder
from tests.targets.debian import debian_server

TEXT = """
# HELP node_cpu_seconds_total Seconds the CPUs spent in each mode.
# TYPE node_cpu_seconds_total counter
node_cpu_seconds_total{cpu="0",mode="idle"} 100
node_cpu_seconds_total{cpu="0",mode="user"} 10.5
node_disk_reads_completed_total{device="vda"} 1.5e+03 1700000000000
odd{path="C:\\\\dir\\"}\\n",other="}"} 7
broken{ 1
nan_value NaN
just_a_name
"""


def test_the_text_format() -> None:
    found = Scrape(TEXT)
    assert found.sum("node_cpu_seconds_total") == 110.5
    assert found.sum("node_cpu_seconds_total", {"mode": "idle"}) == 100
    assert found.sum("node_disk_reads_completed_total") == 1500
    assert found.each("odd") == [({"path": 'C:\\dir"}\n', "other": "}"}, 7)]
    for name in ("broken", "nan_value", "just_a_name"):
        assert found.sum(name) is None


def test_too_many_samples_are_refused() -> None:
    with pytest.raises(ValueError, match="more than"):
        Scrape("a 1\n" * 200_001)


def values(samples: list[Sample]) -> dict[tuple[str, str, str], float]:
    return {(one.source, one.subject, one.metric): one.value for one in samples}


def scrape(**of: float) -> Scrape:
    return Scrape("\n".join(f"{name} {value}" for name, value in of.items()))


def test_a_database_between_two_scrapes() -> None:
    before = scrape(pg_stat_database_blks_hit=900, pg_stat_database_blks_read=100,
                    pg_stat_database_xact_commit=10, pg_stat_database_temp_bytes=0)  # fmt: skip
    after = scrape(pg_stat_database_blks_hit=1260, pg_stat_database_blks_read=140,
                   pg_stat_database_xact_commit=5, pg_stat_database_temp_bytes=4e6)  # fmt: skip
    found = {metric: value for (_, _, metric), value in values(
        database.samples(before, after, 2.0)).items()}  # fmt: skip
    assert found == {
        Inside.physical_reads: 20,
        Inside.logical_reads: 200,
        Inside.hit_ratio: 90,
        Inside.temp_written: 2,
    }, "a counter that decreased is left out"


def test_nodes_without_devices_or_memory_give_what_they_have() -> None:
    one = Scrape('node_cpu_seconds_total{cpu="0",mode="idle"} 1')
    two = Scrape('node_cpu_seconds_total{cpu="0",mode="idle"} 1.25\n'
                 'node_cpu_seconds_total{cpu="0",mode="user"} 0.75')  # fmt: skip
    assert values(node.samples(one, two, 1.0))["cpu", "host", "busy"] == 75
    assert node.facts(two) == {"cpu": {"logical": 1, "usable": 1}}
    assert node.facts(Scrape("x 1")) == {}


@contextlib.contextmanager
def exporter(name: str, *options: str, **environment: str) -> Iterator[str]:
    """Debian's exporter at an address of its own."""
    program = shutil.which(f"prometheus-{name}-exporter")
    if program is None:
        missing(f"prometheus-{name}-exporter")
    with closing(socket.create_server(("127.0.0.1", 0))) as found:
        address = f"127.0.0.1:{found.getsockname()[1]}"
    process = subprocess.Popen(
        [str(program), f"--web.listen-address={address}", *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **environment},
    )
    try:

        def answers() -> bool:
            host, port = address.split(":")
            with contextlib.suppress(OSError):
                socket.create_connection((host, int(port))).close()
                return True
            assert process.poll() is None, "the exporter ended"
            return False

        wait_until(answers, "the exporter")
        yield f"http://{address}"
    finally:
        process.terminate()
        process.wait()


def test_a_node_exporter_agrees_with_the_probes(tmp_path: Path) -> None:
    with exporter("node") as url:
        probe = ExporterProbe.at(exporter_address(f"db1={url}"), "")
        probe.check()
        assert probe.facts()["cpu"]["logical"] == os.cpu_count()
        cpu, disk = CpuProbe(), DiskProbe()
        probe.read(0)
        cpu.read(0)
        disk.read(0)
        for number in range(20):
            with (tmp_path / str(number)).open("wb") as file:
                file.write(os.urandom(1 << 20))
                os.fsync(file.fileno())
        theirs = values(probe.read(1))
        ours = values(cpu.read(1))
        assert theirs["cpu@db1", "host", "busy"] == pytest.approx(
            ours["cpu", "host", "busy"], abs=25
        )
        written = {
            (source.removesuffix("@db1"), name)
            for (source, name, metric), value in theirs.items()
            if metric == "write_mbps" and value > 0
        }
        devices = {name for source, name in written if source == "disk"}
        assert devices & {name for _, name, _ in values(disk.read(10**9))} or not devices
        assert {"memory@db1", "network@db1"} <= {source for source, _, _ in theirs}
        probe.close()


def test_a_machine_is_recorded_through_its_exporter(tmp_path: Path) -> None:
    with exporter("node") as url:
        words = ("--exporter", f"db1={url}", "--for", "4s", "--json", "--out", tmp_path)
        document(dyno("watch", "host:", *words))
    bundle = list_bundles(tmp_path)[0]
    (phase,) = [one.name for one in bundle.run.phases if one.kind == "watch"]
    busy = f"resource.{phase}@db1.cpu.host.busy.mean"
    assert busy in {one.name for one in bundle.estimates()}
    assert bundle.run.machines["db1"]["cpu"]["logical"] == os.cpu_count()


def test_a_postgres_exporter_counts_what_was_committed(tmp_path: Path) -> None:
    root = tmp_path
    for folder in (root, *root.parents[:3]):
        with contextlib.suppress(OSError):
            folder.chmod(folder.stat().st_mode | 0o011)
    with debian_server(root) as url:
        source = f"host={root / 'debian'} user=dyno dbname=postgres sslmode=disable"
        with exporter("postgres", DATA_SOURCE_NAME=source) as address:
            probe = ExporterProbe.at(exporter_address(f"db1={address}"), "")
            probe.check()
            before = probe.read(0)
            with psycopg.connect(url, autocommit=True) as session:
                for _ in range(500):
                    session.execute("SELECT 1")

            def committed() -> float:
                found = values(probe.read(1))
                return found.get(("database@db1", "server", "commits"), 0.0)

            assert wait_until(lambda: committed() > 20, "the commits")
            assert before is not None
            probe.close()


def test_a_mysqld_exporter_counts_what_was_committed() -> None:
    with public_folder() as folder, embedded_mariadb(folder) as target:
        own = target.wire()
        source = f"{own['user']}@unix({own['unix_socket']})/"
        with exporter("mysqld", DATA_SOURCE_NAME=source) as address:
            probe = ExporterProbe.at(exporter_address(f"db1={address}"), "")
            probe.check()
            assert probe.facts() == {}
            probe.read(0)
            with closing(target.connect()) as session:
                session.execute("CREATE DATABASE counted")
                session.execute("CREATE TABLE counted.kept (id INT PRIMARY KEY) ENGINE=InnoDB")
                for number in range(100):
                    session.execute(f"INSERT INTO counted.kept VALUES ({number})")
                    session.execute("COMMIT")
                found = values(probe.read(1))
            probe.close()
    counted = {metric: value for (source, _, metric), value in found.items()
               if source == "database@db1"}  # fmt: skip
    assert counted[Inside.commits] > 20
    assert counted[Inside.log_writes] > 0 and counted[Inside.log_mbps] > 0
    assert 0 < counted[Inside.hit_ratio] <= 100
    assert counted[Inside.connections] >= 2


def test_what_is_no_exporter_is_refused() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as found:
        port = found.getsockname()[1]
    probe = ExporterProbe.at(exporter_address(f"http://127.0.0.1:{port}"), "")
    with pytest.raises(TargetError, match="does not respond"):
        probe.check()
    with exporter("node", "--web.disable-exporter-metrics") as url:
        whole = ExporterProbe.at(exporter_address(url + "/"), "")
        with pytest.raises(UsageError, match="has no metrics"):
            whole.check()
