"""Kernel, distribution and clock."""

from __future__ import annotations

import platform
import shlex
from pathlib import Path
from typing import Any

from dyno.host.files import ROOT, read_text


def parse_os_release(text: str) -> dict[str, str]:
    """The assignments of ``os-release`` (its format: shell-like, one a line)."""
    values: dict[str, str] = {}
    for line in text.splitlines():
        name, equals, value = line.strip().partition("=")
        if not equals or name.startswith("#"):
            continue
        try:
            values[name] = "".join(shlex.split(value))
        except ValueError:  # an unclosed quote: keep what is there
            values[name] = value
    return values


def kernel_facts() -> dict[str, Any]:
    """Facts on the kernel."""
    system = platform.uname()
    return {
        "system": system.system,
        "release": system.release,
        "version": system.version,
        "machine": system.machine,
    }


def os_facts(root: Path = ROOT) -> dict[str, Any]:
    """Facts on the distribution."""
    text = read_text(root / "etc/os-release") or read_text(root / "usr/lib/os-release") or ""
    values = parse_os_release(text)
    return {
        "id": values.get("ID"),
        "version": values.get("VERSION_ID"),
        "name": values.get("PRETTY_NAME") or values.get("NAME"),
    }


def clock_facts(root: Path = ROOT) -> dict[str, Any]:
    """Facts on the source of the kernel's clock."""
    base = root / "sys/devices/system/clocksource/clocksource0"
    available = read_text(base / "available_clocksource")
    return {
        "source": read_text(base / "current_clocksource"),
        "available": available.split() if available else [],
    }
