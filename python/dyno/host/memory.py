"""``/proc/meminfo`` and the policy for huge pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dyno.host.files import ROOT, chosen, read_text


def parse_meminfo(text: str) -> dict[str, int]:
    """Fields by the kernel's names: bytes where it writes kB, else plain counts."""
    fields: dict[str, int] = {}
    for line in text.splitlines():
        name, _, rest = line.partition(":")
        words = rest.split()
        if words and words[0].isdigit():
            fields[name.strip()] = int(words[0]) * (1024 if words[1:] == ["kB"] else 1)
    return fields


def available_bytes(fields: dict[str, int]) -> int | None:
    """Memory that new work can have without swapping.

    Kernels before 3.14 do not report it; free memory plus page cache then replaces it.
    """
    if "MemAvailable" in fields:
        return fields["MemAvailable"]
    if "MemFree" not in fields:
        return None
    return fields["MemFree"] + fields.get("Buffers", 0) + fields.get("Cached", 0)


def swap_used_bytes(fields: dict[str, int]) -> int:
    """Bytes of swap in use."""
    return max(fields.get("SwapTotal", 0) - fields.get("SwapFree", 0), 0)


def memory_facts(root: Path = ROOT) -> dict[str, Any]:
    """Facts on memory; the fields are documented in ``dyno.host.fields``."""
    fields = parse_meminfo(read_text(root / "proc/meminfo") or "")
    if "MemTotal" not in fields:
        import psutil  # not Linux, or /proc is hidden

        memory = psutil.virtual_memory()
        fields |= {"MemTotal": memory.total, "MemAvailable": memory.available}
    thp = root / "sys/kernel/mm/transparent_hugepage/enabled"
    return {
        "total_bytes": fields["MemTotal"],
        "available_bytes": available_bytes(fields),
        "huge_pages_total": fields.get("HugePages_Total"),
        "huge_pages_free": fields.get("HugePages_Free"),
        "huge_page_bytes": fields.get("Hugepagesize"),
        "transparent_huge_pages": chosen(read_text(thp)),
        "swap_total_bytes": fields.get("SwapTotal", 0),
        "swap_used_bytes": swap_used_bytes(fields),
    }
