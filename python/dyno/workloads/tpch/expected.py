"""Expected answers that Dyno ships: validation parameters, at scales 0.01 and 1.

``tools/make_answers.py`` creates them from engines that agree; each file states which, and how. The
data of this workload is the same for every seed, so the answers apply to any seed.
"""

from __future__ import annotations

import json
import lzma
from functools import lru_cache
from pathlib import Path
from typing import Any

from dyno.contracts.rule import Rows
from dyno.contracts.workload import Query

FOLDER = Path(__file__).with_name("answers")
SCALES = (0.01, 1.0)


def path(scale: float) -> Path:
    """Path of the answers at a scale."""
    return FOLDER / f"sf-{scale:g}.json.xz"


@lru_cache(maxsize=2)
def read(scale: float) -> dict[str, Any]:
    """Reads a file of answers: ``about`` (engines, method), and ``answers`` by query.

    An answer has ``parameters`` and ``rows``, each value as canonical text.
    """
    with lzma.open(path(scale), "rt", encoding="utf-8") as file:
        found: dict[str, Any] = json.load(file)
    return found


def write(scale: float, content: dict[str, Any]) -> Path:
    """Writes a file of answers; the same content results in the same bytes."""
    FOLDER.mkdir(exist_ok=True)
    text = json.dumps(content, separators=(",", ":"), sort_keys=True)
    path(scale).write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    return path(scale)


def expected(query: Query, scale: float) -> Rows | None:
    """The expected rows with validation parameters; None at other scales."""
    if scale not in SCALES:
        return None
    rows: Rows = read(scale)["answers"][query.name]["rows"]
    return rows
