"""Network interfaces that carry traffic, and whether storage is behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dyno.decide.advise.rule import Verdict, each
from dyno.decide.advise.system import Facts, System, inapplicable


def used(system: System) -> list[Facts]:
    """Physical interfaces and bonds that are up.

    Raises:
        GapError: If there is none, or it is unknown.
    """
    found = system.host.each("network", "interfaces")
    up = [
        one
        for one in found
        if one.get("state") == "up" and (one.get("physical") or one.get("bonded"))
    ]
    if not up:
        raise inapplicable("no network interface is up")
    return up


def each_interface(system: System, judge: Callable[[Facts], Verdict]) -> Iterator[Verdict]:
    """A verdict on each interface that is used.

    Raises:
        GapError: If none is known.
    """
    return each(used(system), lambda one: one.text("name"), judge)


def carries_storage(system: System) -> bool:
    """Whether a volume is on storage over a network."""
    return any(
        volume.facts.get("remote") is True or volume.facts.get("fs_kind") == "network"
        for volume in system.volumes
    )


def require_storage(system: System) -> None:
    """Ends a rule on interfaces that no storage is behind.

    Raises:
        GapError: If no volume is attached over a network.
    """
    if not carries_storage(system):
        raise inapplicable("no volume is attached over the network")
