"""Recordings of iostat and sar from a server, in the record of a run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from dyno.analyse import estimate
from dyno.bundle import metrics
from dyno.bundle.metrics.base import Estimates
from dyno.bundle.reader import Bundle
from dyno.errors import UsageError
from dyno.host.diskstats import parse_diskstats
from dyno.host.storage import storage_facts
from dyno.runner.imports import bring
from dyno.stages.observe.cpu import CpuProbe
from dyno.stages.observe.memory import MemoryProbe
from dyno.stages.observe.sysstat import Recorded, read
from tests.bundles import Builder, quickstart
from tests.conftest import missing
from tests.process import dyno

FILES = Path(__file__).parent / "sysstat"


def values(path: Path) -> dict[tuple[str, str, str], float]:
    """The samples of the last record by source, subject and metric."""
    _, samples = read(path).readings[-1]
    return {(one.source, one.subject, one.metric): one.value for one in samples}


def test_iostat() -> None:
    found = read(FILES / "iostat.json")
    assert (found.machine, found.processors) == ("vm", 2)
    # The first record may be of the time since boot.
    assert [t_ns for t_ns, _ in found.readings] == [1_795_468_495 * 10**9]
    known = values(FILES / "iostat.json")
    last = json.loads((FILES / "iostat.json").read_text())["sysstat"]["hosts"][0]["statistics"][-1]
    vda = next(one for one in last["disk"] if one["disk_device"] == "vda")
    assert known["disk", "vda", "read_iops"] == vda["r/s"] > 0
    assert known["disk", "vda", "read_mbps"] == pytest.approx(vda["rkB/s"] * 1024 / 1e6)
    assert known["disk", "vda", "read_await"] == vda["r_await"]
    assert known["disk", "vda", "queue_length"] == vda["aqu-sz"]
    assert ("nested_disk", "loop0", "read_iops") in known
    assert ("nested_disk", "loop0", "read_await") not in known  # there were no reads
    assert known["cpu", "host", "busy"] == pytest.approx(
        last["avg-cpu"]["user"] + last["avg-cpu"]["system"]
    )


def test_sar() -> None:
    found = read(FILES / "sar.json")
    assert len(found.readings) == 2
    known = values(FILES / "sar.json")
    shares = ("user", "system", "iowait", "steal", "idle")
    assert sum(known["cpu", "host", name] for name in shares) == pytest.approx(100, abs=0.1)
    assert known["memory", "host", "available"] > 1 << 30
    assert ("disk", "vda", "write_mbps") in known
    assert ("disk", "vda", "write_iops") not in known


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "JSON of sysstat"),
        ("[]", "JSON of sysstat"),
        ('{"sysstat": {"hosts": []}}', "JSON of sysstat"),
        ("[" * 100_000, "JSON of sysstat"),
        ((FILES / "local-times.json").read_text(), "S_TIME_FORMAT=ISO"),
    ],
    ids=["empty", "list", "no host", "deep", "local times"],
)
def test_other_files_are_refused(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "file.json"
    file.write_text(text)
    with pytest.raises(UsageError, match=words):
        read(file)


def recording(bundle: Bundle, file: Path, ahead_s: float = 0.0) -> Path:
    """The recording of iostat, repeated each second of a run, on a clock that is ahead."""
    found: Any = json.loads((FILES / "iostat.json").read_text())
    (host,) = found["sysstat"]["hosts"]
    (last,) = host["statistics"][-1:]
    ends = [phase.end_ns or phase.start_ns for phase in bundle.run.phases]
    start_s, end_s = bundle.run.clock.unix_ns // 10**9, max(ends) // 10**9
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    host["statistics"] = [
        {**last, "timestamp": (epoch + timedelta(seconds=second + ahead_s)).isoformat()}
        for second in range(start_s - 60, end_s + 60)
    ]
    file.write_text(json.dumps(found))
    return file


def remote(tmp_path: Path) -> Bundle:
    """A run on a server elsewhere."""
    builder = Builder(tmp_path / "20261120T140000Z-ab12", "run").machine()
    builder.target("far").load("tpcc", "far", 8.0, 1)
    return builder.write()


def test_the_run_is_judged_by_the_machine_of_its_server(tmp_path: Path) -> None:
    bundle = remote(tmp_path)
    before = bundle.table("samples").num_rows
    file = recording(bundle, tmp_path / "iostat.json", ahead_s=300)
    with pytest.raises(UsageError, match="--offset"):
        bring(bundle, [file])
    found = bring(bundle, [file], offset_s=300)
    assert found.machine == "vm"
    changed = Bundle.open(bundle.path)
    assert changed.table("samples").num_rows == before + found.samples
    assert changed.run.targets["far"].machine == "vm"
    of = metrics.Resources("load-tpcc-far", machine="vm")
    known = Estimates(estimate(changed))
    assert known.value(of.device("vda", "read_iops").mean) == pytest.approx(
        values(FILES / "iostat.json")["disk", "vda", "read_iops"]
    )
    with pytest.raises(UsageError, match="--yes"):
        bring(changed, [file], offset_s=300)
    again = bring(changed, [file], offset_s=300, replace=True)
    assert Bundle.open(bundle.path).table("samples").num_rows == before + again.samples


def test_recordings_at_the_same_times_complete_each_other(tmp_path: Path) -> None:
    bundle = remote(tmp_path)
    iostat = recording(bundle, tmp_path / "iostat.json")
    found: Any = json.loads(iostat.read_text())
    for record in found["sysstat"]["hosts"][0]["statistics"]:
        record["memory"] = {"avail": 1000}
        del record["disk"]
    other = tmp_path / "other.json"
    other.write_text(json.dumps(found))
    alone = bring(bundle, [iostat]).samples
    both = bring(Bundle.open(bundle.path), [iostat, other], replace=True)
    assert both.samples == alone + both.moments


def test_the_verb(tmp_path: Path) -> None:
    bundle = remote(tmp_path)
    file = recording(bundle, tmp_path / "iostat.json")
    done = dyno("runs", "import", bundle.path, file, "--machine", "db1.example", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["machine"] == "db1"
    assert dyno("report", bundle.path).returncode in {0, 1}


def test_a_server_that_was_observed_is_refused(tmp_path: Path) -> None:
    bundle = quickstart(tmp_path).write()
    file = recording(bundle, tmp_path / "iostat.json")
    with pytest.raises(UsageError, match="another machine"):
        bring(bundle, [file])


def megabytes_written(device: str) -> float:
    """What the kernel counted since boot."""
    text = Path("/proc/diskstats").read_text(encoding="utf-8")
    return parse_diskstats(text)[device].write_sectors * 512 / 1e6


def means(found: Recorded, source: str, subject: str, metric: str) -> float:
    wanted = (source, subject, metric)
    listed = [
        one.value
        for _, samples in found.readings
        for one in samples
        if (one.source, one.subject, one.metric) == wanted
    ]
    assert len(listed) == len(found.readings) == 3
    return sum(listed) / 3


@pytest.mark.long
def test_real_recordings_agree_with_the_probes_and_come_into_a_run(tmp_path: Path) -> None:
    if not (shutil.which("iostat") and shutil.which("sadf")):
        missing("sysstat")
    device = storage_facts(tmp_path)["subject"]
    if device is None:
        missing("a local disk under the temporary folder")
        return
    iostat, sar, data = (tmp_path / name for name in ("iostat.json", "sar.json", "sar.bin"))
    environment = {**os.environ, "LC_ALL": "C", "S_TIME_FORMAT": "ISO"}

    def records() -> int:
        return iostat.read_text().count('"timestamp"')

    cpu, memory = CpuProbe(), MemoryProbe()
    cpu.read(0)
    before, first, last = megabytes_written(device), None, 0.0
    with iostat.open("wb") as file:
        words = ("iostat", "-o", "JSON", "-x", "-t", "1", "4")
        recorders = [
            subprocess.Popen(words, stdout=file, env=environment),
            subprocess.Popen(("sar", "-A", "-o", data, "1", "3"), stdout=subprocess.DEVNULL),
        ]
        while any(one.poll() is None for one in recorders):
            with (tmp_path / "load").open("wb") as load:
                load.write(os.urandom(1 << 20))
                os.fsync(load.fileno())
            # What is counted between its first record and its last is a part of what it saw.
            begun, now = records() > 0, megabytes_written(device)
            first = now if begun and first is None else first
            last = now if records() < 4 else last
    assert [one.returncode for one in recorders] == [0, 0]
    after = megabytes_written(device)
    ours = {one.metric: one.value for probe in (cpu, memory) for one in probe.read(0)}
    with sar.open("wb") as file:
        subprocess.run(("sadf", "-j", data, "--", "-A"), stdout=file, check=True)

    seen = {path: read(path) for path in (iostat, sar)}
    for found in seen.values():
        assert (found.machine, found.processors) == (os.uname().nodename, os.cpu_count())
        assert means(found, "cpu", "host", "busy") == pytest.approx(ours["busy"], abs=25)
    assert first is not None and first < last
    written = 3 * means(seen[iostat], "disk", device, "write_mbps")
    assert 0.8 * (last - first) <= written <= 1.2 * (after - before)
    available = means(seen[sar], "memory", "host", "available")
    assert available == pytest.approx(ours["available"], rel=0.3)

    bundle = remote(tmp_path)
    ahead_ns = seen[iostat].readings[0][0] - bundle.run.clock.unix_ns - 2 * 10**9
    found = bring(bundle, [iostat, sar], offset_s=ahead_ns / 1e9)
    assert found.moments >= 3
    known = Estimates(estimate(Bundle.open(bundle.path)))
    of = metrics.Resources("load-tpcc-far", machine=found.machine)
    rate = known.value(of.device(device, "write_mbps").mean)
    assert rate is not None and rate > 0
