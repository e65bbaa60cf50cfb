"""Reads what `iostat` and `sar` of sysstat recorded on a server, as samples of Dyno's probes.

Formats: ``S_TIME_FORMAT=ISO iostat -o JSON -x -t 1`` and ``sadf -j FILE -- -A``. A value covers the
time since the previous one, as that of a probe. The first record of ``iostat`` without ``-y``
covers the time since boot and is left out. Kilobytes are 1,024 B, as sysstat counts them.

``sar`` tells reads from writes in bytes only, so requests and latencies of a device come from
``iostat`` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from dyno.contracts.probe import Sample
from dyno.errors import UsageError
from dyno.safety import plainjson, safefiles
from dyno.stages.observe.exporters.node import looks_nested

LARGEST = 256 << 20
"""Bytes of a file; a day of 20 devices at one second has about 500 MB, and is given in parts."""

Record = Mapping[str, Any]

_KIB = 1024.0
_IOSTAT = {
    "read_iops": ("r/s", 1.0, "1/s"),
    "write_iops": ("w/s", 1.0, "1/s"),
    "read_mbps": ("rkB/s", _KIB / 1e6, "MB/s"),
    "write_mbps": ("wkB/s", _KIB / 1e6, "MB/s"),
    "read_size": ("rareq-sz", _KIB, "B"),
    "write_size": ("wareq-sz", _KIB, "B"),
    "read_await": ("r_await", 1.0, "ms"),
    "write_await": ("w_await", 1.0, "ms"),
    "queue_length": ("aqu-sz", 1.0, "count"),
    "utilisation": ("util", 1.0, "%"),
}
_SAR_DISK = {
    "read_mbps": ("rkB", _KIB / 1e6, "MB/s"),
    "write_mbps": ("wkB", _KIB / 1e6, "MB/s"),
    "queue_length": ("aqu-sz", 1.0, "count"),
    "utilisation": ("util-percent", 1.0, "%"),
}
_ONLY_WITH = {"read_size": "r/s", "read_await": "r/s", "write_size": "w/s", "write_await": "w/s"}
"""Means over requests, which sysstat prints as 0 where there were none."""

_MEMORY = {"available": "avail", "cached": "cached", "dirty": "dirty", "swap_used": "swpused"}


@dataclass(frozen=True)
class Recorded:
    """The content of a file.

    Attributes:
        machine: Name of the machine, as it calls itself.
        processors: Its CPUs; None if unknown.
        readings: Time (ns since the Unix epoch) with its samples, in the order of the file.
    """

    machine: str
    processors: int | None
    readings: list[tuple[int, list[Sample]]]


def read(path: Path) -> Recorded:
    """Reads a file that the user names.

    Raises:
        UsageError: If it is too large, is not such JSON, or has ambiguous times.
    """
    try:
        found: Any = plainjson.loads(safefiles.read_bytes(path, LARGEST))
        (host,) = found["sysstat"]["hosts"]
        records = list(host["statistics"])
        readings = [
            (_moment(record["timestamp"], path), list(_samples(record)))
            for record in _without_boot(records)
        ]
        processors = host.get("number-of-cpus")
        return Recorded(
            str(host["nodename"]), processors if isinstance(processors, int) else None, readings
        )
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise UsageError(
            f"{path} has no recording of one machine in the JSON of sysstat. Make it with "
            "`S_TIME_FORMAT=ISO iostat -o JSON -x -t 1` or `sadf -j FILE -- -A`."
        ) from error


def _without_boot(records: list[Record]) -> Iterable[Record]:
    """Leaves out the first record of `iostat`, which may cover the time since boot."""
    of_iostat = bool(records) and isinstance(records[0]["timestamp"], str)
    return records[1:] if of_iostat else records


def _moment(stamp: Any, path: Path) -> int:
    """The time of a record in ns since the Unix epoch."""
    if isinstance(stamp, str):
        try:
            moment = datetime.fromisoformat(stamp)
        except ValueError as error:
            raise _ambiguous(path) from error
        if moment.tzinfo is None:
            raise _ambiguous(path)
    else:
        moment = datetime.fromisoformat(f"{stamp['date']}T{stamp['time']}")
        if stamp.get("utc") != 1:
            raise UsageError(f"{path} has local times. Make it without `sadf -T` or `-t`.")
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // timedelta(microseconds=1) * 1000


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _ambiguous(path: Path) -> UsageError:
    return UsageError(
        f"{path} has times without a zone. Record with `S_TIME_FORMAT=ISO iostat -o JSON -x -t 1`."
    )


def _samples(record: Record) -> Iterator[Sample]:
    if "avg-cpu" in record:
        yield from _cpu(record["avg-cpu"], lambda cpu: cpu["system"], "user")
    for cpu in record.get("cpu-load", ()):
        if cpu["cpu"] == "all":
            yield from _cpu(cpu, _system, "usr" if "usr" in cpu else "user")
    memory = record.get("memory", {})
    for metric, field in _MEMORY.items():
        if (value := plainjson.finite(memory.get(field))) is not None:
            yield Sample("memory", "host", metric, value * _KIB, "B")
    for device in record.get("disk", ()):
        yield from _disk(device)
    tcp = _tcp(record.get("network", {}))
    if tcp is not None:
        yield tcp


def _system(cpu: Record) -> float:
    """System time with interrupts, which newer versions list apart."""
    return sum(plainjson.finite(cpu.get(name)) or 0.0 for name in ("sys", "system", "irq", "soft"))


def _cpu(cpu: Record, system_of: Callable[[Record], float], user_name: str) -> Iterator[Sample]:
    user = float(cpu[user_name]) + float(cpu.get("nice", 0.0))
    system = float(system_of(cpu))
    values = {
        "user": user,
        "system": system,
        "iowait": float(cpu["iowait"]),
        "steal": float(cpu["steal"]),
        "idle": float(cpu["idle"]),
        "busy": user + system,
    }
    for metric, value in values.items():
        yield Sample("cpu", "host", metric, value, "%")


def _disk(device: Record) -> Iterator[Sample]:
    of_iostat = "disk_device" in device
    name = str(device["disk_device" if of_iostat else "disk-device"])
    source = "nested_disk" if looks_nested(name) else "disk"
    for metric, (field, factor, unit) in (_IOSTAT if of_iostat else _SAR_DISK).items():
        value = plainjson.finite(device.get(field))
        if value is not None and (metric not in _ONLY_WITH or device[_ONLY_WITH[metric]] > 0):
            yield Sample(source, name, metric, value * factor, unit)


def _tcp(network: Record) -> Sample | None:
    """Retransmitted segments in % of those sent."""
    sent = plainjson.finite(network.get("net-tcp", {}).get("oseg"))
    again = plainjson.finite(network.get("net-etcp", {}).get("retrans"))
    if not sent or again is None:
        return None
    return Sample("network", "tcp", "retransmitted", 100 * again / sent, "%")
