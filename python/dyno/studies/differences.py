"""The differences and common settings of a study's variants."""

from __future__ import annotations

from typing import Any

from dyno.safety.redaction import redact
from dyno.studies.model import Study, Variant

ABSENT = "–"
_NO_PATHS = ("name", "levels")


def differing(study: Study) -> list[str]:
    """Paths whose values differ between variants: ``target``, ``settings.memory``."""
    flat = [_flat(variant) for variant in study.variants]
    return [path for path in _paths(flat) if len({_text(one, path) for one in flat}) > 1]


def rows(study: Study) -> list[list[str]]:
    """A row per variant: its name and its values of the differing paths."""
    paths = differing(study)
    return [
        [variant.name, *(_text(_flat(variant), path) for path in paths)]
        for variant in study.variants
    ]


def common(study: Study) -> dict[str, str]:
    """Paths and values that all variants have."""
    flat = [_flat(variant) for variant in study.variants]
    other = differing(study)
    return {path: _text(flat[0], path) for path in _paths(flat) if path not in other}


def same(study: Study) -> bool:
    """Whether the variants are identical except for their names: an A/A test."""
    return not differing(study)


def _flat(variant: Variant) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in variant.model_dump().items():
        if isinstance(value, dict):
            found |= {f"{key}.{word}": one for word, one in value.items()}
        elif key == "target":
            found[key] = redact(str(value))
        else:
            found[key] = value
    return {
        path: value
        for path, value in found.items()
        if path.partition(".")[0] not in _NO_PATHS and value not in (None, "")
    }


def _paths(flat: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(path for one in flat for path in one))


def _text(flat: dict[str, Any], path: str) -> str:
    value = flat.get(path, ABSENT)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
