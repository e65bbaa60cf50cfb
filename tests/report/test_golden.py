"""The summary and the document of a whole run, to the letter.

After a change that is meant: ``DYNO_UPDATE_GOLDEN=1 pytest tests/report/test_golden.py``.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from dyno.bundle.model import Reason, Validity
from dyno.decide.judge import definitions
from dyno.report import document, run_report, summary
from tests.bundles import interrupted, only_io, quickstart
from tests.judged import Judged, judged
from tests.report.conftest import Report

GOLDEN = Path(__file__).parent / "golden"


def agrees(name: str, text: str) -> None:
    file = GOLDEN / name
    if os.environ.get("DYNO_UPDATE_GOLDEN") == "1":
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def lines(found: Judged) -> list[str]:
    return summary(found.bundle, found.estimates, found.findings)


@pytest.mark.parametrize(
    ("count", "more"), [(1, ""), (2, ""), (5, ""), (7, "2 more in the report")]
)
def test_the_summary_prints_every_reason(tmp_path: Path, count: int, more: str) -> None:
    found = judged(quickstart(tmp_path).write())
    reasons = tuple(
        Reason(code="errors", message=f"Reason {'abcdefg'[at]} is " + "long, " * 15 + f"end{at}.")
        for at in range(count)
    )
    bundle = found.bundle.judged(Validity(valid=False, reasons=reasons))
    printed = summary(bundle, found.estimates, found.findings)
    assert all(len(line) <= 80 for line in printed)
    text = " ".join(" ".join(printed).split())
    for at in range(count):
        assert (f"Reason {'abcdefg'[at]}" in text) == (f"end{at}." in text) == (at < 5)
    assert ("more in the report" in text) == bool(more)
    assert more in text
    # The results and the notices are there too.
    assert printed[-2:] == list(bundle.run.notices)
    assert [line for line in printed if line.startswith("Checks")]


@pytest.mark.parametrize("name", ["whole", "only-io", "interrupted", "invalid"])
def test_the_summary(tmp_path: Path, name: str) -> None:
    builders = {"whole": quickstart, "only-io": only_io, "interrupted": interrupted}
    if name == "invalid":
        builder = quickstart(tmp_path).answers(wrong="q15").consistency(broken=3)
    else:
        builder = builders[name](tmp_path)
    found = lines(judged(builder.write("interrupted" if name == "interrupted" else "done")))
    assert len(found) <= (12 if name == "invalid" else 10)
    assert all(len(line) <= 80 for line in found)
    agrees(f"summary-{name}.txt", "\n".join(found) + "\n")


def test_the_document(whole: Report) -> None:
    found = whole.judged
    made = document(found.bundle, found.estimates, found.findings)
    assert made["bundle"] == str(found.bundle.path)
    made["bundle"] = "…"
    made["host"] = "…"
    agrees("document-whole.json", json.dumps(made, indent=1, ensure_ascii=False) + "\n")


def test_the_document_has_every_promised_value(whole: Report) -> None:
    found = whole.judged
    made = document(found.bundle, found.estimates, found.findings)
    assert {"run", "bundle", "valid", "reasons", "host", "io", "tpch", "tpcc"} <= set(made)
    assert made["io"]["ceiling_ms"] == 20
    assert set(made["tpch"]["engines"]) == {"postgresql", "duckdb"}
    for engine in made["tpch"]["engines"].values():
        assert {"load_s", "load_mb_per_s", "power_total_s", "queries"} <= set(engine)
        assert [query["query"] for query in engine["queries"]] == [
            f"q{n:02d}" for n in range(1, 23)
        ]
        assert all({"seconds", "rows", "digest"} <= set(query) for query in engine["queries"])
    assert made["tpch"]["answers_match"] is True
    assert [level["users"] for level in made["tpcc"]["levels"]] == [1, 4, 16]
    assert made["tpcc"]["consistency"] is True
    assert made["tpcc"]["warehouses"] == 5
    assert None not in [value for level in made["tpcc"]["levels"] for value in level.values()]


def test_a_verdict_of_an_earlier_version_is_shown_in_full(whole: Report) -> None:
    found = whole.judged
    head = found.findings[0].model_copy(update={"verdict": None})
    findings = [head, *found.findings[1:]]
    printed = summary(found.bundle, found.estimates, findings)
    assert any(line.startswith("Verdict       Valid. Bottleneck: CPU") for line in printed)
    page = run_report(found.bundle, found.estimates, findings, definitions())
    assert head.message in page
    assert head.message not in whole.html
    assert head.message.removeprefix("Valid. ") in whole.html


def test_missing_parts_are_null(tmp_path: Path) -> None:
    found = judged(only_io(tmp_path).write())
    made = document(found.bundle, found.estimates, found.findings)
    assert made["tpch"] is None
    assert made["tpcc"] is None
    cut = judged(interrupted(tmp_path).write("interrupted"))
    made = document(cut.bundle, cut.estimates, cut.findings)
    assert made["valid"] is False
    assert made["tpch"]["answers_match"] is None
    assert list(made["tpch"]["engines"]) == ["postgresql"]
    assert made["tpcc"]["consistency"] is None
    assert made["reasons"][0]["code"] == "incomplete"


def test_wrong_answers_and_broken_conditions_show(tmp_path: Path) -> None:
    found = judged(quickstart(tmp_path).answers(wrong="q15").consistency(broken=3).write())
    made = document(found.bundle, found.estimates, found.findings)
    assert made["tpch"]["answers_match"] is False
    assert made["tpcc"]["consistency"] is False
    assert {reason["code"] for reason in made["reasons"]} == {"wrong-answers", "inconsistent"}
