"""The text format of Prometheus: one sample a line, ``name{label="value",…} value``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping

MOST_SAMPLES = 200_000

Labels = Mapping[str, str]

_LINE = re.compile(
    r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[^\"}]|\"(?:[^\"\\]|\\.)*\")*)\})?[ \t]+(\S+)"
)
_LABEL = re.compile(r"([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*\"((?:[^\"\\]|\\.)*)\"")
_ESCAPED = re.compile(r"\\(.)")


class Scrape:
    """The finite samples of one answer, by name."""

    def __init__(self, text: str) -> None:
        """Parses ``text``; skips lines that are not samples.

        Raises:
            ValueError: If it has too many samples.
        """
        self._found: dict[str, list[tuple[dict[str, str], float]]] = {}
        for count, (name, labels, value) in enumerate(_samples(text)):
            if count >= MOST_SAMPLES:
                raise ValueError(f"it has more than {MOST_SAMPLES} samples")
            self._found.setdefault(name, []).append((labels, value))

    def each(self, name: str) -> list[tuple[dict[str, str], float]]:
        """The samples of a name, with their labels."""
        return self._found.get(name, [])

    def sum(self, name: str, labels: Labels | None = None) -> float | None:
        """The sum over all samples of a name with these labels; None if there are none."""
        wanted = (labels or {}).items()
        found = [value for own, value in self.each(name) if wanted <= own.items()]
        return sum(found) if found else None


def _samples(text: str) -> Iterator[tuple[str, dict[str, str], float]]:
    for line in text.splitlines():
        matched = None if line.startswith("#") else _LINE.match(line)
        if matched is None:
            continue
        try:
            value = float(matched[3])
        except ValueError:
            continue
        if math.isfinite(value):
            labels = {key: _plain(word) for key, word in _LABEL.findall(matched[2] or "")}
            yield matched[1], labels, value


def _plain(text: str) -> str:
    return _ESCAPED.sub(lambda found: "\n" if found[1] == "n" else found[1], text)
