"""The machine, and configuration that may affect measurements."""

from __future__ import annotations

from typing import Any

from dyno.bundle.carriers import of_target
from dyno.bundle.model import Confined
from dyno.config.units import seconds_text
from dyno.report.kit.blocks import Block, Fact, Facts, Note, Notes, Section
from dyno.report.kit.formats import bytes_text, decimal_bytes
from dyno.report.run import devices
from dyno.report.run.page import Page

ORDER = 20

_OF_FOLDER = {"File system": "Output folder", "Device": "Device of the output folder"}


def section(page: Page) -> Section | None:
    """Facts on CPUs, memory, system and storage, then findings."""
    host = page.run.host
    makers = {
        "CPU": _processors,
        "Memory": _memory,
        "System": _system,
        "Virtualisation": _virtualisation,
        "File system": _file_system,
        "Device": _device,
        "Network": _network,
        "Clock": _clock,
        "Asynchronous I/O": _io_uring,
    }
    facts = [Fact(term, text) for term, make in makers.items() if (text := _safe(make, host))]
    if page.run.targets:  # whose data may be elsewhere
        facts = [Fact(_OF_FOLDER.get(fact.term, fact.term), fact.text) for fact in facts]
    facts += [
        Fact(f"Devices of {page.title(name)}", _carriers(page, name)) for name in page.run.targets
    ]
    if page.run.confined is not None:
        facts.append(Fact("Resource limits", confined_text(page.run.confined)))
    notes = [
        Note(finding.message, "bad" if finding.level == "warning" else "muted")
        for finding in page.findings
        if finding.phase == "machine"
    ]
    blocks: list[Block] = []
    if facts:
        blocks.append(Facts(facts))
    if notes:
        blocks.append(Notes(notes))
    return Section("machine", "Machine", blocks) if blocks else None


def confined_text(confined: Confined) -> str:
    """The resource limits of the engine, and their effect."""
    whom = "Dyno's process with the engine" if confined.where == "process" else "the engine"
    words = [", ".join(f"{word} = {text}" for word, text in confined.limits.items())]
    words[0] += f", on {whom}"
    if confined.devices:
        words.append(f"I/O on {', '.join(confined.devices)}")
    if (share := confined.throttled_share) is not None:
        words.append(
            f"CPU quota throttled {100 * share:.0f} % of the active periods "
            f"({seconds_text(confined.throttled_s or 0)} in total)"
        )
    if confined.memory_peak_bytes is not None:
        words.append(
            f"peak memory {bytes_text(confined.memory_peak_bytes)} including page cache, "
            f"{confined.reread_pages or 0:,} pages evicted and read again"
        )
    if confined.killed:
        words.append(f"{confined.killed} processes killed by the OOM killer")
    return "; ".join([*words, *confined.notes])


def _safe(make: Any, host: dict[str, Any]) -> str:
    """A fact, or nothing if its shape is unknown (a bundle made elsewhere)."""
    try:
        return make(host)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return ""


def _part(host: dict[str, Any], name: str) -> dict[str, Any]:
    part = host.get(name)
    return part if isinstance(part, dict) else {}


def _processors(host: dict[str, Any]) -> str:
    cpu = _part(host, "cpu")
    words: list[str] = []
    if cpu.get("logical"):
        text = f"{cpu['logical']} CPUs"
        if cpu.get("physical") and cpu["physical"] != cpu["logical"]:
            text += f" on {cpu['physical']} cores"
        if cpu.get("usable") and cpu["usable"] != cpu["logical"]:
            text += f", {cpu['usable']} usable"
        words.append(text)
    if cpu.get("model"):
        words.append(str(cpu["model"]))
    if cpu.get("governor"):
        words.append(f"governor {cpu['governor']}")
    if cpu.get("turbo") is not None:
        words.append(f"turbo {'on' if cpu['turbo'] else 'off'}")
    quota = _part(host, "cgroup").get("cpu_quota")
    if quota is not None:
        words.append(f"quota of {quota:g} CPUs")
    return ", ".join(words)


