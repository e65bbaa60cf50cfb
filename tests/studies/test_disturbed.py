"""Runs whose environment was not quiet: they count, are marked, and are not made again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import pytest

from dyno.bundle.model import Reason, Validity
from dyno.plans.fields import Plan
from dyno.report.study import study_report
from dyno.studies import child, runs
from dyno.studies.analysis import outcome, said
from dyno.studies.document import document
from dyno.studies.ending import ending
from dyno.studies.execute import Work
from dyno.studies.forecast import forecast
from dyno.studies.model import Study, Variant
from dyno.studies.schedule import Slot, schedule
from dyno.studies.store import Entry, StudyStore
from dyno.studies.text import lines
from tests.bundles import Builder
from tests.report.html import Page
from tests.studies import books

WHY = "CPU steal: 15 %"


def book_of(folder: Path, asked: Study) -> StudyStore:
    return StudyStore.begin(folder, asked, schedule(["v0", "v1"], asked.pairs, 1))


def filled(folder: Path, disturbed: set[int], pairs: int = 4) -> StudyStore:
    """A book of whole pairs, of which those in ``disturbed`` were so; v1 has a tenth more."""
    book = book_of(folder, books.study(pairs=pairs))
    for slot in book.slots:
        bad = slot.pair in disturbed
        tps = 1000 * (1.1 if slot.variant == "v1" else 1.0) * (1 + slot.place / 1000)
        book.add(books.run(
            slot.place, slot.pair, slot.variant, {"tps": tps}, code=int(bad),
            verdict="disturbed" if bad else "valid", reasons=(WHY,) if bad else (),
            codes=("disturbed",) if bad else (),
        ))  # fmt: skip
    return book


def test_books_of_before_are_read() -> None:
    old = books.run(0, 0, "v0", {"tps": 1.0}).model_dump(mode="json")
    del old["verdict"]
    for valid, verdict in ((True, "valid"), (False, "invalid")):
        entry = Entry.model_validate({**old, "valid": valid})
        assert (entry.verdict, entry.valid, entry.counts) == (verdict, valid, valid)
    new = Entry.model_validate({**old, "verdict": "disturbed"})
    again = Entry.model_validate_json(new.model_dump_json())
    assert (again.verdict, again.valid, again.counts) == ("disturbed", False, True)
    assert json.loads(new.model_dump_json())["valid"] is False


@pytest.mark.parametrize(
    ("kinds", "verdict"),
    [(("disturbed",), "disturbed"), (("disturbed", "invalid"), "invalid"), ((), "valid")],
)
def test_the_verdict_is_that_of_the_bundle(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kinds: tuple[Literal["disturbed", "invalid"], ...],
    verdict: str,
) -> None:
    asked = books.study(headline=("tps",))
    book = book_of(tmp_path / "s", asked)
    bundle = Builder(book.folder / "data-1" / "20261120T170000Z-0a1b").oltp(4).write()
    reasons = tuple(Reason(code=kind, message=f"{kind}.", kind=kind) for kind in kinds)
    validity = Validity(valid=not reasons, reasons=reasons)
    head = bundle.run.model_copy(update={"validity": validity})
    (bundle.path / "run.json").write_text(head.model_dump_json())
    found = [{"name": "oltp.tpcc-users-4.tps", "value": 10.0, "unit": "1/s"}]
    (bundle.path / "estimates.json").write_text(json.dumps(found))

    def ran(_plan: Plan) -> child.Ended:
        return child.Ended(1, {"bundle": str(bundle.path)})

    monkeypatch.setattr(child, "dyno", ran)
    entry = runs.make(book, book.slots[0], 1, asked.variants[0], book.folder / "data-1")
    assert entry.verdict == verdict, entry.reasons
    assert entry.codes == kinds


def test_disturbed_runs_count_and_invalid_ones_do_not(tmp_path: Path) -> None:
    book = filled(tmp_path / "s", {0, 1})
    found = outcome(book)
    (one,) = [each for each in found.comparisons if each.headline]
    assert (one.pairs, one.verdict) == (4, "better")
    assert (found.disturbed, found.invalid) == (4, 0)
    assert not found.disqualified
    (alone,) = found.undisturbed
    assert (alone.pairs, alone.variant, alone.metric) == (2, "v1", "tps")
    assert ending(book).missing == 0
    entries = [
        entry.model_copy(update={"verdict": "invalid"}) if entry.disturbed else entry
        for entry in book.entries()
    ]
    without = said(book.study, entries, {})
    assert [each.pairs for each in without.comparisons] == [2]
    assert not without.undisturbed, "all runs that count are valid"
    criterion = [
        entry.model_copy(update={"broken": ("p95 was not kept",)})
        if entry.disturbed and entry.variant == "v1"
        else entry
        for entry in book.entries()
    ]
    out = said(book.study, criterion, {}).disqualified
    assert out == {"v1": "p95 was not kept (in a disturbed run)"}


@pytest.mark.parametrize("disturbed", [{0, 1, 2}, {0, 1, 2, 3}])
def test_too_few_valid_runs_are_reported(tmp_path: Path, disturbed: set[int]) -> None:
    book = filled(tmp_path / "s", disturbed)
    found = outcome(book)
    (alone,) = found.undisturbed
    assert (alone.percent, alone.pairs) == (None, 4 - len(disturbed))
    assert "too few" in "\n".join(lines(book.study, found, book.entries()))
    table = Page(study_report(book, found)).table("Results with and without disturbed runs")
    assert "better" in table[1][2]
    assert "too few runs" in " ".join(table[2]).replace("\N{NO-BREAK SPACE}", " ")


def test_they_are_marked_wherever_runs_are_shown(tmp_path: Path) -> None:
    book = filled(tmp_path / "s", {1})
    found = outcome(book)
    text = lines(book.study, found, book.entries())
    assert text[0].startswith("Study s: 8 runs, 2 disturbed, 0 invalid")
    assert sum(line.startswith("~ Run ") for line in text) == 2
    assert any("Valid runs alone: +" in line for line in text)
    assert all(len(line) <= 80 for line in text)
    made = document(book, found)
    assert [one["verdict"] for one in made["runs"]].count("disturbed") == 2
    assert made["outcome"]["undisturbed"][0]["pairs"] == 3
    page = Page(study_report(book, found))
    rows = page.table("Runs in order")
    assert sum("≈ disturbed" in row for row in rows) == 2
    assert sum("✓ valid" in row for row in rows) == 6
    assert sum(WHY in row for row in rows) == 2
    course = page.section("course")
    assert "hollow: disturbed, counts" in course.text
    chart = course.all("svg", role="img")[0]
    marks = [mark for mark in chart.all("path") if mark.attributes.get("stroke-width") == "2"]
    hollow = [mark for mark in marks if "fill" not in mark.attributes]
    assert (len(marks), len(hollow)) == (8, 2)
    assert all("--c-" in mark.attributes["stroke"] for mark in hollow), "of its variant's colour"
    verdict = page.root.all("div", class_="verdict")[0].text
    assert "2 of 8 runs were disturbed" in verdict
    assert "without" in page.section("answer").text


def test_they_are_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = books.study(pairs=2, reset="nothing", replace=2)
    book = book_of(tmp_path / "s", asked)
    verdicts = iter(["disturbed", "invalid", "disturbed", "valid", "disturbed"])

    def run(_work: Work, slot: Slot, attempt: int, variant: Variant, _out: Path) -> Entry:
        verdict = next(verdicts)
        return books.run(
            slot.place, slot.pair, variant.name, {"tps": 1.0}, attempt=attempt, verdict=verdict,
            reasons=() if verdict == "valid" else (WHY,),
        )  # fmt: skip

    monkeypatch.setattr(Work, "_run", run)
    said_lines: list[str] = []
    Work(book, said_lines.append, forecast(asked, book.slots, [], tmp_path)).run()
    assert [(one.place, one.attempt) for one in book.entries()] == [
        (0, 1), (1, 1), (1, 2), (2, 1), (3, 1),
    ]  # fmt: skip
    assert sum("DISTURBED" in line for line in said_lines) == 3
    assert sum("INVALID" in line for line in said_lines) == 1
