from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dyno import host
from dyno.host.activity import activity_facts
from dyno.host.fields import FIELDS
from tests.host.machine import server, write


def field_names(value: Any, prefix: str = "") -> set[str]:
    """Dotted names of the leaves, as ``FIELDS`` writes them."""
    if isinstance(value, dict):
        dot = f"{prefix}." if prefix else ""
        return {name for key, item in value.items() for name in field_names(item, dot + key)}
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return {name for item in value for name in field_names(item, f"{prefix}[]")}
    return {prefix}


def no_wait(_seconds: float) -> None:
    """Lets no time pass."""


def test_every_field_is_documented_and_every_documented_field_is_there(tmp_path: Path) -> None:
    facts = host.collect(Path("/"), root=server(tmp_path), wait=no_wait)
    assert field_names(facts) == FIELDS.keys()


def test_this_machine(tmp_path: Path) -> None:
    facts = host.collect(tmp_path, window_s=0.0, wait=no_wait)
    assert json.loads(json.dumps(facts)) == facts
    assert facts["cpu"]["logical"] >= facts["cpu"]["usable"] >= 1
    assert facts["memory"]["total_bytes"] >= facts["memory"]["available_bytes"] > 0
    assert facts["storage"]["mount_point"]
    assert facts["storage"]["size_bytes"] >= facts["storage"]["free_bytes"]
    assert len(facts["activity"]["load_average"]) == 3
    assert facts["io_uring"]["allowed"] or facts["io_uring"]["reason"]
    assert isinstance(host.warnings(facts), list)
    assert host.limits(facts).threads >= 1


def test_a_machine_without_proc_and_sys(tmp_path: Path) -> None:
    facts = host.collect(tmp_path, root=tmp_path / "nothing", wait=no_wait)
    assert json.dumps(facts)
    assert host.limits(facts).memory_bytes > 0
    assert host.warnings(facts) is not None


def test_how_idle_the_machine_is(tmp_path: Path) -> None:
    write(tmp_path, {"proc/stat": "cpu 100 0 100 700 50 0 0 50\n", "proc/loadavg": "0.5 1 2 1/9 9"})
    waited: list[float] = []

    def wait(seconds: float) -> None:
        waited.append(seconds)
        write(tmp_path, {"proc/stat": "cpu 110 0 110 770 55 0 0 55\n"})

    assert activity_facts(tmp_path, 0.5, wait) == {
        "load_average": [0.5, 1.0, 2.0],
        "window_s": 0.5,
        "idle_percent": 70.0,
        "steal_percent": 5.0,
        "steal_percent_since_boot": 5.0,
    }
    assert waited == [0.5]
