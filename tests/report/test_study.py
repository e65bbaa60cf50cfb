"""The page of a study and its lines: what a reader finds, from made-up books."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dyno.errors import Interrupted
from dyno.report.kit.blocks import Figure, Row
from dyno.report.study import study_report
from dyno.report.study.formats import labels
from dyno.report.study.page import StudyPage
from dyno.report.study.report import answer
from dyno.report.study.sections import growth, makers
from dyno.runner import study_page
from dyno.studies.analysis import outcome
from dyno.studies.document import document
from dyno.studies.ending import INTERRUPTED, LIMIT, ending, resume_words
from dyno.studies.model import Study, Variant
from dyno.studies.outcome import Effect, Fit, Noise, Outcome, Parameter, Point, Reach, Term
from dyno.studies.schedule import schedule
from dyno.studies.store import Entry, Note, StudyStore
from dyno.studies.text import lines
from dyno.workspace.lock import OutLock
from tests.report.html import Page
from tests.report.test_hostile import EVIL

Values = Callable[[int, int], dict[str, float]]
"""Of the variant at this place in this pair."""


def asked(count: int = 2, pairs: int = 5, **more: Any) -> Study:
    variants = [
        Variant(name=f"v{at}", workload="tpch", target="embedded:postgresql", scale=0.1 + at)
        for at in range(count)
    ]
    given = {"headline": ("total_s",), "exploratory": ("query_s",), "variants": variants, **more}
    return Study.model_validate({"name": "mine", "pairs": pairs, **given})


def columns(variant: int, pair: int) -> dict[str, float]:
    """A total that improves while one query gets worse, with 0.1 % of noise."""
    wobble = 1 + (pair * (variant + 2) % 5) / 1000
    queries = {"query_s.q09": (10, 28)[variant], "query_s.q01": (50, 10)[variant]}
    return {"total_s": (100.0, 60.0)[variant] * wobble} | {
        name: value * wobble for name, value in queries.items()
    }


def book(folder: Path, study: Study, values: Values, **every: Any) -> StudyStore:
    """A book in which all runs ended, each with a report; ``every`` changes each of them."""
    names = [variant.name for variant in study.variants]
    made = StudyStore.begin(folder, study, schedule(names, study.pairs, study.seed))
    for slot in made.slots:
        at = names.index(slot.variant)
        entry = {
            "place": slot.place, "attempt": 1, "variant": slot.variant, "pair": slot.pair,
            "bundle": f"data 1/runs/{slot.place}", "code": 0, "valid": True,
            "figures": values(at, slot.pair), "started": 1.7e9 + 30 * slot.place,
            "ended": 1.7e9 + 30 * slot.place + 28, **every,
        }  # fmt: skip
        made.add(Entry.model_validate(entry))
    return made


def page_of(made: StudyStore, **more: Any) -> Page:
    found = outcome(made).model_copy(update=more)
    return Page(study_report(made, found))


def verdict(page: Page) -> str:
    return " ".join(page.root.all("div", class_="verdict")[0].text.split())


def test_the_answer_comes_first(tmp_path: Path) -> None:
    study = asked(question="Faster?", design="Both.", rule="If it is.", misleads="By a lot.")
    made = book(tmp_path / "s", study, columns)
    (made.folder / "data 1" / "runs" / "3").mkdir(parents=True)
    (made.folder / "data 1" / "runs" / "3" / "sheet.html").write_text("")
    invalid = made.entries()[-1].model_copy(
        update={"verdict": "invalid", "attempt": 2, "reasons": ("the driver was the limit",)}
    )
    made.add(invalid)
    page = page_of(made)
    assert page.sections() == [
        "answer", "course", "others", "against", "question", "variants", "runs", "method",
    ]  # fmt: skip
    # Effects, growth and the machine are parts of other studies.
    assert len(makers()) == len(page.sections()) + 4
    assert page.root.all("h1")[0].text == "Faster?"
    assert "▲ v1 is better" in verdict(page)
    assert "v1 better: Power test total −40" in verdict(page)
    assert "1 of 11 runs was invalid" in verdict(page)
    both = page.section("others").text
    assert "'v1' is better in power test total (−40" in both
    assert "but worse in Q9 +180 %" in both
    table = page.table("Significant changes")
    assert [row[1] for row in table[1:]] == ["Q9", "Q1"]
    for term, text in (("Question", "Faster?"), ("Limitations", "By a lot.")):
        assert term in page.section("question").text
        assert text in page.section("question").text
    rows = page.table("Runs in order")
    assert len(rows) == 12
    assert "✗ invalid" in rows[-1]
    assert "the driver was the limit" in rows[-1]
    (link,) = page.section("runs").all("a")
    assert link.attributes["href"] == "./data%201/runs/3/sheet.html"
    assert page.table("Differences") == [["Variant", "scale"], ["v0", "0.1"], ["v1", "1.1"]]
    assert "Derived from TPC-H" in page.root.all("footer")[0].text


@pytest.mark.usefixtures("drawn")
def test_charts_say_it_by_shape_word_and_colour(tmp_path: Path) -> None:
    page = page_of(book(tmp_path / "s", asked(), columns))
    forest = page.section("answer").all("svg", role="img")
    assert len(forest) == 2
    assert "v1: −40" in forest[0].attributes["aria-label"]
    assert forest[0].attributes["aria-label"].endswith(", better")
    assert "Shaded: the margin of ±2 %" in page.section("answer").text
    (key,) = page.section("answer").all("ul", class_="keys")[0].all("li")
    assert key.text.strip() == "better"
    course = page.section("course")
    assert [key.text.strip() for key in course.all("ul", class_="keys")[0].all("li")] == [
        "v0", "v1",
    ]  # fmt: skip
    titles = {title.text for title in course.all("title")}
    assert any(text.startswith("Run 1, v") for text in titles)


def grid() -> Study:
    variants = [
        Variant(name=f"users={users} memory={memory}", workload="tpcc", target="null:",
                run={"users": users}, settings={"memory": memory},
                levels={"run.users": users, "settings.memory": memory})
        for users, memory in itertools.product((1, 2, 4), ("1GB", "2GB"))
    ]  # fmt: skip
    return asked(variants=variants, headline=("tps",), exploratory=(),
                 factors=("run.users", "settings.memory"))  # fmt: skip


def grown() -> tuple[tuple[Effect, ...], tuple[Fit, ...]]:
    def effect(factors: tuple[str, ...], verdict: str, *terms: tuple[Any, ...]) -> Effect:
        return Effect.model_validate({
            "metric": "tps", "headline": True, "factors": factors, "p": 0.01, "share_percent": 88,
            "verdict": verdict, "terms": [
                Term(levels=levels, percent=shift, low=shift - 1, high=shift + 1)
                for levels, shift in terms
            ],
        })  # fmt: skip

    def known(value: float) -> Parameter:
        return Parameter(value=value, low=value * 0.9, high=math.inf if value == 20 else value)

    fit = Fit(
        metric="tps", headline=True, factor="run.users", at={"settings.memory": "1GB"},
        exponent=known(0.8), linear="less", tolerance=0.05,
        usl={"sigma": known(0.04), "kappa": known(0.002), "gamma": known(500), "peak": known(20)},
        points=tuple(Point(x=x, y=400 * x**0.8, low=390 * x**0.8, high=410 * x**0.8, fitted=None)
                     for x in (1.0, 2.0, 4.0)),
        note="Its peak lies beyond.",
    )  # fmt: skip
    plain = fit.model_copy(update={"usl": {}, "headline": False, "points": tuple(
        point.model_copy(update={"fitted": point.y}) for point in fit.points)})  # fmt: skip
    effects = (
        effect(("run.users",), "certain", ((2,), 90), ((4,), 250)),
        effect(("run.users", "settings.memory"), "none", ((4, "2GB"), 0.2)),
    )
    return effects, (fit, plain)


def test_a_series_looks_the_same_in_every_chart_of_growth(tmp_path: Path) -> None:
    """Also where the fits of one metric are in another order, or one is missing."""
    (fit, _) = grown()[1]
    small, large = ({"settings.memory": size} for size in ("1GB", "2GB"))
    power = fit.exponent.model_copy(update={"value": 0.1})
    fits = (
        fit.model_copy(update={"at": small}),
        fit.model_copy(update={"at": large}),
        fit.model_copy(update={"at": small, "metric": "p95_ms.payment", "exponent": power}),
        fit.model_copy(update={"at": large, "metric": "p95_ms.payment"}),
        fit.model_copy(update={"at": large, "metric": "p95_ms.delivery"}),
    )
    made = book(tmp_path / "s", grid(), lambda at, pair: {"tps": 500.0 * (1 + at) + pair})
    page = StudyPage.of(made, outcome(made).model_copy(update={"fits": fits}))
    found = growth.section(page)
    assert found is not None
    charts = [one for row in found.blocks if isinstance(row, Row) for one in row.blocks]
    series = [
        {key.name: (key.outline, key.variable) for key in chart.keys}
        for chart in charts
        if isinstance(chart, Figure)
    ]
    assert [list(one) for one in series[:2]] == [["memory=1GB", "memory=2GB"]] * 2
    assert series[0] == series[1]
    assert series[2] == {"memory=2GB": series[0]["memory=2GB"]}


def test_factors_and_growth(tmp_path: Path) -> None:
    made = book(tmp_path / "s", grid(), lambda at, pair: {"tps": 500.0 * (1 + at) + pair})
    effects, fits = grown()
    page = page_of(made, effects=effects, fits=fits)
    table = page.table("Effects and interactions")
    assert [row[0] for row in table[1:]] == ["users=2", "users=4", "users=4 × memory=2GB"]
    assert table[2][1:4] == ["◆ significant", "+250 %", "+249 to +251 %"]
    assert table[3][1] == "■ none"
    growth = page.section("growth")
    assert len(growth.all("svg", role="img")) == 1
    assert "linear from the first level" in growth.text
    assert "Its peak lies beyond." in growth.text
    first = page.table("Scaling parameters")[1]
    assert first[2:] == [
        "▼ sublinear", "0.800 (0.720 to 0.800)", "4 (3.60 to 4)", "0.200 (0.180 to 0.200)",
        "20 (18 to ∞)",
    ]  # fmt: skip
    found = outcome(made)
    printed = lines(made.study, found.model_copy(update={"effects": effects, "fits": fits}))
    text = " ".join(" ".join(printed).split())
    assert "Effect of users on tps: SIGNIFICANT" in text
    assert "tps over users at memory=1GB: SUBLINEAR" in text
    assert "peak at 20 (18 to none)" in text
    assert text.index("Effect of") > text.index("users=4 memory=2GB: tps")


def test_the_same_twice(tmp_path: Path) -> None:
    variants = [Variant(name=name, workload="tpch", target="null:") for name in "AB"]
    made = book(tmp_path / "s", asked(variants=variants), lambda at, pair: {
        "total_s": 100 + (at * 7 + pair * 3) % 5 / 10})  # fmt: skip
    noise = Noise(metric="total_s", headline=True, pairs=5, sd_percent=0.3, low=0.2, high=0.8,
                  pair_s=60, reaches=(Reach(percent=1, pairs=4, minutes=4),))  # fmt: skip
    page = page_of(made, noise=(noise,))
    assert "✓ A/A test passed: no difference" in verdict(page)
    table = page.table("Minimum detectable effect: Power test total, s")
    assert [cell.replace("\N{NARROW NO-BREAK SPACE}", " ") for cell in table[1]] == [
        "1 %", "4", "4 min 0 s",
    ]  # fmt: skip
    assert "A/A test" in page.section("variants").text
    found = outcome(made).model_copy(update={"noise": (noise,)})
    assert "1 % with 4 pairs (4 min 0 s)" in " ".join(lines(made.study, found))


def test_many_variants(tmp_path: Path) -> None:
    study = asked(64, pairs=2, exploratory=())
    page = page_of(book(tmp_path / "s", study, lambda at, pair: {"total_s": 100.0 + at + pair}))
    assert len(page.table("Each variant vs 'v0'")) == 64
    assert "12 of 63 variants" in verdict(page)
    assert len(page.table("Runs in order")) == 129
    # More than shape and colour can distinguish: the first, and all others.
    (keys,) = page.section("course").all("ul", class_="keys")
    assert [key.text.strip() for key in keys.all("li")] == ["others", "v0"]


def test_many_metrics_of_few_variants(tmp_path: Path) -> None:
    """A chart for each variant, a line for each metric, and the answer counts them."""
    variants = [Variant(name=name, workload="io", target=f"/srv/{name}") for name in "ab"]
    study = asked(variants=variants, headline=("iops",), exploratory=())
    made = book(tmp_path / "s", study, lambda at, pair: {
        f"iops.curve-{curve}": 1000.0 * (1 + at * (curve > 0)) + pair for curve in range(5)
    })  # fmt: skip
    page = page_of(made)
    assert "4 better, 1 equivalent" in verdict(page)
    assert "b better in 4, equivalent in 1 of 5 metrics." in verdict(page)
    answer = page.section("answer")
    assert len(answer.all("svg", role="img")) == 1
    assert answer.all("figcaption")[0].text.startswith("'b' vs 'a'")
    rows = page.table("Each variant vs 'a'")
    assert [row[1] for row in rows[1:]] == [f"curve-{curve}" for curve in range(5)]


@pytest.mark.parametrize(
    ("verdicts", "tone"),
    [
        ("better inconclusive", "good"),
        ("equivalent equivalent", "good"),
        ("equivalent inconclusive", "open"),
        ("better worse", "open"),
        ("worse inconclusive", "bad"),
    ],
)
def test_an_answer_is_as_green_as_what_was_found(tmp_path: Path, verdicts: str, tone: str) -> None:
    variants = [Variant(name=name, workload="io", target=f"/srv/{name}") for name in "ab"]
    study = asked(variants=variants, headline=("iops",), exploratory=())
    made = book(
        tmp_path / "s",
        study,
        lambda at, pair: dict.fromkeys(("iops.log", "iops.temp"), 1e3 + pair + at),
    )
    found = outcome(made)
    pairs = zip(found.comparisons, verdicts.split(), strict=True)
    judged = tuple(one.model_copy(update={"verdict": verdict}) for one, verdict in pairs)
    said = answer(StudyPage.of(made, found.model_copy(update={"comparisons": judged})))
    assert said.tone == tone
    first, second = verdicts.split()
    (reason,) = said.reasons
    assert reason.message.startswith(f"{first}: Best IOPS")
    assert f". {second.capitalize()}: Best IOPS" in reason.message


def test_members_of_one_family_need_no_name_of_it() -> None:
    assert labels(["query_s.q09", "total_s"])["query_s.q09"] == "Q9"
    assert labels(["query_s.q09", "p95_ms.payment"])["query_s.q09"] == "Q9, query time"


def test_who_breaks_a_criterion_cannot_win(tmp_path: Path) -> None:
    study = asked(exploratory=())
    made = book(tmp_path / "s", study, columns)
    for entry in made.entries():
        if entry.variant == "v1":
            broken = {"broken": ("total_s < 50 was not kept",), "attempt": 2}
            made.add(entry.model_copy(update=broken))
    page = page_of(made)
    assert "✗ v1 is disqualified" in verdict(page)
    assert "v1 disqualified: total_s < 50 was not kept. Power test total" in verdict(page)
    assert (
        "disqualified" in page.section("answer").all("svg", role="img")[0].attributes["aria-label"]
    )
    table = page.table("Failed criteria")
    assert table[1][:3] == ["total_s < 50 was not kept", "v1", "5"]
    assert page.table("Disqualified variants")[1][:2] == ["v1", "✗ disqualified"]
    runs = page.table("Runs in order")
    assert sum("✓ valid, criterion failed" in row for row in runs) == 5


def test_no_valid_run(tmp_path: Path) -> None:
    broken = {"valid": False, "code": 3, "bundle": None, "reasons": ("no server",)}
    made = book(tmp_path / "s", asked(pairs=1), lambda *_: {}, **broken)
    page = page_of(made)
    assert "✗ No result" in verdict(page)
    assert "'v1' is disqualified: no valid run: no server" in verdict(page)
    assert not page.root.all("svg", class_="chart")
    assert page.table("Runs in order")[1][-1] == "no server"
    printed = lines(made.study, outcome(made), made.entries())
    assert "! Run 1 of" in "\n".join(printed)


def test_two_runs(tmp_path: Path) -> None:
    made = book(tmp_path / "s", asked(pairs=1), columns)
    page = page_of(made)
    assert "Power test total not compared: 1 pair, 2 needed." in verdict(page)
    assert page.table("Each variant vs 'v0'")[1][1:] == ["not compared", "1"]
    assert len(page.section("course").all("svg", role="img")) == 1


def hostile() -> Study:
    """Markup in all words of a study."""
    variants = [
        Variant(name=f"{EVIL}{at}", workload="tpch", target=f"null:{EVIL}{at}",
                settings={EVIL: f"{EVIL}{at}"})
        for at in range(2)
    ]  # fmt: skip
    words = dict.fromkeys(("question", "design", "rule", "misleads"), EVIL)
    return asked(name=EVIL, variants=variants, **words)


def test_markup_in_a_book_is_only_text(tmp_path: Path) -> None:
    every = {"bundle": "javascript:alert(1)", "reasons": (EVIL,)}
    made = book(tmp_path / "s", hostile(), columns, **every)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "sheet.html").write_text("")
    stray = {EVIL: 1.0, "total_s": 100.0}
    made.add(made.entries()[-1].model_copy(update={"figures": stray}))
    for path in ("../outside", str(outside), "\0"):
        made.add(made.entries()[0].model_copy(update={"bundle": path, "verdict": "invalid"}))
    left_out = made.study.variants[1].name
    made.note(Note(kind="dropped", at=1.0, variant=left_out, text=EVIL))
    made.note(Note(kind="ended", at=2.0, text=EVIL, how="failed"))
    page = page_of(made, notes=(EVIL,), disqualified={EVIL: EVIL})
    tags = {element.tag for element in page.root.all()}
    assert not tags & {"script", "img", "iframe", "object", "foreignobject", "use", "image"}
    for element in page.root.all():
        assert not [name for name in element.attributes if name.startswith("on")]
    assert [link for link in page.root.all("a") if link.attributes["href"][:1] != "#"] == []
    assert "<script>alert(1)</script>" in page.root.text


def test_the_terminal_gets_plain_lines_that_fit(tmp_path: Path) -> None:
    made = book(tmp_path / "s", hostile(), columns)
    found = outcome(made).model_copy(update={"notes": (EVIL,)})
    for line in lines(made.study, found, made.entries()):
        assert line.isprintable()
        assert len(line) <= 80


def test_the_document_is_json(tmp_path: Path) -> None:
    made = book(tmp_path / "s", asked(), columns)
    found = outcome(made)
    endless = found.comparisons[0].model_copy(update={"low": -math.inf, "smallest": math.nan})
    written = document(made, found.model_copy(update={"comparisons": (endless,)}))
    read = json.loads(json.dumps(written, allow_nan=False))
    assert read["outcome"]["comparisons"][0]["low"] is None
    assert len(read["runs"]) == 10
    assert Outcome.model_validate(read["outcome"]).comparisons[0].verdict == "better"


@pytest.mark.parametrize(
    ("how", "text", "words"),
    [
        (
            "interrupted",
            INTERRUPTED,
            "interrupted by the user or a signal. Resume: `dyno study --resume FOLDER`",
        ),
        (
            "done",
            LIMIT,
            "the time limit was reached. Resume: `dyno study --resume FOLDER --time-limit LONGER`",
        ),
        (
            "failed",
            "stopped by an error: no space",
            "stopped by an error: no space. Resume: `dyno study",
        ),
        (
            None,
            "",
            "cut off: its process was killed, or the machine went down. Resume: `dyno study",
        ),
        ("done", "every headline interval is within 2 %", "every headline interval is within 2 %."),
    ],
)
def test_the_state_of_a_study_says_how_to_resume(
    tmp_path: Path, how: Any, text: str, words: str
) -> None:
    made = StudyStore.begin(tmp_path / "longer", asked(pairs=6), schedule(["v0", "v1"], 6, 1))
    for entry in book(tmp_path / "shorter", asked(), columns).entries():
        made.add(entry)
    made.note(Note(kind="begun", at=1.0))
    if how is not None:
        made.note(Note(kind="ended", at=2.0, text=text, how=how))
    assert f"2 of 12 planned runs have no result: {words}" in verdict(page_of(made))
    state = document(made, outcome(made))["state"]
    goes_on = "within" not in text
    assert state["resume"] == (resume_words(made, ending(made)) if goes_on else None)
    with OutLock(made.folder):
        assert ending(made).kind == ("at work" if how is None else state["kind"])


def test_a_study_that_was_stopped_has_its_page(tmp_path: Path) -> None:
    made = book(tmp_path / "s", asked(), columns)
    with pytest.raises(Interrupted), study_page.also_of_a_part(made):
        raise Interrupted("Interrupted.")
    page = Page((made.folder / "study.html").read_text("utf-8"))
    assert "▲ v1 is better" in verdict(page)
    nothing = StudyStore.begin(tmp_path / "n", asked(), [])
    with pytest.raises(Interrupted), study_page.also_of_a_part(nothing):
        raise Interrupted("Interrupted.")
    assert not (nothing.folder / "study.html").exists()
