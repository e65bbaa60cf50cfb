"""Pending restart: the server runs the program that is installed."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DYNO
from dyno.decide.advise.system import System, unreadable


def _check(system: System) -> Iterable[Verdict]:
    if system.db.updated is None:
        raise unreadable("the server's process is not seen: run Dyno on its machine, as root")
    yield held(
        not system.db.updated,
        "the program was replaced since the server started"
        if system.db.updated
        else f"{system.db.version} as installed",
        "the server runs the installed program",
        "systemctl restart the server's unit    # at a quiet time",
    )


RULE = Rule(
    name="pending-restart",
    area="care",
    scope="database",
    severity="medium",
    looks_at="/proc/PID/exe of the server",
    wants="it is not deleted",
    why="An update is installed, but the server still runs the old binary and its bugs; extensions "
    "loaded from now on are from the new version.",
    source=DYNO.replace("the threshold", "the observation"),
    check=_check,
)
