"""Searches for the maximum load within limits: run a window, judge it, choose the next load."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dyno import analyse
from dyno.bundle.phases.search import SearchDetail, Window
from dyno.bundle.reader import Bundle
from dyno.decide.case import Case
from dyno.decide.findmax import Step, Trial, found, next_step, unsteady
from dyno.decide.trial import Judged, in_each, trial
from dyno.errors import TargetError, UsageError
from dyno.runtime.seeds import in_series
from dyno.stages import drive

if TYPE_CHECKING:
    from dyno.contracts.target import Target
    from dyno.runner.findmax import Search
    from dyno.runner.session import Session
    from dyno.stages.drive import OltpPlan

_WORDS = {
    "grow": "try",
    "shrink": "reduce,",
    "narrow": "narrow,",
    "repeat": "repeat (inconclusive),",
    "confirm": "confirm",
}


def find_max(session: Session, target: Target, search: Search, plan: OltpPlan) -> None:
    """Runs the search and records it as a phase. Its windows are load levels.

    Raises:
        UsageError: If a user-defined limit cannot be evaluated for this workload.
        TargetError: If the server is lost.
    """
    for line in search.plan():
        session.events.say(line)
    most = "users" if search.where.by == "users" else "transactions per second"
    name, title = f"search-{plan.workload}-{target.name}", f"Search for the maximum {most}"
    with session.recorder.phase(name, title, search.detail()(), target.name) as phase:
        hunt = _Hunt(session, target, search, plan)

        def save() -> None:
            phase.save_detail(hunt.detail())

        try:
            hunt.run(save)
        finally:
            phase.detail = hunt.detail()
        session.events.say(hunt.words())


@dataclass
class _Hunt:
    """A search in progress."""

    session: Session
    target: Target
    search: Search
    base: OltpPlan
    trials: list[Trial] = field(default_factory=list[Trial])
    windows: list[Window] = field(default_factory=list[Window])
    _start: float = field(default_factory=time.monotonic)
    _ended: bool = False

    def run(self, save: Callable[[], None]) -> None:
        """Runs windows until the search is resolved or out of time.

        ``save`` runs before each window, so that the results survive a kill.
        """
        while (step := next_step(self.trials, self.search.where, self._left())) is not None:
            save()
            self._window(step)
        self._ended = True

    def detail(self) -> SearchDetail:
        """Returns the trials and the result for the bundle."""
        known = found(self.trials)
        # Without a maximum, the result is the smallest load that breaks the limits.
        at = self._windows(known.failing if known.best is None else known.best)
        # An inconclusive window that was repeated does not count.
        steady = [window for window in at if window.steady]
        counts = steady and (len(steady) > 1 or not known.confirmed)
        counted = [str(window.level) for window in (steady if counts else at)]
        bounds = [str(window.level) for window in self._windows(known.failing)]
        return self.search.detail()(
            windows=tuple(self.windows),
            best=known.best,
            failing=known.failing,
            confirmed=known.confirmed,
            unsettled=known.unsettled,
            monotone=known.monotone,
            stopped=self._stopped(),
            counted=tuple(counted),
            bounding=tuple(dict.fromkeys([*counted, *bounds])),
            refused=tuple(str(window.level) for window in self.windows if window.refused),
        )

    def words(self) -> str:
        """Formats the result as one line."""
        known, text = found(self.trials), self.search.load_text
        if known.best is None and known.unsettled and known.failing is not None:
            return f"No load passes; {text(known.failing)} had inconclusive windows only."
        if known.best is None:
            return "No tried load passes."
        more = max(one.load for one in self.trials) > known.best
        untried = "no conclusive window above it in time" if more else "no larger load tried"
        fails = "had inconclusive windows only" if known.unsettled else "fail"
        above = untried if known.failing is None else f"{text(known.failing)} {fails}"
        how = "confirmed" if known.confirmed else "not confirmed"
        return f"Maximum: {text(known.best)} ({how}; {above})."

    def _window(self, step: Step) -> None:
        number = 1 + sum(one.load == step.load for one in self.trials)
        plan = self._plan(step.load, number)
        place = f"{len(self.trials) + 1}/{max(self.search.windows, len(self.trials) + 1)}"
        title = f"Window {place}: {_WORDS[step.kind]} {self.search.load_text(step.load)}"
        refused = ""
        probed = self.session.probed(self.target)
        with self.session.events.phase(title) as progress, probed:
            try:
                drive.drive(self.session.recorder, self.target, plan, progress)
            except TargetError as error:
                self._require_alive(error)
                refused = str(error)
        if refused:
            self.trials.append(Trial(step.load, passed=False))
            self._note(step, plan, None, refused)
            return
        judged = self._judge(plan)
        self.trials.append(Trial(step.load, judged.passed, steady=not judged.inconclusive))
        self._note(step, plan, judged, "")

    def _plan(self, load: float, number: int) -> OltpPlan:
        # A load without a conclusive window gets more time, if there is time left.
        longer = min(2 ** unsteady(self.trials, load), max(1, self._left()))
        base = replace(self.base, duration_s=self.base.duration_s * longer)
        seed = in_series(base.seed, base.workload, len(self.trials), "window")
        if self.search.where.by == "users":
            return replace(base, users=round(load), window=number, seed=seed)
        users = self.search.sessions
        return replace(base, rate_per_s=load, users=users, window=number, seed=seed)

    def _judge(self, plan: OltpPlan) -> Judged:
        bundle = Bundle.open(self.session.recorder.path)

        def case(level: str) -> Case:
            return Case.of(bundle, analyse.of_level(bundle, level))

        limits = self.search.slo
        judged = trial(case(plan.level), plan.level, limits, strict=self.search.explicit)
        if plan.several:
            parts = [(case(part.level), part.level) for part in drive.parts(plan)]
            judged = in_each(judged, parts, limits)
        if judged.unjudged and self.search.explicit and not judged.failing:
            first = judged.unjudged[0]
            raise UsageError(
                f"--slo '{first.criterion}' cannot be evaluated: {first.reason}. Remove it, "
                "or increase --duration."
            )
        if all(item.passed is None for item in judged.results) and not (
            self.search.explicit or judged.failing
        ):
            raise UsageError("No default limit can be evaluated. Set one with --slo.")
        return judged

    def _require_alive(self, error: TargetError) -> None:
        """Checks that the server still answers and only rejected the number of sessions."""
        if error.kind != "too_many_connections":
            raise error
        try:
            self.target.facts()
        except Exception:
            raise error from None

    def _note(self, step: Step, plan: OltpPlan, judged: Judged | None, refused: str) -> None:
        last = self.trials[-1]
        words = refused if judged is None else judged.words()
        self.windows.append(
            Window(
                level=plan.level,
                load=step.load,
                step=step.kind,
                passed=last.passed,
                steady=last.steady,
                client_bound=bool(judged and judged.client_bound),
                words=words,
                refused=bool(refused),
            )
        )
        mark = "pass" if last.passed else "fail"
        load = self.search.load_text(step.load)
        # The words of an inconclusive window already say so.
        self.session.events.say(f"  {load}: {f'{mark} ({words})' if last.steady else words}")

    def _windows(self, load: float | None) -> list[Window]:
        return [window for window in self.windows if window.load == load]

    def _left(self) -> int:
        rest = self.search.time_limit_s - (time.monotonic() - self._start)
        return max(0, math.floor(rest / self.search.step_s))

    def _stopped(self) -> str:
        """Why it stopped: ``resolution``, ``most``, ``least``, ``time`` or ``broken-off``."""
        known, where = found(self.trials), self.search.where
        if not self._ended:
            return "broken-off"
        if known.best is None:
            least = known.failing is not None and known.failing <= where.least
            return "least" if least else "time"
        if known.failing is None:
            return "most" if known.best >= where.most else "time"
        return "resolution" if where.is_close(known.best, known.failing) else "time"
