"""Each probe against captured texts of machines that differ."""

from __future__ import annotations

from pathlib import Path

import pytest

from dyno.contracts.probe import Sample, UnavailableError
from dyno.host.cpu_times import parse_stat
from dyno.stages.observe import cpu, interface, memory, network, pressure
from dyno.stages.observe.base import Probe
from dyno.stages.observe.registry import names, open_probes
from tests.host.machine import MEMINFO, MEMINFO_3_10, write

SECOND = 1_000_000_000


def values(samples: list[Sample]) -> dict[str, float]:
    """Metric → value of samples on one subject."""
    assert len({(sample.source, sample.subject) for sample in samples}) <= 1
    return {sample.metric: sample.value for sample in samples}


def test_probes_are_found_by_their_files() -> None:
    assert {"cpu", "disk", "memory", "network", "pressure", "process", "work"} <= set(names())
    probes = open_probes()
    assert [probe.name for probe in probes] == names()
    assert all(isinstance(probe, Probe) for probe in probes)


@pytest.mark.parametrize("name", ["cpu", "disk", "interface", "memory", "network", "pressure"])
def test_a_missing_source_is_reported(tmp_path: Path, name: str) -> None:
    probe = next(probe for probe in open_probes(tmp_path) if probe.name == name)
    with pytest.raises(UnavailableError, match="cannot be read: No such file"):
        probe.read(0)


DEV = """Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo
    lo: 900 9 0 0 0 0 0 0 900 9 0 0 0 0 0 0
  eth0:{0} 5 {2} 1 0 0 0 0 {1} 7 2 {3} 0 0 0 0
 unused: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
"""


def test_traffic_of_interfaces(tmp_path: Path) -> None:
    probe = interface.open_probe(tmp_path)
    for at, counters in enumerate([(10**6, 0, 0, 0), (5 * 10**6, 2 * 10**6, 2, 4), (0, 0, 0, 0)]):
        write(tmp_path, {"proc/net/dev": DEV.format(*counters)})
        found = probe.read(at * 2 * SECOND)
        assert {sample.subject for sample in found} == ({"eth0"} if at == 1 else set())
        if at == 1:
            assert values(found) == {
                "receive_mbps": 2.0, "send_mbps": 1.0, "errors": 1.0, "drops": 2.0
            }  # fmt: skip


def test_cpu_shares_between_two_readings(tmp_path: Path) -> None:
    write(tmp_path, {"proc/stat": "cpu 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0\ncpu1 0 0 0 0\n"})
    probe = cpu.open_probe(tmp_path)
    assert probe.read(0) == []
    text = "cpu 40 10 20 100 20 5 5 0\ncpu0 40 10 15 30 0 2 3 0\ncpu1 0 0 5 70 20 3 2 0\n"
    write(tmp_path, {"proc/stat": text})
    samples = probe.read(SECOND)
    assert values(samples) == {
        "user": 25.0,
        "system": 15.0,
        "iowait": 10.0,
        "steal": 0.0,
        "idle": 50.0,
        "busy": 40.0,
        "busiest_core": 70.0,
    }
    assert {(sample.source, sample.subject, sample.unit) for sample in samples} == {
        ("cpu", "host", "%")
    }


def test_a_processor_that_comes_online_is_left_out() -> None:
    before = parse_stat("cpu 0 0 0 0\ncpu0 0 0 0 0\n")
    after = parse_stat("cpu 50 0 0 150\ncpu0 20 0 0 80\ncpu1 900 0 0 0\n")
    assert values(cpu.samples(before, after))["busiest_core"] == 25.0  # the mean, at least


def test_cpu_without_a_line_for_processors(tmp_path: Path) -> None:
    probe = cpu.open_probe(write(tmp_path, {"proc/stat": "intr 1 2 3\n"}))
    with pytest.raises(UnavailableError, match="no line for the processors"):
        probe.read(0)


def test_memory_levels(tmp_path: Path) -> None:
    probe = memory.open_probe(write(tmp_path, {"proc/meminfo": MEMINFO}))
    assert values(probe.read(0)) == {
        "available": 8192000 * 1024.0,
        "cached": 4096000 * 1024.0,
        "dirty": 2048 * 1024.0,
        "swap_used": 1048576 * 1024.0,
    }


def test_memory_of_an_old_kernel(tmp_path: Path) -> None:
    probe = memory.open_probe(write(tmp_path, {"proc/meminfo": MEMINFO_3_10}))
    assert values(probe.read(0)).keys() == {"available", "cached"}


