"""The decision-support tests as ``dyno run`` composes them."""

from __future__ import annotations

import contextlib
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from dyno.errors import UsageError

if TYPE_CHECKING:
    from dyno.contracts.target import Target
    from dyno.runner.session import Session
    from dyno.stages.drive import PowerPlan, ThroughputPlan
    from dyno.stages.drive.dss.plan import Parameters

TESTS = ("power", "throughput", "full")
PARAMETERS = ("validation", "seeded")


@dataclass(frozen=True)
class Choice:
    """What the user asked for; None where nothing was said."""

    test: str | None = None
    streams: int | None = None
    parameters: str | None = None
    refresh: bool | None = None

    @property
    def has_streams(self) -> bool:
        """Whether a throughput test is among it."""
        return self.test in ("throughput", "full")

    @property
    def has_power(self) -> bool:
        """Whether a power test is among it."""
        return self.test != "throughput"

    @property
    def refreshes(self) -> bool:
        """Whether the refresh functions run: by default in all but the power test alone."""
        return self.has_streams if self.refresh is None else self.refresh

    @property
    def drawn(self) -> Parameters:
        """Which parameters: the fixed ones by default in the power test alone."""
        if self.parameters is None:
            return "seeded" if self.has_streams else "validation"
        return cast("Parameters", self.parameters)

    def facts(self) -> dict[str, Any]:
        """For the bundle."""
        return {
            **asdict(self),
            "test": self.test or "power",
            "parameters": self.drawn,
            "refresh": self.refreshes,
        }

    def require_streams(self, during: str | None) -> None:
        """For a number of users where there is but one.

        Raises:
            UsageError: If it was given.
        """
        if self.streams is not None and not self.has_streams and during is None:
            raise UsageError("--streams is for --test throughput, --test full or --during NAME.")

    def require_power(self, option: str) -> None:
        """For a restart of the engine between two queries, which only one session survives.

        Raises:
            UsageError: If there are several.
        """
        if self.has_streams:
            raise UsageError(f"{option} is for --test power: several users share the caches.")
        if self.refreshes:
            raise UsageError(
                f"{option} and --refresh exclude each other: the engine is closed before each "
                "query, and with it the session of the refresh functions. Use --cold."
            )


def run_tests(
    session: Session,
    url: str,
    workload: str,
    scale: float | None,
    choice: Choice,
    settings: dict[str, Any],
) -> None:
    """Runs the tests that were chosen, and proves their answers and the data after them.

    Args:
        session: The open session.
        url: The target.
        workload: The workload.
        scale: The scale that must be loaded, if any was named.
        choice: Which tests, and how.
        settings: ``cache``, ``timeout_s``, ``seed``, ``metering``, and those of plans and
            maintenance.
    """
    from dyno import workloads
    from dyno.runner import stages
    from dyno.runner.cold import start_cold
    from dyno.runner.during import before_start, during_plan
    from dyno.runner.layout import note_layout
    from dyno.stages import drive
    from dyno.stages.drive import PowerPlan, StreamPlan, ThroughputPlan

    cache = settings["cache"]
    with session.target(url, before_start(settings)) as target:
        found = stages.loaded_data(target, workload, scale)
        note_layout(session, target, found)
        _clear(session, target, workload)
        refresh = choice.refreshes and target.capabilities.refresh is True
        if refresh is not choice.refreshes:
            session.events.say(f"! Without refresh functions: {target.capabilities.refresh}.")
        common: dict[str, Any] = {
            "timeout_s": settings["timeout_s"],
            "parameters": choice.drawn,
            "seed": settings["seed"],
        }
        fresh: dict[str, Any] = {
            **common,
            "refresh": refresh,
            "metering": settings["metering"],
        }
        power = PowerPlan(workload, found.scale, **fresh, cache=cache, warm=cache == "warm")
        streams = choice.streams or workloads.get(workload).streams(found.scale)
        held = "after-power" if choice.has_power else cache
        throughput = ThroughputPlan(workload, found.scale, **fresh, cache=held, streams=streams)
        with contextlib.ExitStack() as stack:
            if refresh:
                sets = int(choice.has_power) + (streams if choice.has_streams else 0)
                first = stack.enter_context(
                    drive.restored(session.recorder, target, workload, sets)
                )
                # Pair 0 is the power test's.
                first -= not choice.has_power
                power, throughput = (
                    replace(power, first_set=first),
                    replace(throughput, first_set=first),
                )
            power = stack.enter_context(start_cold(session, target, power, cache))
            if choice.has_power:
                _power(session, target, power)
            if choice.has_streams:
                _throughput(session, target, throughput)
        if settings["plans"]:
            stages.plans(session, target, power, analyse=settings["analyse_plans"])
        if during := during_plan(settings):
            users = streams if choice.has_streams else choice.streams or 1
            beside = StreamPlan(workload, found.scale, **common, cache=held, streams=users)
            stages.queries_during(session, target, beside, during)
        # After the measurements, so that they begin with the caches that they tell of.
        if not (choice.has_power and power.proves):
            _ask(session, target, power)


def _clear(session: Session, target: Target, workload: str) -> None:
    from dyno.stages import drive

    changed = drive.restore_left(session.recorder, target, workload)
    if changed:
        session.events.say(
            f"! Restored the data: {changed:,} rows that the refresh functions of an interrupted "
            "run had inserted or deleted."
        )


def _power(session: Session, target: Target, plan: PowerPlan) -> None:
    from dyno.runner import stages
    from dyno.stages import prove

    result = stages.power(session, target, plan)
    if plan.proves:
        stages.answers(session, plan, {target.name: result})
    if result.drawn:
        prove.streams(
            session.recorder, plan.workload, target.name, result.drawn, alike=False, test="power"
        )


def _ask(session: Session, target: Target, plan: PowerPlan) -> None:
    """Proves the answers after tests of which none can be compared with the expected ones."""
    from dyno import workloads
    from dyno.runner import stages
    from dyno.stages import prove

    if plan.scale in workloads.get(plan.workload).expected_scales:
        stages.asked(session, target, plan.workload, plan.scale, plan.timeout_s)
    else:
        prove.unproven(session.recorder, plan.workload, plan.scale, target.name)


def _throughput(session: Session, target: Target, plan: ThroughputPlan) -> None:
    from dyno.stages import drive, prove

    users = f"{plan.streams} stream{'s'[: plan.streams != 1]}"
    title = f"{users} of queries on {target.name}"
    with session.events.phase(title) as progress:
        result = drive.throughput(session.recorder, target, plan, progress)
    alike = plan.parameters == "validation" and not plan.refresh
    prove.streams(session.recorder, plan.workload, target.name, result.answers, alike=alike)
