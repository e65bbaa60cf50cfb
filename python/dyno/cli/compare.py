"""``dyno compare``: an application against a storage profile, or two runs side by side."""

from __future__ import annotations

import shutil
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dyno.cli._options import Options, common, examples
from dyno.safety import plainjson
from dyno.safety.text import shown

if TYPE_CHECKING:
    from dyno.bundle.model import Estimate, Finding, Outcome
    from dyno.bundle.reader import Bundle
    from dyno.report.comparison.gap import Gap


@click.command(
    "compare",
    short_help="Compare an application with its storage, or two runs.",
    epilog=examples(
        "dyno compare last                  a quickstart has both",
        "dyno compare 20261122T10 20261122T11",
        "dyno compare PROFILE RUN --json | jq .gap",
        "dyno compare RUN RUN               metrics side by side",
        "dyno compare RUN RUN --page before-after.html",
    ),
)
@click.argument("runs", nargs=-1, required=True, metavar="RUN [RUN]")
@click.option(
    "--page",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also write a page of two runs side by side.",
)
@common
def command(runs: tuple[str, ...], page: Path | None, options: Options) -> int:
    """Compare the storage profile with what an application reached, or compare two runs.

    Name one run with a storage profile (`dyno io`) and one with queries or transactions
    (`dyno run`) on the same device. A single run may have both, such as a `dyno quickstart`. The
    result shows which percentage of the profiled MB/s the queries reached, which percentage of the
    profiled IOPS the transactions reached, and what explains the gap.

    Two other runs are shown side by side: how they differ, and the metrics that both have.

    RUN is a run id, a unique prefix of one, `last`, or the path of a bundle or of its .tar.gz. No
    database is needed.
    """
    import contextlib

    from dyno.cli._bundles import named
    from dyno.errors import UsageError

    if len(runs) > 2:
        raise UsageError(f"Give one run or two, not {len(runs)}.")
    with contextlib.ExitStack() as stack:
        bundles = [stack.enter_context(named(options.out, name)) for name in runs]
        if len({bundle.place.resolve() for bundle in bundles}) < len(bundles):
            raise UsageError("Both names mean the same run. Give one run, or two different ones.")
        sides = [_Side.of(bundle) for bundle in bundles]
        roles = _roles(sides)
        if roles is None:
            lines, document = _side_by_side(sides[0], sides[-1], page)
        elif page is None:
            lines, document = _gap(*roles)
        else:
            raise UsageError("--page shows two runs of the same kind side by side. Omit it.")
        return _print(sides, lines, document, options)


@dataclass(frozen=True)
class _Side:
    """A run, with fresh estimates and findings."""

    bundle: Bundle
    estimates: list[Estimate]
    findings: list[Finding]

    @classmethod
    def of(cls, bundle: Bundle) -> _Side:
        from dyno.analyse import estimate
        from dyno.decide.judge import judge

        estimates = estimate(bundle)
        validity, findings = judge(bundle, estimates)
        return cls(bundle.judged(validity), estimates, findings)

    @property
    def name(self) -> str:
        """Its run id, with unsafe characters removed."""
        from dyno.safety.text import plain

        return plain(self.bundle.run.run)

    @property
    def profiles(self) -> bool:
        """Whether the run has a storage profile."""
        return any(phase.kind == "io" for phase in self.bundle.run.phases)

    @property
    def works(self) -> bool:
        """Whether the run has queries or transactions."""
        return any(phase.kind in {"dss", "oltp"} for phase in self.bundle.run.phases)


def _roles(sides: list[_Side]) -> tuple[_Side, _Side] | None:
    """The run with the profile and the run with the application; None for any other pair.

    Raises:
        UsageError: If a single run lacks either part.
    """
    from dyno.errors import UsageError

    if len(sides) == 1:
        (one,) = sides
        if not one.profiles or not one.works:
            lacks = "no storage profile" if one.works else "neither queries nor transactions"
            remedy = (
                "Add a run that has one: `dyno io FOLDER` on the same device."
                if one.works
                else "Add a run that has them: `dyno run` on the same device."
            )
            if not one.works and not one.profiles:
                lacks, remedy = "nothing to compare", "Name two runs."
            raise UsageError(f"{one.name} has {lacks}. {remedy}")
        return one, one
    first, second = sides
    if first.profiles and second.works and not (first.works and second.profiles):
        return first, second
    if second.profiles and first.works and not (second.works and first.profiles):
        return second, first
    return None


def _gap(profile: _Side, application: _Side) -> tuple[list[str], dict[str, Any]]:
    """The application gap.

    Raises:
        UsageError: If no phase can be compared.
    """
    from dyno.analyse.gap import gap
    from dyno.errors import UsageError
    from dyno.report.comparison.gap import gap_lines, gaps

    estimates = gap(profile.bundle, profile.estimates, application.bundle, application.estimates)
    found = gaps(application.bundle, estimates, application.findings)
    if not found:
        raise UsageError(_missing(profile, application))
    warnings = [*_unlike(profile, application), *_not_sampled(application, found)]
    lines = [
        f"Profile      {profile.name}",
        f"Application  {application.name}",
        *(line for warning in warnings for line in textwrap.wrap(f"! {warning}", 80)),
        "",
        *gap_lines(found),
    ]
    document: dict[str, Any] = {
        "kind": "gap",
        "profile": profile.name,
        "application": application.name,
        "warnings": warnings,
        "gap": [one.document for one in found],
    }
    return lines, document


