"""Bundles are anybody's: whatever stands in them is text and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dyno.report import document, summary
from tests.bundles import Builder, quickstart
from tests.judged import judged
from tests.report.conftest import report_of

EVIL = (
    "<script>alert(1)</script>\"'&amp;{{7*7}}</svg></style><img src=x onerror=alert(1)>\x1b[31m\x00"
)


def spoiled(path: Path) -> Builder:
    """A whole run with markup in every place that holds text."""
    builder = quickstart(path)
    builder.plan = {"scale": EVIL, "quick": EVIL}
    builder.host = evil(builder.host)
    for at, phase in enumerate(builder.phases):
        detail = {
            key: value if key in ("level", "users", "outcome") else evil(value)
            for key, value in phase.detail.items()
        }
        outcome = detail.get("outcome")
        if isinstance(outcome, dict):
            detail["outcome"] = {**outcome, "errors_first": {EVIL: EVIL}}
        title = phase.title + EVIL
        builder.phases[at] = phase.model_copy(update={"title": title, "detail": detail})
    for name, facts in list(builder.targets.items()):
        settings = {EVIL: EVIL}
        fields = {"version": facts.version + EVIL, "url": EVIL, "settings": settings}
        builder.targets[name + EVIL] = facts.model_copy(update=fields)
    builder.checks = [
        check.model_copy(update={"message": EVIL, "target": EVIL, "name": check.name + EVIL})
        for check in builder.checks
    ]
    for row in builder.tables["io"]:
        row.update(volume=EVIL, phase=row["phase"] + EVIL)
    for row in builder.tables["queries"]:
        row.update(query=row["query"] + EVIL, target=row["target"] + EVIL, digest=EVIL)
    for row in builder.tables["samples"]:
        row.update(subject=row["subject"] + EVIL)
    for level in ("ops/users-1", "ops/users-4"):
        for row in builder.tables[level]:
            row["op"] += EVIL
    return builder


def evil(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: evil(item) for key, item in value.items()}
    if isinstance(value, list):
        return [evil(item) for item in value]
    return value + EVIL if isinstance(value, str) else value


@pytest.mark.usefixtures("drawn")
def test_markup_in_a_bundle_is_only_text(tmp_path: Path) -> None:
    found = report_of(judged(spoiled(tmp_path).write()))
    assert "<script" not in found.html
    tags = {element.tag for element in found.page.root.all()}
    assert not tags & {"script", "img", "iframe", "object", "foreignobject", "use", "image"}
    for element in found.page.root.all():
        assert not [name for name in element.attributes if name.startswith("on")]
    assert "<script>alert(1)</script>" in found.page.root.text
    assert "49" not in found.page.root.all("h1")[0].text


def test_control_characters_never_reach_the_terminal(tmp_path: Path) -> None:
    found = judged(spoiled(tmp_path).write())
    for line in summary(found.bundle, found.estimates, found.findings):
        assert line.isprintable()
        assert len(line) <= 80


def test_the_document_is_json(tmp_path: Path) -> None:
    found = judged(spoiled(tmp_path).write())
    text = json.dumps(document(found.bundle, found.estimates, found.findings), allow_nan=False)
    assert isinstance(json.loads(text)["valid"], bool)


@pytest.mark.long
@pytest.mark.parametrize(
    "value",
    [10**400, float("nan"), float("inf"), True, "much", [], {}],
    ids=["huge", "nan", "inf", "true", "text", "list", "map"],
)
def test_numbers_of_another_kind(tmp_path: Path, value: Any) -> None:
    builder = quickstart(tmp_path)
    for at, phase in enumerate(builder.phases):
        detail = dict.fromkeys(phase.detail, value)
        builder.phases[at] = phase.model_copy(update={"detail": detail})
    builder.plan = {"scale": value, "quick": value}
    builder.host = dict.fromkeys(builder.host, value)
    found = judged(builder.write())
    assert report_of(found).page.sections()
    assert summary(found.bundle, found.estimates, found.findings)


def test_halves_of_surrogate_pairs(tmp_path: Path) -> None:
    bundle = quickstart(tmp_path).write()
    head = bundle.path / "run.json"
    head.write_text(head.read_text().replace("/srv/dyno-runs", "\\ud800"))
    found = report_of(judged(type(bundle).open(bundle.path)))
    found.html.encode("utf-8")