def _memory(host: dict[str, Any]) -> str:
    memory = _part(host, "memory")
    words = [bytes_text(memory["total_bytes"])]
    if memory.get("available_bytes") is not None:
        words.append(f"{bytes_text(memory['available_bytes'])} available at the start")
    if memory.get("transparent_huge_pages"):
        words.append(f"transparent huge pages {memory['transparent_huge_pages']}")
    limit = _part(host, "cgroup").get("memory_limit_bytes")
    if limit is not None:
        words.append(f"cgroup limit {bytes_text(limit)}")
    return ", ".join(words)


def _system(host: dict[str, Any]) -> str:
    kernel, system = _part(host, "kernel"), _part(host, "os")
    words = [system.get("name"), kernel.get("release"), kernel.get("machine")]
    return ", ".join(str(word) for word in words if word)


def _virtualisation(host: dict[str, Any]) -> str:
    facts = _part(host, "virtualisation")
    if facts.get("virtual") is None:
        return ""
    words = ["virtual machine" if facts["virtual"] else "bare metal"]
    words += [str(facts[name]) for name in ("hypervisor", "vendor", "product") if facts.get(name)]
    if facts.get("container"):
        words.append(f"in a {facts['container']} container")
    return ", ".join(words)


def _file_system(host: dict[str, Any]) -> str:
    storage = _part(host, "storage")
    if storage.get("fs_type") is None:  # a raw block device
        return ""
    words = [f"{storage['fs_type']} on {storage['fs_source']}, under {storage['path']}"]
    if storage.get("size_bytes") is not None:
        words.append(
            f"{decimal_bytes(storage['free_bytes'])} of {decimal_bytes(storage['size_bytes'])} free"
        )
    return ", ".join(words)


def _device(host: dict[str, Any]) -> str:
    return "; ".join(_disk(disk) for disk in _part(host, "storage").get("disks") or [])


def _carriers(page: Page, target: str) -> str:
    """The devices of a database, or why they are unknown."""
    facts = page.run.targets[target]
    named = {name for names in of_target(page.run, target).values() for name in names}
    disks = {
        text: None
        for name, listed in facts.disks.items()
        if name in named
        for disk in listed
        if (text := _safe(_disk, disk))
    }
    return "; ".join([devices.words(page.run, target), *disks, *devices.notes(facts)])


def _disk(disk: dict[str, Any]) -> str:
    words = [str(disk["name"])]
    if disk.get("model"):
        words.append(str(disk["model"]))
    if disk.get("size_bytes"):
        words.append(decimal_bytes(disk["size_bytes"]))
    if disk.get("rotational") is not None:
        words.append("rotational" if disk["rotational"] else "not rotational")
    if disk.get("scheduler"):
        words.append(f"scheduler {disk['scheduler']}")
    if disk.get("write_cache"):
        words.append(f"write cache: {disk['write_cache']}")
    return ", ".join(words)


def _network(host: dict[str, Any]) -> str:
    """Physical and bonded interfaces that are up."""
    words: list[str] = []
    for one in _part(host, "network").get("interfaces") or []:
        if one.get("state") != "up" or not (one.get("physical") or one.get("bonded")):
            continue
        text = str(one["name"])
        if one.get("speed_mbps"):
            text += f" {one['speed_mbps'] / 1000:g} Gbit/s"
        if one.get("mtu"):
            text += f", MTU {one['mtu']}"
        if one.get("bonded"):
            text += f", bond of {', '.join(map(str, one['bonded']))}"
        words.append(text)
    return "; ".join(words)


def _clock(host: dict[str, Any]) -> str:
    return str(_part(host, "clock").get("source") or "")


def _io_uring(host: dict[str, Any]) -> str:
    facts = _part(host, "io_uring")
    if facts.get("allowed") is None:
        return ""
    return "io_uring" if facts["allowed"] else f"no io_uring: {facts.get('reason')}"
