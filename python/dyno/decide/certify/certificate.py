"""Computes the content of a certificate from a bundle alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from pydantic import ValidationError

from dyno.bundle import metrics
from dyno.bundle.model import Estimate, Finding, Run, Validity
from dyno.certificates.bom import Bom
from dyno.certificates.content import Certificate
from dyno.certificates.figures import Figures, FormFigures
from dyno.certificates.reference import Reference
from dyno.config.strict import Strict
from dyno.decide.certify.capacity import FREE_SHARE, TEMP_SHARE, maximum, rated, whole
from dyno.decide.certify.configuration import configuration, usable_bytes
from dyno.decide.certify.cost import costs
from dyno.decide.certify.forms import TB, forms
from dyno.decide.certify.marks import marks
from dyno.decide.certify.rates import relative
from dyno.errors import UsageError
from dyno.safety.plainjson import finite

ASSUMED_COMPRESSION = 5.0
"""The ratio that Fast Track assumes, for a target that does not report the size of its tables."""

M = TypeVar("M", bound=Strict)


def certificate(
    run: Run,
    estimates: Iterable[Estimate],
    validity: Validity,
    findings: Iterable[Finding],
    date: str,
    members: dict[str, str],
) -> Certificate:
    """Computes the certificate of a run of ``dyno certify``.

    Raises:
        UsageError: If the run has no complete test, or its plan is damaged.
    """
    tests = forms(run, metrics.Estimates(estimates))
    if not tests:
        raise UsageError(f"The run {run.run} has no complete test of a certificate.")
    reference, bill = _read(Reference, run, "reference"), _read(Bom, run, "bom")
    found = configuration(run)
    space = usable_bytes(found.volumes)
    plan = run.plan
    figures = _figures(
        tests,
        None if space is None else space / TB,
        reference,
        marks(
            tests,
            validity,
            findings,
            quick=plan.get("quick") is True,
            reference_scale=None if reference is None else reference.scale,
        ),
    )
    tps, source = _tps(run)
    units: dict[str, float | None] = {"TPS": tps}
    units |= {f"Q/h/TB ({one.form})": one.combined.queries_per_h_per_tb for one in tests}
    units |= {"TB rated": figures.rated_tb, "TB": figures.maximum_tb}
    priced = {} if bill is None else {
        "price": bill.price, "watts": bill.watts, "costs": costs(bill, units),
    }  # fmt: skip
    number = plan.get("number")
    return Certificate(
        number=number if isinstance(number, str) and number else f"DYNO-{run.run}",
        date=date,
        run=run.run,
        dyno=run.dyno,
        verdict=validity.verdict,
        figures=figures.model_copy(update={"tps": tps, "tps_run": source, **priced}),
        configuration=found,
        reference=reference,
        bill=bill,
        notices=run.notices,
        members=members,
    )


def _figures(
    tests: list[FormFigures],
    usable_tb: float | None,
    reference: Reference | None,
    marked: dict[str, str],
) -> Figures:
    """The figures of all forms, with their capacities.

    The configuration holds what its worst compression allows.
    """
    unmeasured = [f"{one.target} ({one.form})" for one in tests if not one.compression]
    ratio = min(
        (one.compression or ASSUMED_COMPRESSION for one in tests), default=ASSUMED_COMPRESSION
    )
    assumptions = [
        f"{100 * TEMP_SHARE:g} % of the space is for temporary data",
        f"{100 * FREE_SHARE:g} % stays free",
    ]
    if unmeasured or not tests:
        of = "" if len(unmeasured) == len(tests) else f" of {', '.join(unmeasured)}"
        assumptions.append(f"a compression of {ASSUMED_COMPRESSION:g}:1{of}, not measured")
    full = [_with(one, usable_tb, reference) for one in tests]
    most = None if usable_tb is None else maximum(usable_tb, TEMP_SHARE, FREE_SHARE, ratio)
    shares = [one.relative_percent for one in full if one.relative_percent is not None]
    scaled = None
    if reference is not None and most is not None and len(shares) == len(full):
        scaled = rated(reference.user_data_tb, shares, most)
    return Figures(
        forms=tuple(full),
        marks=marked,
        usable_tb=usable_tb,
        temp_share=TEMP_SHARE,
        free_share=FREE_SHARE,
        assumptions=tuple(assumptions),
        maximum_tb=None if most is None else whole(most),
        rated_tb=scaled,
    )


def _with(one: FormFigures, usable_tb: float | None, reference: Reference | None) -> FormFigures:
    """A form with its capacity and its throughput relative to the reference."""
    base = None if reference is None else reference.of(one.form)
    found = one.combined.queries_per_h_per_tb
    ratio = one.compression or ASSUMED_COMPRESSION
    most = None if usable_tb is None else maximum(usable_tb, TEMP_SHARE, FREE_SHARE, ratio)
    return one.model_copy(
        update={
            "relative_percent": None if base is None or found is None else relative(found, base),
            "maximum_tb": None if most is None else whole(most),
        }
    )


def _tps(run: Run) -> tuple[float | None, str]:
    given: Any = run.plan.get("tps")
    if not isinstance(given, dict):
        return None, ""
    value, source = finite(given.get("tps")), given.get("run")
    return (value, str(source)) if value is not None and value > 0 else (None, "")


def _read(model: type[M], run: Run, name: str) -> M | None:
    given = run.plan.get(name)
    if given is None:
        return None
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise UsageError(f"The {name} in the plan of {run.run} is damaged.") from error
