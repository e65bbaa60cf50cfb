"""Builds a valid study from its specification."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.config.units import parse_seconds
from dyno.errors import UsageError, nearest
from dyno.studies import beside, criteria, loads
from dyno.studies.form import StudySpec
from dyno.studies.membernames import resolved
from dyno.studies.metrics import METRICS, find, had_by
from dyno.studies.model import Reset, Study, Variant
from dyno.studies.variants import factorial, named, require_known

MOST_VARIANTS = 64
_LISTS = ("headline", "exploratory")


def build(name: str, source: str, what: str, spec: StudySpec) -> Study:
    """Builds the study from its specification.

    Raises:
        UsageError: If the specification is contradictory.
    """
    if bool(spec.variants) == bool(spec.factors):
        raise UsageError(f"{what}: define either [[variants]] or [factors].")
    spec = beside.rebased(spec, source)
    try:
        require_known(spec.base.workload)
        named_by = {key: resolved(getattr(spec, key), spec.base.workload) for key in _LISTS}
        spec = spec.model_copy(update=named_by)
        asked = (*spec.headline, *spec.exploratory)
        if unknown := next((name for name in asked if find(name) is None), None):
            known = had_by(spec.base.workload, spec.base.verb)
            raise UsageError(f"unknown metric '{unknown}'. {nearest(unknown, {*METRICS, *known})}")
        loads.require_metrics(asked, spec.base.verb)
        made = factorial(spec) if spec.factors else named(spec)
        loads.require(made, spec.reset)
        kinds = {variant.workload for variant in made}
        limits = [criteria.parse(text, kinds) for text in spec.criteria]
        seconds = None if spec.time_limit is None else parse_seconds(spec.time_limit)
    except UsageError as error:
        raise UsageError(f"{what}: {error}") from None
    # Limited metrics are also analysed.
    looked_at = dict.fromkeys([*spec.exploratory, *(one.metric for one in limits)])
    repeated = [one.name for place, one in enumerate(made) if one.name in
                {other.name for other in made[:place]}]  # fmt: skip
    if repeated:
        raise UsageError(f"{what}: two variants are named '{repeated[0]}'.")
    if not 2 <= len(made) <= MOST_VARIANTS:
        raise UsageError(f"{what}: it has {len(made)} variants; 2 to {MOST_VARIANTS} can be.")
    return Study(
        name=name,
        source=source,
        question=spec.question,
        design=spec.design,
        rule=spec.rule,
        misleads=spec.misleads,
        variants=tuple(made),
        factors=tuple(spec.factors),
        pairs=spec.pairs,
        margin=spec.margin,
        headline=tuple(spec.headline),
        exploratory=tuple(name for name in looked_at if name not in spec.headline),
        criteria=tuple(one.text for one in limits),
        reset=spec.reset or usual_reset(made),
        replace=spec.replace,
        time_limit_s=seconds,
        early_stop=spec.early_stop,
    )


def usual_reset(variants: Iterable[Variant]) -> Reset:
    """The default reset before each run.

    Dyno does not restart a server that it did not start, and storage needs no reset. Transactions
    grow the data, so each run would be slower than the one before: the data is restored to its
    state
    after the load. The same holds for variants with different data that alternate in one database.
    They reload it anyway; otherwise it would be random which run finds fresh data and which used
    data.
    """
    made = list(variants)
    if _in_turn(made):
        return "reload"
    if not all(one.workload != "io" and not one.on_server for one in made):
        return "nothing"
    changing = any(one.kind == "oltp" and one.verb == "run" for one in made)
    keeps = all(one.embedded and one.scale is not None and one.verb == "run" for one in made)
    return "reload" if changing and keeps else "restart"


def _in_turn(variants: Iterable[Variant]) -> bool:
    """Whether all are transactions on different data in one external database."""
    made = list(variants)
    fit = all(
        one.kind == "oltp" and one.verb == "run" and one.scale is not None and not one.embedded
        for one in made
    )
    return fit and len({one.data for one in made}) > len({one.target for one in made})
