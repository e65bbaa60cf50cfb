"""Command-line overrides of a study: its base, number of pairs and time limits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dyno.errors import UsageError
from dyno.studies.model import Reset, Value


@dataclass(frozen=True)
class Overrides:
    """Values that replace those of the study file; None and empty values change nothing.

    Attributes:
        settings: ``word=value``, as in ``--set``.
        paths: ``path=value``, as ``run.duration=60s``.
    """

    target: str | None = None
    scale: float | None = None
    settings: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    pairs: int | None = None
    margin: float | None = None
    time_limit: str | None = None
    reset: Reset | None = None
    early_stop: bool | None = None

    def changes(self) -> dict[str, Value]:
        """Changes to the base, by path.

        Raises:
            UsageError: If one is not ``path=value`` or occurs twice.
        """
        found: dict[str, Value] = {}
        given = [*_read(self.paths), *((f"settings.{k}", v) for k, v in _read(self.settings))]
        given += [("target", self.target)] if self.target is not None else []
        given += [("scale", self.scale)] if self.scale is not None else []
        for path, value in given:
            if plain(path) in map(plain, found):
                raise UsageError(f"'{path}' is given twice.")
            found[path] = value
        return found


def read(texts: Iterable[str]) -> dict[str, Value]:
    """Parses ``path=value`` texts; numbers and booleans are converted.

    Raises:
        UsageError: If one is malformed.
    """
    return dict(_read(texts))


def plain(path: str) -> str:
    """Normalizes a path: ``run.no_criteria`` becomes ``run.no-criteria``."""
    return path.replace("_", "-")


def _read(texts: Iterable[str]) -> list[tuple[str, Value]]:
    found: list[tuple[str, Value]] = []
    for text in texts:
        path, equals, value = text.partition("=")
        if not equals or not path.strip():
            raise UsageError(f"'{text}' is not PATH=VALUE, such as settings.memory=2GiB.")
        found.append((path.strip(), _value(value.strip())))
    return found


def _value(text: str) -> Value:
    if text in {"true", "false"}:
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
