"""Variants: changes to the base of a study, by path."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from typing import Any

from dyno import workloads
from dyno.config import settings
from dyno.confinement import limits_asked as confinement
from dyno.errors import UsageError, closest, nearest, unknown
from dyno.safety.redaction import redact
from dyno.studies.form import Base, StudySpec
from dyno.studies.model import IO, Value, Variant, members
from dyno.studies.overrides import plain as spelling
from dyno.workloads import own

WORKLOADS = (*workloads.names(), IO)
PARTS = ("load", "run", "settings", "limits", "scales")
_PLAIN = ("workload", "target", "scale")


def rebased(base: Base, changes: Mapping[str, Value]) -> Base:
    """Applies changes by path to the base.

    Raises:
        UsageError: If a path is unknown; the message offers the nearest one.
    """
    plain, parts = _applied(base, changes)
    return base.model_copy(update={**plain, **parts})


def changed(base: Base, name: str, changes: dict[str, Value]) -> Variant:
    """Builds the variant that differs from the base in the given paths.

    Raises:
        UsageError: If a path is unknown; the message offers the nearest one.
    """
    plain, parts = _applied(base, changes)
    require_known(str(plain["workload"]))
    for word in parts["settings"]:
        if word not in settings.WORDS:
            raise settings.unknown_setting(word)
    confinement.parse([f"{word}={value}" for word, value in parts["limits"].items()])
    if not plain["target"] and plain["workload"] != IO:
        raise UsageError("base.target is missing.")
    if redact(str(plain["target"] or "")) != str(plain["target"] or ""):
        # It would appear in the study's files and in the process list of every run.
        raise UsageError(
            f"The target of '{name}' contains a password. Use the environment (PGPASSWORD, "
            "MYSQL_PWD, MSSQL_PASSWORD) or the database's password file."
        )
    scale = plain["scale"]
    if scale is not None:
        _require_scale("scale", scale)
    listed = members(str(plain["workload"]))
    for word, value in parts["scales"].items():
        if word not in listed:
            raise UsageError(f"scales.{word}: no such workload in it. {nearest(word, listed)}")
        _require_scale(f"scales.{word}", value)
    if scale is None and parts["scales"]:
        raise UsageError("scales needs scale, for the other workloads.")
    return Variant(
        name=name,
        workload=str(plain["workload"]),
        verb=base.verb,
        target=str(plain["target"] or ""),
        scale=scale,
        load=parts["load"],
        run=parts["run"],
        settings=parts["settings"],
        limits=parts["limits"],
        scales={word: float(value) for word, value in parts["scales"].items()},
    )


def require_known(workload: str) -> None:
    """Rejects unknown workloads, and storage beside others.

    Raises:
        UsageError: With the nearest one.
    """
    listed = members(workload)
    for word in listed:
        known = WORKLOADS if len(listed) == 1 else workloads.names()
        if word not in known and not own.is_meant(word):
            raise unknown("workload", word, known)


def _require_scale(name: str, scale: Value) -> None:
    if not isinstance(scale, int | float) or isinstance(scale, bool) or not 0 < scale < math.inf:
        raise UsageError(f"{name} is {scale!r}; it must be a number above 0.")


def _applied(
    base: Base, changes: Mapping[str, Value]
) -> tuple[dict[str, Any], dict[str, dict[str, Value]]]:
    """Applies changes by path to the values and sections of the base; an empty text removes one."""
    plain: dict[str, Any] = {key: getattr(base, key) for key in _PLAIN}
    parts: dict[str, dict[str, Value]] = {part: dict(getattr(base, part)) for part in PARTS}
    for path, value in changes.items():
        part, dot, key = path.partition(".")
        if not dot and path in _PLAIN:
            plain[path] = value
        elif dot and part in PARTS:
            same = next((old for old in parts[part] if spelling(old) == spelling(key)), key)
            if value == "":
                parts[part].pop(same, None)
            else:
                parts[part][same] = value
        else:
            raise UsageError(f"'{path}' cannot vary. {_offer(part, key)}")
    return plain, parts


def _offer(part: str, key: str) -> str:
    """Suggests a path for an unknown one: a setting needs its section."""
    if key:
        near = closest(part, PARTS)
        return f"Did you mean '{near}.{key}'?" if near else f"Known parts: {', '.join(PARTS)}."
    known = {"settings": settings.WORDS, "limits": confinement.WORDS}
    words = {name: closest(part, every) for name, every in known.items()}
    exact = {name: word for name, word in words.items() if word == part}
    meant = [f"'{name}.{word}'" for name, word in (exact or words).items() if word]
    near = closest(part, _PLAIN)
    meant = [f"'{near}'"] if near and not exact else meant
    if meant:
        return f"Did you mean {' or '.join(meant)}?"
    return (
        f"Known: {', '.join(_PLAIN)}, and words with their part, as 'settings.memory', "
        f"'limits.cpu', 'run.{part or 'users'}' or 'load.{part or 'streams'}'."
    )


def named(spec: StudySpec) -> list[Variant]:
    """The base and the named variants of a specification.

    Raises:
        UsageError: If one has no name or no difference.
    """
    made = [changed(spec.base, spec.base_name, {})]
    for place, changes in enumerate(spec.variants):
        name = changes.get("name")
        if not isinstance(name, str) or not name:
            raise UsageError(f"variants[{place}].name is missing.")
        own = {path: value for path, value in changes.items() if path != "name"}
        if not own:
            raise UsageError(f"Variant '{name}' has no difference.")
        made.append(changed(spec.base, name, own))
    return made


def factorial(spec: StudySpec) -> list[Variant]:
    """All combinations of the levels of its factors.

    Raises:
        UsageError: If a factor has only one level.
    """
    single = [path for path, levels in spec.factors.items() if len(levels) < 2]
    if single:
        raise UsageError(f'factors."{single[0]}" needs at least two levels.')
    made: list[Variant] = []
    for levels in itertools.product(*spec.factors.values()):
        own = dict(zip(spec.factors, levels, strict=True))
        name = " ".join(_words(own.items()))
        made.append(changed(spec.base, name, own).model_copy(update={"levels": own}))
    return made


def _words(levels: Iterable[tuple[str, Value]]) -> list[str]:
    return [f"{path.rpartition('.')[2]}={value}" for path, value in levels]
