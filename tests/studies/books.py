"""Books of studies that nobody ran: planted values with noise."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from dyno.studies.analysis import said
from dyno.studies.model import Study, Value, Variant
from dyno.studies.outcome import Outcome
from dyno.studies.schedule import schedule
from dyno.studies.store import Entry

Draw = Callable[[np.random.Generator], float]


def outcome(asked: Study, entries: Sequence[Entry], **dropped: str) -> Outcome:
    """What runs of a study say, of which some variants were dropped."""
    return said(asked, entries, dropped)


def study(pairs: int = 5, variants: int = 2, **more: object) -> Study:
    """Of variants v0, v1 …, which do the same."""
    made = (
        Variant(name=f"v{number}", workload="tpcc", target="null:") for number in range(variants)
    )
    return _study(pairs, tuple(made), more)


def factorial(factors: dict[str, Sequence[Value]], pairs: int = 5, **more: object) -> Study:
    """Of every combination of levels."""
    made = tuple(
        Variant(
            name=" ".join(map(str, levels)), workload="tpcc", target="null:",
            levels=dict(zip(factors, levels, strict=True)),
        )
        for levels in itertools.product(*factors.values())
    )  # fmt: skip
    return _study(pairs, made, {"factors": tuple(factors), **more})


def _study(pairs: int, variants: tuple[Variant, ...], more: dict[str, object]) -> Study:
    given = {"headline": ("tps",), "exploratory": ("query_s",), **more}
    return Study.model_validate({"name": "s", "variants": variants, "pairs": pairs, **given})


def run(place: int, pair: int, variant: str, values: dict[str, float], **more: object) -> Entry:
    """A valid run that took from 10 s x place to 8 s later."""
    known = {
        "attempt": 1, "bundle": "b", "code": 0, "valid": True, "started": 10.0 * place,
        "ended": 10.0 * place + 8,
    }  # fmt: skip
    return Entry.model_validate(
        {"place": place, "pair": pair, "variant": variant, "figures": values, **known, **more}
    )


def runs(
    asked: Study,
    rng: np.random.Generator,
    value: Callable[[Variant], float],
    noise: Draw,
    metric: str = "tps",
    drift: float = 0.0,
    first: Draw | None = None,
) -> list[Entry]:
    """All of its runs, with noise on the logarithm of a value and a drift from run to run.

    The first variant has noise of its own where ``first`` is given.
    """
    slots = schedule([one.name for one in asked.variants], asked.pairs, int(rng.integers(1 << 30)))
    own = dict.fromkeys((one.name for one in asked.variants), noise)
    own[asked.variants[0].name] = first or noise
    return [
        run(slot.place, slot.pair, slot.variant, {
            metric: value(asked.variant(slot.variant)) * np.exp(own[slot.variant](rng))
            * (1 + drift) ** slot.place,
        })
        for slot in slots
    ]  # fmt: skip
