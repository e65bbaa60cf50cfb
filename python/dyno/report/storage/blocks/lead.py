"""The profiled volumes and the method, in a few sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from dyno.bundle.phases.io import Asked
from dyno.profiles.pages import granted
from dyno.profiles.volume_sets import how
from dyno.report.kit.blocks import Column, Fact, Facts, Table
from dyno.report.kit.formats import bytes_text
from dyno.report.run.page import Page
from dyno.report.storage.places import FilledSet

MOST_VOLUMES = 8
"""Volumes listed individually; more go into a folded table."""

_KINDS = {"made": "a test file", "file": "an existing file", "device": "a block device"}

_PAGES = {
    "huge": "in huge pages, so large blocks need few segments; programs with ordinary pages may be "
    "slower",
    "ordinary": "in ordinary pages; large blocks may be faster with huge pages",
    "mixed": "partly in huge pages, partly in ordinary pages",
}


def lead(page: Page, found: Sequence[FilledSet]) -> str:
    """A few sentences under the title."""
    detail = found[0].volume_set.detail
    if not detail.model_fields_set:
        return ""
    volumes = list(_targets(found))
    words = [f"Measured in {detail.volume}"]
    size = detail.file_bytes
    if volumes:
        names = [str(target.name) for target in volumes]
        words = [f"{len(names)} volumes" if len(names) > 1 else f"Measured on {names[0]}"]
        if len(names) > 1:
            words = [f"Measured on {words[0]}: {_named(names)}"]
    elif size is not None:
        words.append(f"on a test file of {bytes_text(size)}")
    cached = [place.volume_set.label for place in found if place.volume_set.detail.direct is False]
    if cached:
        which = f"{', '.join(dict.fromkeys(cached))} " * (len(found) > len(cached))
        words.append(f"{which}through the page cache")
    elif detail.direct:
        words.append("with direct I/O")
    if detail.engine:
        words.append(f"with {detail.engine}")
    return " ".join([f"{', '.join(words)}.", *_sentences(page, found)])


def _named(names: list[str]) -> str:
    return f"{', '.join(names[:MOST_VOLUMES])}{', …' * (len(names) > MOST_VOLUMES)}"


def _sentences(page: Page, found: Sequence[FilledSet]) -> Iterable[str]:
    way = how(page.run)
    detail = found[0].volume_set.detail
    if way == "together" and len(found[0].volume_set.members) > 1:
        yield "All volumes ran concurrently; values are totals."
    elif way == "compare":
        yield "Each volume was measured alone."
    elif way == "scaling":
        yield "One volume was measured, then two concurrently, and so on."
    repeats = detail.repeats
    if repeats is not None and repeats > 1:
        turns = ", alternating" if way in {"compare", "scaling"} else ""
        yield f"{repeats:g} repetitions{turns}."
    if any(place.stage.label for place in found):
        yield "The test files grew from one fill level to the next."


def _targets(found: Iterable[FilledSet]) -> Iterable[Asked]:
    """The distinct volumes of all volume sets."""
    seen: set[str] = set()
    for place in found:
        for target in place.volume_set.detail.targets:
            if target.name is not None and target.name not in seen:
                seen.add(target.name)
                yield target


def targets(found: Sequence[FilledSet]) -> list[Facts | Table]:
    """The facts on each volume; many volumes in a folded table."""
    fsync = found[0].volume_set.detail.fsync
    volumes = [(str(target.name), _target(target)) for target in _targets(found)]
    many = len(volumes) > MOST_VOLUMES
    facts = [] if many else [Fact(name, text) for name, text in volumes]
    if volumes and fsync is not None:
        words = (
            "complete on the media (fsync)"
            if fsync
            else "complete when the device accepts them, possibly in its cache; durable only in "
            "profiles with syncs"
        )
        facts.append(Fact("Writes", words))
    pages = granted(found[0].volume_set.detail)
    if volumes and pages:
        facts.append(Fact("Buffers", _PAGES[pages]))
    columns = [Column("Volume"), Column("Description", wide=True)]
    table = Table(f"The {len(volumes)} volumes", columns, volumes, folded=True)
    return [*([table] if many else []), *([Facts(facts)] if facts else [])]


def _target(target: Asked) -> str:
    words = _KINDS.get(target.kind or "", "")
    if target.bytes is not None and words:
        words += f" of {bytes_text(target.bytes)}"
    if target.path:
        words += f" in {target.path}" if target.kind == "made" else f" {target.path}"
    return ", ".join(filter(None, [words.strip(), *_facts(target.facts or {})]))


def _facts(facts: dict[str, Any]) -> Iterable[str]:
    if facts.get("filesystem"):
        options = facts.get("mount_options")
        listed = [str(one) for one in options] if isinstance(options, list) else []
        yield f"{facts['filesystem']}{_bracketed(listed)}"
    device = [str(facts[key]) for key in ("device", "model") if facts.get(key)]
    if device:
        yield f"on {' '.join(device)}"
    if facts.get("raid"):
        yield f"RAID: {facts['raid']}"
    for key, yes, no in (
        ("rotational", "rotational", "not rotational"),
        ("virtual", "virtual", ""),
        ("remote", "remote", ""),
    ):
        if isinstance(facts.get(key), bool):
            yield yes if facts[key] else no
    if facts.get("write_cache"):
        yield f"write cache: {facts['write_cache']}"
    if facts.get("link") and isinstance(facts.get("link_mbps"), float):
        yield f"{facts['link']}: at most {facts['link_mbps']:,.0f} MB/s"
    if isinstance(facts.get("largest_request_bytes"), int):
        yield f"requests of at most {bytes_text(facts['largest_request_bytes'])}"
    limit = facts.get("cgroup_limit")
    if isinstance(limit, dict) and limit:
        yield f"cgroup limit {', '.join(f'{key} {value}' for key, value in limit.items())}"
    elif limit:
        yield f"cgroup limit {limit}"


def _bracketed(words: list[str]) -> str:
    return f" ({', '.join(words)})" if words else ""
