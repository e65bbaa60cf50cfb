"""The order of runs: balanced, and the same for the same seed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dyno.studies.schedule import schedule


@given(st.integers(2, 6), st.integers(1, 12), st.integers(0, 1000))
def test_every_pair_has_every_variant_once(variants: int, pairs: int, seed: int) -> None:
    names = [f"v{number}" for number in range(variants)]
    slots = schedule(names, pairs, seed)
    assert [slot.place for slot in slots] == list(range(variants * pairs))
    for pair in range(pairs):
        own = [slot.variant for slot in slots if slot.pair == pair]
        assert sorted(own) == sorted(names)
        if pair % 2:
            assert own == [slot.variant for slot in slots if slot.pair == pair - 1][::-1]
    assert slots == schedule(names, pairs, seed)


@given(st.integers(2, 5), st.integers(1, 6))
def test_an_even_drift_meets_all_alike(variants: int, blocks: int) -> None:
    names = [f"v{number}" for number in range(variants)]
    slots = schedule(names, 2 * blocks, 1)
    middles = {name: sum(slot.place for slot in slots if slot.variant == name) for name in names}
    assert len(set(middles.values())) == 1
