"""Passes of streams: each query as often as its weight says."""

from __future__ import annotations

import pytest

from dyno.analyse.passes import means, pass_of, weights
from dyno.bundle import statements


def test_a_pass_has_each_query_as_often_as_its_weight() -> None:
    usual = means([("quick", 0.05), ("quick", 0.15), ("slow", 10.0)])
    assert usual == pytest.approx({"quick": 0.1, "slow": 10.0})
    count, seconds = pass_of(usual, {"quick": 9})
    assert (count, seconds) == (10, pytest.approx(10.9))
    assert pass_of({"slow": 2.0}, {}) == (1, 2.0)


def test_the_weights_of_a_file_are_in_its_bundle() -> None:
    plan = {
        statements.KEY: {
            "file": "a.toml", "sha256": "0", "text": "", "title": "A", "kind": "dss",
            "queries": {"quick": "Quick", "slow": "Slow"}, "weights": {"quick": 9},
        }
    }  # fmt: skip
    statements.remember(("own_weighed",), plan)
    assert weights("own_weighed") == {"quick": 9, "slow": 1}
