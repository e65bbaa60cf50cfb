"""The stages of a run. Quickstart and the single commands share them."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from dyno import workloads
from dyno.bundle.model import Check, those
from dyno.bundle.phases.oltp import OltpDetail, UntilSteady
from dyno.config.units import seconds_text
from dyno.contracts.databases import home_of, split, workload_of
from dyno.contracts.target import Loaded, LoadPlan, PowerResult, Target
from dyno.errors import TargetError, UsageError
from dyno.profiles.volume import order
from dyno.report.run import diffs
from dyno.runner.session import Session
from dyno.stages import drive, load, prove
from dyno.stages.drive import (
    DuringPlan,
    OltpPlan,
    PlansPlan,
    PowerPlan,
    StreamPlan,
    UntilSteadyPlan,
)
from dyno.stages.profile import IoPlan, profile


def storage(session: Session, plan: IoPlan) -> None:
    """Profiles volumes: runs every volume set of the plan with its repeats."""
    for repeat, volume_set in order(plan.volume_sets, plan.repeats):
        with session.events.phase(plan.title(volume_set, repeat)) as progress:
            found = profile(session.recorder, plan, volume_set, repeat, progress)
        for remark in found.remarks:
            session.events.say(f"! {remark.text}")


def load_and_prove(
    session: Session,
    target: Target,
    plan: LoadPlan,
    *,
    replace: bool,
    others: Sequence[str] = (),
) -> None:
    """Loads a workload, counts its rows, and adds keys and indexes.

    ``others`` are databases that will be replaced after this one.
    """
    name = plan.workload
    title = f"Load {name} into {target.name}"
    with session.events.phase(title) as progress, session.probed(target):
        load.load(session.recorder, target, plan, progress, replace=replace, others=others)
    title = f"Index {name} in {target.name}"
    with session.events.phase(title) as progress, session.probed(target):
        load.index(session.recorder, target, plan, progress)
    if workloads.get(name).setup(target.name):
        title = f"Setup of {name} in {target.name}"
        with session.events.phase(title) as progress, session.probed(target):
            load.setup(session.recorder, target, plan, progress)
    with session.events.phase(f"Check {name} in {target.name}"):
        checks = load.check(session.recorder, target, plan.workload, load.loaded(plan), "load")
        load.accept(target, plan, checks)


def compare_streams(
    session: Session, target: Target, plans: list[LoadPlan], *, replace: bool
) -> None:
    """Reloads the data with each plan to measure the load rate, and counts the rows each time."""
    for number, plan in enumerate(plans):
        streams = f"{plan.streams} stream{'s'[: plan.streams != 1]}"
        what = f"{plan.workload} into {target.name}, {streams}"
        with session.events.phase(f"Load {what}") as progress, session.probed(target):
            load.load(
                session.recorder, target, plan, progress, replace=replace or number > 0, alone=False
            )


def power(session: Session, target: Target, plan: PowerPlan) -> PowerResult:
    """Runs the power test."""
    with session.events.phase(f"Queries on {target.name}") as progress, session.probed(target):
        return drive.power(session.recorder, target, plan, progress)


def answers(
    session: Session,
    plan: PowerPlan,
    results: dict[str, PowerResult],
    unlike: str | None = None,
) -> list[Check]:
    """Verifies the answers against each other and against the expected and published ones.

    ``unlike`` is the reason why the data does not have the expected answers, if there is one.
    """
    checks = prove.answers(session.recorder, plan.workload, plan.scale, results, unlike)
    for line in diffs.lines(checks):
        session.events.warn(line)
    return checks


def asked(
    session: Session,
    places: Sequence[tuple[Target, Loaded]],
    workload: str,
    timeout_s: float | None = None,
) -> list[Check]:
    """Runs all queries once on each target and verifies the answers.

    A failed query is a failed check.
    """
    results: dict[str, PowerResult] = {}
    reasons: list[str] = []
    for target, found in places:
        prepare(target, workload)
        with session.events.phase(f"Answers of {target.name}") as progress:
            results[target.name] = prove.ask(
                session.recorder, target, workload, found.scale, progress, timeout_s
            )
        reasons += filter(None, [unlike(target, workload, found)])
    plan = PowerPlan(workload, places[0][1].scale)
    return answers(session, plan, results, next(iter(reasons), None))


def unlike(target: Target, workload: str, found: Loaded) -> str | None:
    """Why loaded data does not have the expected answers of its scale; None if it has them."""
    known = workloads.get(workload)
    if found.scale not in known.expected_scales:
        return None
    if known.expected_seed not in {None, found.seed}:
        return (
            f"Dyno ships expected answers for seed {known.expected_seed}; this data has seed "
            f"{found.seed}"
        )
    return changed(target, workload, found)


def changed(target: Target, workload: str, found: Loaded) -> str | None:
    """What changed loaded data; None if nothing did, or if no run changes it for good."""
    find = workloads.get(workload).changed
    if find is None:
        return None
    with contextlib.closing(target.connect(workload)) as connection:
        return find(connection, found)


def prepare(target: Target, workload: str) -> None:
    """Reads what draws of the workload's queries need from the database, once."""
    place = workloads.place_of(workload)
    workloads.get(workload).prepare(lambda: target.connect(place))


