"""Quickstart in a process of its own, with other sizes than those that make its metrics good."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

_SITE = """
from dataclasses import replace

from dyno.runner import quickstart

usual = quickstart.choose
quickstart.choose = lambda *given: replace(usual(*given), **{sizes!r})
"""

SHORT_STORAGE: dict[str, Any] = {"io_file_bytes": 32 << 20, "io_step_s": 0.02}
"""Every step of the storage profile, which takes most of the time of a quickstart of small data."""

SHORT: dict[str, Any] = {**SHORT_STORAGE, "warmup_s": 0.1, "duration_s": 0.5}
"""The same, and transactions for a moment only."""


def resize(
    monkeypatch: pytest.MonkeyPatch, folder: Path, sizes: dict[str, Any], more: str = ""
) -> None:
    """Has each Dyno that is started from now on take ``sizes``, and do ``more`` at its start."""
    (folder / "sitecustomize.py").write_text(_SITE.format(sizes=sizes) + more)
    path = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path))
