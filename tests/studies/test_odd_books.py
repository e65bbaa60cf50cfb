"""Books that are odd: whatever is in them, something true is said, and it can be written down."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from dyno.studies.analysis import tight
from dyno.studies.model import Study
from dyno.studies.store import Entry
from tests.studies.books import factorial, outcome, run, study

VALUES = st.dictionaries(
    st.sampled_from(["tps", "total_s", "query_s.q01", "query_s.q02", "nonsense", "p95_ms.payment"]),
    st.one_of(
        st.floats(0.5, 2000),
        st.sampled_from([0.0, -1.0, 1.0, 1e-300, 1e300, math.inf, math.nan]),
    ),
    max_size=4,
)  # fmt: skip
PHASES = [Phase.explicit, Phase.reuse, Phase.generate]
"""Books are large: to shrink one that fails takes minutes."""

STUDIES = st.one_of(
    st.builds(study, st.integers(1, 9), st.integers(2, 3)),
    st.just(factorial({"run.users": [1, 2, 4, 8]}, exploratory=("query_s", "p95_ms"))),
    st.just(factorial({"run.users": [1, 2, 4], "settings.memory": ["1GB", 2]})),
    st.just(factorial({"scale": [0.5, "all", True], "run.mode": [0, -1]})),
)


@st.composite
def books(draw: st.DrawFn) -> tuple[Study, list[Entry]]:
    asked = draw(STUDIES)
    names = [*(one.name for one in asked.variants), "gone"]
    made: list[Entry] = []
    for place in range(draw(st.integers(0, 40))):
        made.append(
            run(
                place if draw(st.booleans()) else place // 2,
                draw(st.integers(0, 8)),
                draw(st.sampled_from(names)),
                draw(VALUES),
                verdict=draw(st.sampled_from(["valid", "valid", "disturbed", "invalid"])),
                code=draw(st.sampled_from([0, 0, 1, 3])),
                codes=draw(st.sampled_from([(), ("wrong-answers",)])),
            )
        )
    return asked, made


@settings(deadline=None, phases=PHASES, max_examples=100, suppress_health_check=list(HealthCheck))
@given(books())
def test_whatever_is_in_a_book(book: tuple[Study, list[Entry]]) -> None:
    asked, made = book
    found = outcome(asked, made)
    json.dumps(found.model_dump(mode="json"), allow_nan=False)
    tight(asked, made)
    for one in found.comparisons:
        assert one.pairs >= 2 or one.note
        assert one.p is None or 0 <= one.p <= 1
        if one.percent is not None and one.low is not None and one.high is not None:
            assert one.low <= one.percent <= one.high
    for effect in found.effects:
        assert 0 <= effect.p <= 1
        assert all(term.low <= term.percent <= term.high for term in effect.terms)
    for fit in found.fits:
        assert fit.exponent.low <= fit.exponent.value <= fit.exponent.high
        assert all(one.low <= one.value <= one.high for one in fit.usl.values())


@pytest.mark.long
@settings(deadline=None, phases=PHASES, max_examples=6, suppress_health_check=list(HealthCheck))
@given(
    st.integers(2, 4),
    st.data(),
)
def test_whatever_whole_blocks_are_of(pairs: int, data: st.DataObject) -> None:
    """Enough runs that everything is fitted, of values that make no sense."""
    asked = factorial({"run.users": [1, 2, 4, 8], "settings.memory": ["1GB", "4GB"]}, pairs)
    value = st.one_of(st.floats(1e-6, 1e6), st.sampled_from([1.0, 1e-250, 1e250]))
    made = [
        run(pair * 8 + place, pair, one.name, {"tps": data.draw(value)})
        for pair in range(pairs)
        for place, one in enumerate(asked.variants)
    ]
    found = outcome(asked, made)
    json.dumps(found.model_dump(mode="json"), allow_nan=False)
    assert found.effects or found.notes
    assert found.fits or found.notes
