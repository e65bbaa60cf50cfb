"""Adjusted p values: as statsmodels has them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from dyno.statistics.multiple import Family, adjusted


@pytest.mark.long
@settings(max_examples=20, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_they_are_those_of_statsmodels(values: list[float]) -> None:
    families: list[tuple[Family, str]] = [("headline", "holm"), ("exploratory", "fdr_bh")]
    for family, method in families:
        found = adjusted({str(place): p for place, p in enumerate(values)}, family)
        wanted = multipletests(values, method=method)[1]
        assert list(found.values()) == pytest.approx(list(wanted), abs=1e-12)
    assert adjusted({}, "headline") == {}
