"""When a window of a search breaks every limit, whatever the limits are."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from dyno.decide.case import Case
from dyno.decide.trial import Judged, failing


def case(**figures: float) -> Case:
    known = {f"oltp.x.{name}": value for name, value in figures.items()}
    return cast("Case", SimpleNamespace(value=known.get))


@pytest.mark.parametrize(
    ("figures", "words"),
    [
        ({"error_percent": 0.9, "transactions": 99}, ""),
        ({"error_percent": 1.1}, "1.1 % of the transactions failed"),
        ({"scheduled": 1000, "transactions": 985, "errors": 0}, ""),
        ({"scheduled": 1000, "transactions": 980, "errors": 5}, ""),
        ({"scheduled": 1000, "transactions": 970}, "97.0 % of the rate was carried"),
        ({"scheduled": 1000, "transactions": 1000, "unsent": 30}, "97.0 % of the rate was carried"),
    ],
)
def test_what_fails_or_is_not_carried_is_no_load(figures: dict[str, Any], words: str) -> None:
    assert failing(case(**figures), "oltp.x") == words
    judged = Judged((), "", "", strict=False, failing=words)
    assert not judged.passed
    assert judged.words() == words
