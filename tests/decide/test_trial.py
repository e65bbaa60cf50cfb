"""When a window of a search breaks every limit, whatever the limits are."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from dyno import analyse
from dyno.bundle import metrics
from dyno.bundle.model import CriterionResult
from dyno.criteria import metrics as known
from dyno.criteria import parse
from dyno.decide.case import Case
from dyno.decide.criteria import criteria
from dyno.decide.trial import Judged, failing, in_each, trial
from tests.bundles import Builder


def case(**values: float) -> Case:
    return cast("Case", SimpleNamespace(value=lambda key: values.get(key.last)))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"error_percent": 0.9, "transactions": 99}, ""),
        ({"error_percent": 1.1}, "1.1 % of the transactions failed"),
        ({"scheduled": 1000, "transactions": 985, "errors": 0}, ""),
        ({"scheduled": 1000, "transactions": 980, "errors": 5}, ""),
        ({"scheduled": 1000, "transactions": 970}, "97.0 % of the rate sustained"),
        ({"scheduled": 1000, "transactions": 1000, "unsent": 30}, "97.0 % of the rate sustained"),
    ],
)
def test_what_fails_or_is_not_carried_is_no_load(values: dict[str, Any], words: str) -> None:
    assert failing(case(**values), metrics.Level("x")) == words
    judged = Judged((), "", "", strict=False, failing=words)
    assert not judged.passed
    assert judged.words() == words


def result(passed: bool | None, *, idle: bool = False) -> CriterionResult:
    return CriterionResult(
        criterion="data_read mean < 20 ms", source="asked for", level="x", passed=passed,
        idle=idle, value=None if passed is None else 5.0, reason="no reads reached vda",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("results", "strict", "usual"),
    [
        ([result(True)], True, True),
        ([result(True), result(None, idle=True)], True, True),
        ([result(False), result(None, idle=True)], False, False),
        # The user's own limit is kept where nothing is beyond it; of the usual ones one must speak.
        ([result(None, idle=True)], True, False),
        ([result(True), result(None)], False, True),
        ([result(None)], False, False),
    ],
)
def test_a_limit_on_what_did_not_happen_counts_neither_way(
    results: list[CriterionResult], strict: bool, usual: bool
) -> None:
    assert Judged(tuple(results), "", "", strict=True).passed is strict
    assert Judged(tuple(results), "", "", strict=False).passed is usual


def test_a_limit_that_was_not_judged_is_shown() -> None:
    judged = Judged((result(None, idle=True),), "", "", strict=True)
    assert judged.words() == "data_read mean < 20 ms not evaluated: no reads reached vda"
    assert not judged.unjudged


@pytest.mark.parametrize(
    ("kept", "unsteady", "doubtful", "inconclusive"),
    [
        (True, "", "", False),
        (True, "it fell", "", True),
        (True, "", "1.4 s late", True),
        # It breaks a limit, so that nobody accepts it.
        (False, "", "1.4 s late", False),
    ],
)
def test_a_window_that_would_make_the_run_invalid_is_repeated(
    kept: bool, unsteady: str, doubtful: str, inconclusive: bool
) -> None:
    judged = Judged((result(kept),), unsteady, "", strict=True, doubtful=doubtful)
    assert (judged.kept, judged.inconclusive) == (kept, inconclusive)
    assert judged.passed is (kept and not doubtful)


@pytest.mark.parametrize(("behind_ms", "late"), [(900.0, False), (1400.0, True)])
def test_a_window_behind_its_own_schedule(tmp_path: Path, behind_ms: float, late: bool) -> None:
    judged = judged_of(tmp_path, {"behind_ms": behind_ms})
    assert (judged.kept, bool(judged.doubtful), judged.inconclusive) == (True, late, late)


def test_a_window_that_lost_too_many_orders_fails(tmp_path: Path) -> None:
    assert judged_of(tmp_path, {"lost": 0}).passed
    assert not judged_of(tmp_path, {"lost": 9_000}).kept


def judged_of(tmp_path: Path, outcome: dict[str, Any]) -> Judged:
    """The verdict on a level whose driver reported this."""
    builder = (
        Builder(tmp_path / f"run-{sum(outcome.values()):g}").machine().oltp(4, outcome=outcome)
    )
    limit = "new_order p90 < 30 s"
    builder.plan = {"slo": [{"text": limit, "source": "asked for"}]}
    bundle = builder.write()
    limits = [parse(limit, known(("new_order",)))]
    case = Case.of(bundle, analyse.of_level(bundle, "users-4"))
    return trial(case, "users-4", limits, strict=True)


def test_a_database_that_breaks_a_limit_does_not_hide_in_the_sum(tmp_path: Path) -> None:
    times = (metrics.Level(one).operation("new_order") for one in ("users-8", "users-8-db-2"))
    estimates = metrics.Estimates(analyse.estimate(two_databases(tmp_path / "a").write()))
    fast, slow = (estimates.value(one.response("p90")) for one in times)
    assert fast is not None
    assert slow is not None
    limit = f"new_order p90 < {(fast + slow) / 2:.3f} ms"
    builder = two_databases(tmp_path / "b")
    builder.plan = {"slo": [{"text": limit, "source": "asked for"}]}
    bundle = builder.write()
    limits = [parse(limit, known(("new_order",)))]
    cases = {level: Case.of(bundle, analyse.of_level(bundle, level)) for level in bundle.levels()}
    whole = trial(cases["users-8"], "users-8", limits, strict=True)
    assert whole.passed
    parts = [(cases[f"users-8-db-{number}"], f"users-8-db-{number}") for number in (1, 2)]
    assert in_each(whole, parts[:1], limits).passed
    found = in_each(whole, parts, limits)
    assert not found.passed
    assert [one.level for one in found.results if not one.passed] == ["users-8-db-2"]
    # The report judges the same.
    whole_case = Case.of(bundle, analyse.estimate(bundle))
    results = [one.result for one in criteria(whole_case) if one.result is not None]
    broken = [one for one in results if not one.passed]
    assert [one.level for one in broken] == ["users-8-db-2"]


def two_databases(path: Path) -> Builder:
    """The second one is slow, and the sum does not show it."""
    builder = Builder(path).machine().oltp(8, level="users-8")
    for users, number in ((8, 1), (128, 2)):
        builder.oltp(users, level=f"users-8-db-{number}", part_of="users-8")
    detail = {"counted": ["users-8"], "bounding": ["users-8"]}
    builder.phase("search-tpcc-postgresql", "Search", "search", 0.0, "postgresql",
                         detail=detail)  # fmt: skip
    return builder