def psi(some: int, full: int | None) -> str:
    """A file of ``/proc/pressure``."""
    averages = "avg10=1.00 avg60=0.08 avg300=0.57"
    text = f"some {averages} total={some}\n"
    return text if full is None else f"{text}full {averages} total={full}\n"


def test_pressure_is_the_share_of_the_time_that_passed(tmp_path: Path) -> None:
    def show(cpu_some: int, io_some: int, io_full: int, memory_some: int) -> None:
        texts = {
            "proc/pressure/cpu": psi(cpu_some, None),  # before Linux 5.13 without "full"
            "proc/pressure/io": psi(io_some, io_full),
            "proc/pressure/memory": psi(memory_some, 0),
        }
        write(tmp_path, texts)

    show(1_000, 5_000_000, 4_000_000, 7)
    probe = pressure.open_probe(tmp_path)
    assert probe.read(10 * SECOND) == []
    show(201_000, 6_000_000, 4_500_000, 7)
    found = {(s.subject, s.metric): s.value for s in probe.read(12 * SECOND)}
    assert found == {
        ("cpu", "some"): 10.0,
        ("io", "some"): 50.0,
        ("io", "full"): 25.0,
        ("memory", "some"): 0.0,
        ("memory", "full"): 0.0,
    }


def test_full_pressure_on_the_cpu_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, {f"proc/pressure/{name}": psi(0, 0) for name in pressure.RESOURCES})
    probe = pressure.open_probe(tmp_path)
    probe.read(0)
    keys = {(sample.subject, sample.metric) for sample in probe.read(SECOND)}
    assert ("cpu", "full") not in keys
    assert ("cpu", "some") in keys


def test_pressure_stays_a_share() -> None:
    key = ("io", "some")
    assert pressure.samples({key: 0}, {key: 1_000_100}, 1e6)[0].value == 100.0
    assert pressure.samples({key: 5}, {key: 0}, 1e6)[0].value == 0.0
    assert pressure.samples({key: 0}, {key: 5}, 0) == []


SNMP = """\
Ip: Forwarding DefaultTTL InReceives
Ip: 2 64 12988
Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens InSegs OutSegs RetransSegs InErrs OutRsts
Tcp: 1 200 120000 -1 103 12782 {sent} {again} 0 122
Udp: InDatagrams NoPorts
Udp: 205 0
"""


def test_tcp_retransmissions(tmp_path: Path) -> None:
    path = "proc/net/snmp"
    probe = network.open_probe(write(tmp_path, {path: SNMP.format(sent=1000, again=10)}))
    assert probe.read(0) == []
    write(tmp_path, {path: SNMP.format(sent=3000, again=20)})
    assert values(probe.read(2 * SECOND)) == {
        "segments_out": 1000.0,
        "segments_retransmitted": 5.0,
        "retransmitted": 0.5,
    }


def test_tcp_at_rest_has_no_share() -> None:
    rest = network.TcpCounters(sent=7, retransmitted=1)
    assert values(network.samples(rest, rest, 1.0)) == {
        "segments_out": 0.0,
        "segments_retransmitted": 0.0,
    }


def test_tcp_counters_that_fell_give_no_value() -> None:
    high, low = network.TcpCounters(4_294_967_290, 5), network.TcpCounters(3, 5)
    assert network.samples(high, low, 1.0) == []


@pytest.mark.parametrize("text", ["", "Tcp: A B\nTcp: 1 2\n", "Tcp: OutSegs RetransSegs\n"])
def test_network_without_tcp(tmp_path: Path, text: str) -> None:
    probe = network.open_probe(write(tmp_path, {"proc/net/snmp": text}))
    with pytest.raises(UnavailableError, match="no counters for TCP"):
        probe.read(0)


@pytest.mark.parametrize("name", names())
def test_this_machine(name: str) -> None:
    probe = next(probe for probe in open_probes() if probe.name == name)
    try:
        first, second = probe.read(SECOND), probe.read(2 * SECOND)
    except UnavailableError as error:
        pytest.skip(str(error))
    for sample in [*first, *second]:
        assert sample.source
        assert sample.subject
        assert sample.value >= 0
        assert sample.unit in {"%", "B", "1/s", "MB/s", "ms", "count"}
        if sample.unit == "%" and sample.source != "process":
            assert sample.value <= 100.0001
