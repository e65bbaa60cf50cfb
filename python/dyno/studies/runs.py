"""One run of a study: a child process, and the journal entry from its bundle."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dyno.bundle.model import Estimate, Run
from dyno.bundle.reader import Bundle, list_bundles
from dyno.errors import DynoError
from dyno.runtime.seeds import derived
from dyno.safety.redaction import redact
from dyno.studies import asked, child, criteria, moments
from dyno.studies.datasets import alone
from dyno.studies.metrics import owner
from dyno.studies.model import Study, Variant
from dyno.studies.schedule import Slot
from dyno.studies.store import Begun, Entry, StudyStore


def make(book: StudyStore, slot: Slot, attempt: int, variant: Variant, out: Path) -> Entry:
    """Executes a run on the data in ``out``.

    The journal records the run before it starts, so that ``adopted`` can recognize it.

    Raises:
        Interrupted: If the user stops it.
        TargetError: If another Dyno uses the folder and does not end.
    """
    study = book.study
    alone(out)
    seed = derived(study.seed, "study", slot.pair, "pair")
    plan = asked.run(variant, study.reset, seed, out)
    begun = Begun(
        **slot.model_dump(),
        attempt=attempt,
        started=moments.now(),
        out=out.name,
        words=tuple(plan.words()),
    )
    book.begin_run(begun)
    ended = child.dyno(plan)
    found = _nothing(None)
    path = ended.document.get("bundle")
    if isinstance(path, str):
        found = _read(book, Path(path))
    if not ended.usable:
        found |= {"verdict": "invalid", "reasons": (ended.words,)}
    return _entry(study, begun, ended.code, moments.now(), found)


def adopted(book: StudyStore) -> Entry | None:
    """Returns a run that completed just before the study was killed, not yet in the journal.

    Its bundle has the command line of the recorded run, started after it, belongs to no journal
    entry, and is complete with a verdict. Runs that failed or were stopped are repeated.

    Raises:
        TargetError: If the process of the run does not end.
        UsageError: If the journal is damaged.
    """
    begun = book.begun_run()
    if begun is None:
        return None
    out = book.folder / begun.out
    alone(out)
    known = {entry.bundle for entry in book.entries()}
    command = shlex.join(["dyno", *map(redact, begun.words)])
    for bundle in list_bundles(out):
        run = bundle.run
        if (
            run.plan.get("command") == command
            and run.clock.unix_ns >= begun.started * 1e9
            and run.status == "done"
            and run.validity.valid is not None
            and f"{begun.out}/{run.run}" not in known
        ):
            found = _read(book, bundle.path)
            code = 0 if run.validity.valid and not found["broken"] else 1
            # Uses the run's own clock: the wall clock may have been set since the study started.
            ends = [phase.end_ns or 0 for phase in run.phases]
            lasted = max(ends, default=run.clock.unix_ns) - run.clock.unix_ns
            return _entry(book.study, begun, code, begun.started + lasted / 1e9, found)
    return None


def _entry(study: Study, begun: Begun, code: int, ended: float, found: dict[str, Any]) -> Entry:
    values: Mapping[str, float] = found["figures"]
    counts = found["verdict"] != "invalid"
    if counts and not any(name.partition(".")[0] in study.headline for name in values):
        counts, reasons = False, ("the run has none of the headline metrics",)
        found |= {"verdict": "invalid", "reasons": reasons}
    if counts:
        kinds = {one.workload for one in study.variants}
        beyond = criteria.broken(study.criteria, kinds, values)
        found["broken"] = (*found["broken"], *beyond)
    return Entry(
        place=begun.place,
        attempt=begun.attempt,
        variant=begun.variant,
        pair=begun.pair,
        code=code,
        started=begun.started,
        ended=ended,
        **found,
    )


def _of_server(run: Run, estimates: list[Estimate]) -> list[Estimate]:
    """Without those of machines beside the target's; its machine comes last, and so counts."""
    own = {facts.machine for facts in run.targets.values()}

    def machine(one: Estimate) -> str:
        start, _, rest = one.name.partition(".")
        phase = rest.partition(".")[0].partition("/")[0]
        found = (name for name in run.machines if phase.endswith(f"@{name}"))
        return next(found, "") if start == "resource" else ""

    kept = [one for one in estimates if machine(one) in {"", *own}]
    return sorted(kept, key=lambda one: bool(machine(one)))


def _nothing(bundle: str | None, *reasons: str) -> dict[str, Any]:
    return {"bundle": bundle, "verdict": "invalid", "figures": {}, "broken": (), "reasons": reasons}


def _read(book: StudyStore, path: Path) -> dict[str, Any]:
    """The fields of a run's entry that come from its bundle."""
    study = book.study
    name = str(path.relative_to(book.folder))
    try:
        bundle = Bundle.open(path)
        estimates, findings = _of_server(bundle.run, bundle.estimates()), bundle.findings()
    except DynoError as error:
        return _nothing(name, str(error))
    values: dict[str, float] = {}
    for metric in (*study.headline, *study.exploratory):
        values |= owner(metric).of(estimates)
    results = [one.result for one in findings if one.result is not None]
    validity = bundle.run.validity
    return {
        "bundle": name,
        "verdict": validity.verdict or "valid",
        # The journal is JSON, which cannot represent NaN.
        "figures": {name: value for name, value in values.items() if math.isfinite(value)},
        "reasons": tuple(one.message for one in validity.reasons),
        "codes": tuple(one.code for one in validity.reasons),
        "broken": tuple(
            f"{one.criterion} failed" for one in results if one.passed is False and one.binding
        ),
    }