def _not_sampled(application: _Side, found: list[Gap]) -> list[str]:
    """A warning that names the phases without samples."""
    from dyno.analyse.gap import application_phases
    from dyno.report.comparison.gap import title_of

    compared = {one.phase.name for one in found}
    phases = application_phases(application.bundle, application.estimates)
    titles = [title_of(application.bundle, one) for one in phases if one.name not in compared]
    if not titles:
        return []
    return [f"No samples (too short, or device unknown): {', '.join(titles)}."]


def _missing(profile: _Side, application: _Side) -> str:
    """Why the gap cannot be computed."""
    from dyno.analyse.gap import application_phases, bests, devices_of

    phases = application_phases(application.bundle, application.estimates)
    if not phases:
        return f"{application.name} has no completed query test or level."
    if not bests(profile.bundle, profile.estimates):
        return f"The storage profile of {profile.name} has no curve with a best result."
    if not any(devices_of(application.bundle, phase) for phase in phases):
        return (
            f"The device under the data of {application.name} is unknown: the server is remote, or "
            "its file system has no block device."
        )
    return (
        f"There are no disk samples for {application.name}: its phases were shorter than a second, "
        "or the disk probe failed."
    )


def _unlike(profile: _Side, application: _Side) -> list[str]:
    """Caveats of the comparison."""
    from dyno.analyse.gap import application_phases, devices_of, profiled_devices
    from dyno.bundle.carriers import host_of

    warnings: list[str] = []
    run = application.bundle.run
    hosts = [profile.bundle.run.host, host_of(run)]
    if _machine(hosts[0]) != _machine(hosts[1]):
        warnings.append("The runs are from different machines: percentages mean little.")
    profiled = {name for names in profiled_devices(profile.bundle).values() for name in names}
    for phase in application_phases(application.bundle, application.estimates):
        others = sorted({*devices_of(application.bundle, phase)} - profiled)
        if others:
            warnings.append(
                f"Different devices: {phase.title} used {', '.join(others)}, the profile measured "
                f"{', '.join(sorted(profiled)) or 'an unknown device'}."
            )
    return list(dict.fromkeys(warnings))


def _machine(host: dict[str, Any]) -> list[Any]:
    """What identifies a machine."""
    names = (("cpu", "model"), ("cpu", "logical"), ("memory", "total_bytes"))
    sections = [(host.get(section), name) for section, name in names]
    return [facts.get(name) if isinstance(facts, dict) else None for facts, name in sections]


def _side_by_side(
    first: _Side, second: _Side, page: Path | None
) -> tuple[list[str], dict[str, Any]]:
    """Two runs side by side; also writes their page.

    Raises:
        UsageError: If they have no metric in common.
        DiskFullError, TargetError: If the page cannot be written.
    """
    from dyno.errors import UsageError
    from dyno.report.comparison.side_by_side import beside_lines, differences, pairs

    found = pairs((first.bundle, first.estimates), (second.bundle, second.estimates))
    if not any(pair.headline for pair in found):
        raise UsageError(
            f"{first.name} and {second.name} have no metric in common. Compare runs of the same "
            "verb and workload, or a storage profile with an application."
        )
    lines = [
        f"First   {first.name}",
        f"Second  {second.name}",
        "",
        *beside_lines(first.bundle, second.bundle, found, shutil.get_terminal_size().columns),
    ]
    if page is not None:
        from dyno.bundle.writer import write_atomically
        from dyno.report.comparison.page import comparison_page

        write_atomically(page.absolute(), comparison_page(first.bundle, second.bundle, found))
        lines.append(f"Page: {page}")
    document: dict[str, Any] = {
        "kind": "runs",
        "first": first.name,
        "second": second.name,
        "differences": differences(first.bundle, second.bundle),
        "figures": [pair.document for pair in found],
        **({} if page is None else {"page": str(page)}),
    }
    return lines, document


def _worst(sides: list[_Side]) -> Outcome | None:
    """The worst verdict of all sides."""
    found = {side.bundle.run.validity.verdict for side in sides}
    order: tuple[Outcome | None, ...] = ("invalid", "disturbed", None, "valid")
    return next(verdict for verdict in order if verdict in found)


def _print(sides: list[_Side], lines: list[str], document: dict[str, Any], options: Options) -> int:
    from dyno.errors import EXIT_DONE, EXIT_INVALID
    from dyno.report.kit.formats import VERDICTS

    reasons = [
        {"run": side.name, **reason.model_dump()}
        for side in sides
        for reason in side.bundle.run.validity.reasons
    ]
    if options.as_json:
        head = {
            "run": sides[-1].name,
            "bundle": str(sides[-1].bundle.place),
            "valid": not reasons,
            "verdict": _worst(sides),
            "reasons": reasons,
        }
        click.echo(plainjson.dumps({**head, **document}))
    else:
        for side in sides:
            codes = dict.fromkeys(reason.code for reason in side.bundle.run.validity.reasons)
            if codes:
                verdict = VERDICTS[side.bundle.run.validity.verdict]
                click.echo(shown(f"! {side.name} is {verdict}: {', '.join(codes)}."))
        click.echo(shown("\n".join(lines)))
    return EXIT_INVALID if reasons else EXIT_DONE
