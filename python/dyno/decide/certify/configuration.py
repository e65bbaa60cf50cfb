"""The configuration that a certificate names, from the facts in a bundle. Facts are untrusted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dyno.bundle.carriers import host_of
from dyno.bundle.model import Run
from dyno.certificates.content import Configuration, Volume
from dyno.safety.plainjson import finite

_MOST = 64
"""Rows of a list of facts; no machine that a certificate names has more."""


def configuration(run: Run) -> Configuration:
    """The configuration in the record of a run."""
    host = host_of(run)
    hardware = _map(run.host.get("hardware"))
    facts = {
        "System": _system(_map(hardware.get("system")), host),
        "Processors": _processors(_map(host.get("cpu"))),
        "Memory": _memory(host, hardware),
        "Network": _network(_list(hardware.get("nics"))),
        "Operating system": _os(host),
        "Databases": "; ".join(_databases(run)),
    }
    return Configuration(
        facts=tuple((term, text or "not readable") for term, text in facts.items()),
        volumes=tuple(_volume(one) for one in _list(hardware.get("volumes"))),
    )


def usable_bytes(volumes: Iterable[Volume]) -> int | None:
    """Size of the distinct volumes under the data; None if one is unknown, or all are.

    Mount points of one device (bind mounts, subvolumes) share its space.
    """
    found: dict[str, int | None] = {
        one.device or one.mount_point: one.size_bytes
        for one in volumes
        if one.role == "data" or one.role.startswith("partition")
    }
    sizes = list(found.values())
    known = [size for size in sizes if size is not None]
    return sum(known) if known and len(known) == len(sizes) else None


def _system(system: Mapping[str, Any], host: Mapping[str, Any]) -> str:
    virtual = _map(host.get("virtualisation"))
    name = " ".join(filter(None, (_text(system, "vendor"), _text(system, "product"))))
    firmware = " ".join(
        filter(None, (_text(system, "bios_vendor"), _text(system, "bios_version"),
                      _text(system, "bios_date")))
    )  # fmt: skip
    words = [name or ("virtual machine" if virtual.get("virtual") else "")]
    if name and virtual.get("virtual"):
        words.append("virtual machine")
    if firmware:
        words.append(f"firmware {firmware}")
    return ", ".join(filter(None, words))


def _processors(cpu: Mapping[str, Any]) -> str:
    words = [_text(cpu, "model")]
    for name, one, many in (
        ("sockets", "socket", "sockets"),
        ("physical", "core", "cores"),
        ("logical", "thread", "threads"),
        ("numa_nodes", "NUMA node", "NUMA nodes"),
    ):
        count = finite(cpu.get(name))
        if count is not None:
            words.append(f"{count:g} {one if count == 1 else many}")
    return ", ".join(filter(None, words))


def _memory(host: Mapping[str, Any], hardware: Mapping[str, Any]) -> str:
    total = finite(_map(host.get("memory")).get("total_bytes"))
    words = [] if total is None else [f"{total / (1 << 30):.1f} GiB"]
    dimms: dict[str, int] = {}
    for one in _list(hardware.get("dimms")):
        size, speed = finite(one.get("size_bytes")), finite(one.get("mega_transfers"))
        parts = (
            "" if size is None else f"{size / (1 << 30):g} GiB",
            _text(one, "type") + ("" if speed is None else f"-{speed:g}"),
            _text(one, "manufacturer"),
            _text(one, "part"),
        )
        name = " ".join(filter(None, parts))
        dimms[name] = dimms.get(name, 0) + 1
    words += [f"{count} × {name}" for name, count in dimms.items()]
    return ", ".join(words if dimms else [*words, "DIMMs not readable"])


def _network(nics: list[Mapping[str, Any]]) -> str:
    found: list[str] = []
    for one in nics:
        speed, mtu = finite(one.get("speed_mbps")), finite(one.get("mtu"))
        parts = (
            _text(one, "driver"),
            "" if speed is None else f"{speed / 1000:g} Gbit/s",
            "" if mtu is None else f"MTU {mtu:g}",
            _node(one),
        )
        found.append(f"{_text(one, 'name')} ({', '.join(filter(None, parts))})")
    return "; ".join(found)


def _os(host: Mapping[str, Any]) -> str:
    kernel = _map(host.get("kernel"))
    system = " ".join(filter(None, (_text(kernel, "system"), _text(kernel, "release"))))
    return ", ".join(filter(None, (_text(_map(host.get("os")), "name"), system)))


def _databases(run: Run) -> Iterable[str]:
    for facts in run.targets.values():
        tuned = ", ".join(f"{item.name} = {item.found}" for item in facts.tuned)
        yield f"{facts.version}{f' ({tuned})' if tuned else ''}"
    if run.confined is not None and run.confined.limits:
        limits = ", ".join(f"{word} {text}" for word, text in run.confined.limits.items())
        yield f"limited to {limits}"


def _volume(one: Mapping[str, Any]) -> Volume:
    size = finite(one.get("size_bytes"))
    names = ("target", "role", "mount_point", "filesystem", "device", "model", "raid", "firmware")
    return Volume(
        **{name: _text(one, name) for name in names},
        size_bytes=None if size is None else int(size),
        numa_node=_node(one).removeprefix("node "),
    )


def _node(one: Mapping[str, Any]) -> str:
    node = finite(one.get("numa_node"))
    return "" if node is None else f"node {node:g}"


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def _list(value: object) -> list[Mapping[str, Any]]:
    items: list[Any] = value[:_MOST] if isinstance(value, list) else []
    return [item for item in items if isinstance(item, dict)]


def _text(facts: Mapping[str, Any], name: str) -> str:
    found = facts.get(name)
    return found.strip()[:120] if isinstance(found, str) else ""
