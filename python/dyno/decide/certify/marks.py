"""What restricts the use of a certificate, each with its reason."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle.model import Finding, Validity
from dyno.certificates.figures import FormFigures

LEAST_INTERVAL_S = 300.0
"""A shorter measurement interval is marked."""
DATA_OVER_MEMORY = 4.0
"""Stored data below this multiple of the memory that could cache it is marked: in memory."""
FEWEST_QUERIES = 20
"""Fewer completed queries in the combined interval are marked: one more or less is over 5 %."""

UNVERIFIED = "unverified-answers"


def marks(
    forms: Iterable[FormFigures],
    validity: Validity,
    findings: Iterable[Finding],
    *,
    quick: bool,
    reference_scale: float | None = None,
) -> dict[str, str]:
    """The marks by name, the gravest first."""
    found: dict[str, str] = {}
    tests = list(forms)
    if validity.verdict != "valid":
        codes = ", ".join(dict.fromkeys(reason.code for reason in validity.reasons))
        found[validity.verdict or "not judged"] = codes or "the run has no verdict"
    shortest = min((one.combined.seconds for one in tests), default=0.0)
    if quick:
        found["quick"] = f"intervals of {shortest:g} s instead of {LEAST_INTERVAL_S:g} s"
    elif shortest < LEAST_INTERVAL_S:
        found["short"] = f"intervals of {shortest:g} s instead of {LEAST_INTERVAL_S:g} s"
    cached = [one for one in tests if one.in_memory]
    if cached:
        which = " and ".join(dict.fromkeys(one.form for one in cached))
        found["in memory"] = (
            f"{which}: the data is less than {DATA_OVER_MEMORY:g} times the memory that caches it"
        )
    unknown = [one.form for one in tests if one.memory_tb is None or one.stored_tb is None]
    if unknown:
        found["cache unknown"] = (
            f"{' and '.join(dict.fromkeys(unknown))}: size of the data or memory not readable"
        )
    if any(one.combined.completed < FEWEST_QUERIES for one in tests):
        fewest = min(one.combined.completed for one in tests)
        found["few queries"] = f"{fewest} in the combined interval; {FEWEST_QUERIES} are wanted"
    if reference_scale is not None and any(one.scale != reference_scale for one in tests):
        found["other scale"] = f"the reference was measured at scale {reference_scale:g}"
    if any(item.code == UNVERIFIED for item in findings):
        found["answers not verified"] = "no expected answers exist for this scale"
    return found
