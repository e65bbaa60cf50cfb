"""A study asks a server what it lacks before anything is loaded."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from dyno import targets
from dyno.contracts.needs import Needs
from dyno.errors import UsageError
from dyno.runner import needed
from dyno.runner import study as work
from dyno.studies import spec

TOML = """\
headline = ["total_s"]
base_name = "rows"
[base]
workload = "tpch"
target = "mssql://dyno@db1.invalid/master"
scale = 1
load.layout = "rows"
settings.parallelism = 2
run.during = "quick-check"
[[variants]]
name = "columns"
"load.layout" = "columnar-1"
[[variants]]
name = "same"
"run.timeout" = "5m"
"""


@dataclass
class Server:
    """A server that refuses one layout."""

    refuses: str = ""
    asked: list[Needs] = field(default_factory=list[Needs])

    def examine(self, needs: Needs) -> None:
        self.asked.append(needs)
        if needs.layout is not None and needs.layout.name == self.refuses:
            raise UsageError("it has no column stores.")


def jobs(tmp_path: Path) -> list[tuple[str, Any]]:
    path = tmp_path / "mine.toml"
    path.write_text(TOML)
    return [*work.require(spec.read(str(path)), tmp_path / "study")]


def given(monkeypatch: pytest.MonkeyPatch, server: Server) -> None:
    """Every target is this server."""

    def opened(*_: object) -> Server:
        return server

    monkeypatch.setattr(targets, "open_target", opened)


def test_each_need_is_asked_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, server = jobs(tmp_path), Server()
    given(monkeypatch, server)
    needed.require(made)
    layouts = [one.layout.name for one in server.asked if one.layout is not None]
    assert layouts == ["rows", "columnar-1"]
    (run,) = [one for one in server.asked if one.layout is None]
    assert run.maintenance == "quick-check"
    assert [one.text for one in run.settings] == ["2"]


def test_the_variant_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = jobs(tmp_path)
    given(monkeypatch, Server("columnar-1"))
    with pytest.raises(UsageError, match=r"^'columns': it has no column stores\.$"):
        needed.require(made)


def test_other_targets_are_not_asked(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(TOML.replace("mssql://dyno@db1.invalid/master", "postgresql://h.invalid/d"))
    plain = path.read_text().replace('"load.layout" = "columnar-1"', '"load.layout" = "keys"')
    path.write_text(plain.replace('load.layout = "rows"\n', ""))
    needed.require(work.require(spec.read(str(path)), tmp_path / "study"))
