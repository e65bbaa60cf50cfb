"""Selects, validates and reports the layout of a load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dyno import targets
from dyno.bundle.model import has_detail
from dyno.bundle.phases.index import IndexDetail
from dyno.bundle.phases.load import LoadDetail, Step
from dyno.contracts.databases import home_of
from dyno.contracts.layout import Layout
from dyno.contracts.target import Designed, Loaded, Target, TargetUrl
from dyno.layouts import volumes
from dyno.layouts.resolve import resolve
from dyno.plans.loading import LoadingPlan
from dyno.report.kit.formats import decimal_bytes, rounded, seconds
from dyno.runner import spread as places

if TYPE_CHECKING:
    from dyno.runner.session import Session


@dataclass(frozen=True)
class Chosen:
    """A layout that passed all checks that do not need a running target.

    Attributes:
        share_here: Share of the data in the default location of the target.
    """

    layout: Layout
    share_here: float = 1.0

    @property
    def wanted(self) -> Layout | None:
        """The layout; None for the default layout of the target."""
        return None if self.layout.plain else self.layout

    def before_start(self, target: Target) -> None:
        """Passes the prerequisites of the layout to a target before it starts."""
        if isinstance(target, Designed):
            target.before_start(self.layout)

    def announce(self, session: Session) -> None:
        """Records and reports problems with the layout."""
        for note in self.layout.notes:
            session.events.warn(f"! {note}")
            session.recorder.event("layout-warning", message=note)

    def report(self, session: Session) -> None:
        """Prints the cost of the load steps, one line per kind."""
        phases = session.recorder.run.phases
        # Of several loads with different stream counts, only the last remains.
        last = {
            (phase.detail.database or 1, phase.kind): phase.detail.space
            for phase in phases
            if has_detail(phase, LoadDetail) or has_detail(phase, IndexDetail)
            # The few rows that a workload adds to the tables of another one do not count.
            if phase.detail.workload in {None, home_of(phase.detail.workload or "")}
        }
        numbers = dict.fromkeys(number for number, _ in last)
        for number in numbers:
            own = [space for (which, _), space in last.items() if which == number]
            steps = [step for space in own for step in space]
            of = "step" if len(numbers) == 1 else f"database {number}"
            session.events.say(f"  {of:14}{'time':>12}{'GB/h':>9}{'peak space':>14}{'final':>12}")
            for line in by_kind(steps):
                session.events.say(line)


def chosen_layout(
    text: str, url: TargetUrl, workload: str, scale: float, asked: LoadingPlan
) -> Chosen:
    """Returns the layout of ``--layout``, validated against the workload, target and volumes.

    Raises:
        UsageError: If it is invalid or the target does not support it.
        TargetError: If one of its volumes cannot be used.
    """
    days = asked.days
    plain = resolve(text, workload, scale, asked.index, days)
    spread = places.over(asked, plain, url, scale, days)
    layout = places.on_flash(asked, spread, url)
    if targets.require_layout(url, layout).elsewhere:
        return Chosen(layout)
    # Dyno creates its own folders with the engine. They use the same disk space.
    checked = plain if asked.beside else spread
    checked = checked if asked.flash is None else places.on_flash(asked, checked, url)
    needed = volumes.needs(checked, scale, days, targets.extends(url.name))
    notes = volumes.check(checked, needed, asked.out)
    layout = layout.model_copy(update={"notes": (*notes, *places.notes(asked))})
    return Chosen(layout, volumes.share_here(checked, scale, days))


def unfinished_layout(session: Session, target: Target, names: Sequence[str]) -> Layout | None:
    """Returns the layout of the incomplete load and notes it in the plan; None for the default.

    With several databases, the first database with a recorded layout counts.
    """
    states = (target.loaded(name) for name in names)
    # Tables created just before a kill have no recorded purpose yet.
    found = next((one for one in states if one is not None and one.scale), None)
    if found is None or not found.layout:
        return None
    note_layout(session, target, found)
    return Layout.model_validate_json(found.layout)


def note_layout(session: Session, target: Target, found: Loaded) -> None:
    """Writes the layout of the loaded data to the plan of a run."""
    if found.layout:
        layout = Layout.model_validate_json(found.layout)
        changed = target.deviations(layout) if isinstance(target, Designed) else []
        for line in changed:
            session.events.warn(f"! {line} Reload with --replace to restore the layout.")
        layout = layout.model_copy(update={"notes": (*layout.notes, *changed)})
        recorded = layout.model_dump(mode="json", exclude_defaults=True)
    else:
        recorded = {"name": "default"}
    recorder = session.recorder
    recorder.update(plan={**recorder.run.plan, "layout": recorded})


def by_kind(steps: Sequence[Step]) -> list[str]:
    """Formats one line per kind of step: time, speed, peak extra space and remaining space."""
    lines: list[str] = []
    for kind in dict.fromkeys(step.kind for step in steps):
        own = [step for step in steps if step.kind == kind]
        moved = sum(step.moved_bytes or 0 for step in own)
        took = sum((step.seconds or 0.0) for step in own)
        speed = moved / took * 3600 / 1e9 if moved and took > 0 else None
        peaks = [step.extra_peak_bytes for step in own if step.extra_peak_bytes is not None]
        rests = [step.extra_rest_bytes for step in own if step.extra_rest_bytes is not None]
        peak = decimal_bytes(max(peaks) if peaks else None)
        rest = decimal_bytes(sum(rests) if rests else None)
        label = kind if len(own) == 1 else f"{len(own)} {kind}"
        lines.append(f"  {label:14}{seconds(took):>12}{rounded(speed):>9}{peak:>14}{rest:>12}")
    return lines