def plans(session: Session, target: Target, plan: PowerPlan, *, analyse: bool) -> None:
    """Records the execution plan of each query."""
    with session.events.phase(f"Plans of {target.name}") as progress:
        wanted = PlansPlan(plan.workload, plan.scale, analyse, plan.timeout_s)
        drive.explain(session.recorder, target, wanted, progress)


def queries_during(session: Session, target: Target, plan: StreamPlan, during: DuringPlan) -> None:
    """Repeats the queries before, during and after maintenance."""
    title = f"{during.title} of {target.name} under queries"
    with session.events.phase(title) as progress, session.probed(target):
        drive.queries_during(session.recorder, target, plan, during, progress)


def programmed(session: Session, target: Target, plan: OltpPlan) -> None:
    """Creates the stored procedures of a plan that calls them, in each of its databases."""
    if plan.mode == "procedure":
        with session.events.phase(f"Procedures in {target.name}"):
            for part in drive.parts(plan):
                drive.program(session.recorder, target, part.workload)


def levels(
    session: Session,
    target: Target,
    plans: list[OltpPlan],
    during: DuringPlan | None = None,
    extension: UntilSteadyPlan | None = None,
) -> None:
    """Runs each load level."""
    programmed(session, target, plans[0])
    for plan in plans:
        level(session, target, plan, during, extension)


def level(
    session: Session,
    target: Target,
    plan: OltpPlan,
    during: DuringPlan | None = None,
    extension: UntilSteadyPlan | None = None,
) -> None:
    """Runs one load level."""
    title = f"{plan.workload} on {target.name}, {plan.title}"
    title += ", in procedures" if plan.mode == "procedure" else ""
    with session.events.phase(title) as progress, session.probed(target):
        if during is not None:
            drive.drive_during(session.recorder, target, plan, during, progress)
        elif extension is not None:
            drive.drive_until_steady(session.recorder, target, plan, extension, progress)
            _report_extension(session, plan)
        else:
            drive.drive(session.recorder, target, plan, progress)


def _report_extension(session: Session, plan: OltpPlan) -> None:
    """Reports which part of the level counts."""
    phases = reversed(those(session.recorder.run.phases, OltpDetail))
    detail = next(one.detail for one in phases if one.detail.level == plan.level)
    extension = detail.until_steady or UntilSteady()
    if extension.settled:
        words = f"steady after {seconds_text(extension.left_out_s or 0.0)}; measured from then on"
    else:
        words = f"not steady within {seconds_text(extension.limit_s or 0.0)}; measured in full"
    session.events.say(f"  {words}: {seconds_text(detail.duration_s or 0.0)}")


def consistency(session: Session, target: Target, plan: OltpPlan) -> None:
    """Checks the data in each database after transactions, if there is any."""
    for part in drive.parts(plan):
        consistent(session, target, part.workload, part.loaded)


def consistent(session: Session, target: Target, workload: str, held: Loaded) -> None:
    """Checks the data of a workload after a run, if there is any."""
    if target.capabilities.load is True:
        with session.events.phase(f"Consistency of {workload} on {target.name}"):
            load.check(session.recorder, target, workload, held, "run")


def loaded_data(target: Target, workload: str, scale: float | None) -> Loaded:
    """Returns the loaded data.

    Raises:
        UsageError: If there is no data, or its scale is not ``scale``.
        TargetError: If a load is incomplete.
    """
    if not workloads.get(workload).loads:
        return Loaded(scale or 1.0, seed=1, complete=True)
    home = home_of(workload)
    found = target.loaded(home)
    if found is None:
        raise UsageError(
            f"{target.name} holds no {workload} data. Load it first: "
            f"dyno load {workloads.get(workload).called} --target {target.url.redacted} "
            f"--scale {scale or 1:.15g}"
        )
    if not found.complete:
        number = split(home)[1]
        many = f" --databases {number}" if number > 1 else ""
        days = "" if found.days is None else f" --days {found.days}"
        raise TargetError(
            f"The {home} data in {target.name} is incomplete: its load did not end. "
            f"Load it again: dyno load {workloads.get(home).called} --target "
            f"{target.url.redacted} --scale {found.scale:.15g}{days}{many} --replace"
            + (", or --resume" if target.capabilities.resume is True else ""),
            kind="database",
        )
    own = found if home == workload else target.loaded(workload)
    if own is None or not own.complete:
        raise UsageError(
            f"{target.name} holds the tables of {home}, but not those that {workload} adds. "
            f"Add them: dyno load {workload_of(workload)} --target {target.url.redacted} "
            f"--scale {found.scale:.15g}"
        )
    if scale is not None and scale != found.scale:
        raise UsageError(
            f"{target.name} holds {workload} at scale {found.scale:.15g}, not {scale:.15g}. "
            "Remove --scale, or reload with --replace."
        )
    return found
