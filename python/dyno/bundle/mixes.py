"""Windows in which several workloads or targets were under load at once."""

from __future__ import annotations

from dyno.bundle.model import Phase, Run, those
from dyno.bundle.phases.mix import Member, MixDetail


def windows(run: Run) -> list[Phase[MixDetail]]:
    """All windows, in the order in which they began."""
    return sorted(those(run.phases, MixDetail), key=lambda phase: phase.start_ns)


def together(run: Run) -> list[Phase[MixDetail]]:
    """The windows with all members."""
    return [phase for phase in windows(run) if phase.detail.alone is None]


def alone(run: Run) -> set[str]:
    """Names of the phases that measured a member by itself."""
    return {
        member.phase
        for window in windows(run)
        if window.detail.alone is not None
        for member in window.detail.members
        if member.phase is not None
    }


def names(run: Run) -> dict[str, str]:
    """The window of each phase that was recorded in one."""
    return {
        member.phase: window.name
        for window in windows(run)
        for member in window.detail.members
        if member.phase is not None
    }


def beside(run: Run, phase: Phase) -> list[Member]:
    """The other members that were under load during a phase; none for a run without a mix."""
    for window in windows(run):
        names = [member.phase for member in window.detail.members]
        if phase.name in names:
            return [one for one in window.detail.members if one.phase != phase.name]
    return []
