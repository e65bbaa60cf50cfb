"""Server unseen: samples of the server's machine are missing in a phase."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle import metrics
from dyno.bundle.model import Phase, has_detail
from dyno.bundle.phases.certify import CertifyDetail
from dyno.bundle.phases.dss import DssDetail
from dyno.bundle.phases.oltp import OltpDetail
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight
from dyno.decide.view import machine_of, resources_of

LEAST_SHARE = 0.9


def _check(case: Case) -> Iterable[Ruling]:
    for phase in case.phases():
        machine = machine_of(case, phase.target)
        if not machine or phase.status != "done" or phase.part_of is not None:
            continue
        seconds = _seconds(case, phase)
        key = resources_of(case, phase).samples
        count = case.value(key) or 0.0
        if count < LEAST_SHARE * seconds - 1:
            yield Ruling(
                "warning",
                f"{phase.title}: only {count:.0f} of {seconds:.0f} samples of {machine}: its agent "
                "or exporter did not answer (see events.jsonl). Means cover the rest.",
                phase.name,
                (key.name,),
            )


def _seconds(case: Case, phase: Phase) -> float:
    """Length of the time in which samples of a phase are counted (``dyno.analyse.resources``)."""
    if has_detail(phase, OltpDetail):
        return case.value(metrics.Level(phase.detail.level).seconds) or 0.0
    if has_detail(phase, CertifyDetail) or has_detail(phase, DssDetail):
        window = phase.detail.window
        if window is not None:
            return (window[1] - window[0]) / 1e9
    if phase.kind == "dss" and phase.end_ns is not None:  # a warm-up goes before the first query
        rows = case.bundle.table("queries").select(["target", "t_ns"]).to_pylist()
        begun = [row["t_ns"] for row in rows if row["target"] == phase.target]
        within = [one for one in begun if phase.start_ns <= one <= phase.end_ns]
        return (phase.end_ns - min(within, default=phase.start_ns)) / 1e9
    return phase.seconds


RULE = Rule(
    code="server-unseen",
    weight=Weight.DOUBTFUL,
    definition=(
        f"Fewer than {LEAST_SHARE:.0%} of the one-second samples of a server's machine that an "
        "agent or exporter should have given in a measured phase. Always a warning."
    ),
    explanation="A limit of the server may have gone unnoticed in the time without samples.",
    check=_check,
)
