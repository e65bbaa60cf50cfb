"""Expected answers that Dyno ships with a workload: validation parameters, at some scales.

``tools/make_answers.py`` creates them from engines that agree; each file states which, and how.
"""

from __future__ import annotations

import json
import lzma
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from dyno.contracts.rule import Rows
from dyno.contracts.workload import Query


@dataclass(frozen=True)
class Shipped:
    """The answers of a workload.

    Attributes:
        folder: The folder of its files.
        scales: The scales with answers.
    """

    folder: Path
    scales: tuple[float, ...]

    def path(self, scale: float) -> Path:
        """Path of the answers at a scale."""
        return self.folder / f"sf-{scale:g}.json.xz"

    def read(self, scale: float) -> dict[str, Any]:
        """Reads a file of answers: ``about`` (engines, method), and ``answers`` by query.

        An answer has ``parameters`` and ``rows``, each value as canonical text.
        """
        return _read(self.path(scale))

    def write(self, scale: float, content: dict[str, Any]) -> Path:
        """Writes a file of answers; the same content results in the same bytes."""
        self.folder.mkdir(exist_ok=True)
        text = json.dumps(content, separators=(",", ":"), sort_keys=True)
        self.path(scale).write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
        return self.path(scale)

    def expected(self, query: Query, scale: float) -> Rows | None:
        """The expected rows with validation parameters; None at other scales."""
        if scale not in self.scales:
            return None
        rows: Rows = self.read(scale)["answers"][query.name]["rows"]
        return rows


@lru_cache(maxsize=4)
def _read(path: Path) -> dict[str, Any]:
    with lzma.open(path, "rt", encoding="utf-8") as file:
        found: dict[str, Any] = json.load(file)
    return found
