"""NIC paths: two interfaces to network storage."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.amounts import plural
from dyno.decide.advise.interfaces import require_storage, used
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DSS, OLTP
from dyno.decide.advise.system import System


def _check(system: System) -> Iterable[Verdict]:
    require_storage(system)
    found = [one for one in used(system) if one.get("physical")]
    names = ", ".join(one.text("name") for one in found)
    yield held(
        len(found) >= 2,
        f"{plural(len(found), 'interface')}: {names}",
        "2, on two switches",
        "# add an interface: multipath for iSCSI; a bond for NFS: "
        "ip link add bond0 type bond mode 802.3ad",
    )


RULE = Rule(
    name="nic-paths",
    area="network",
    scope="machine",
    severity="high",
    looks_at="physical interfaces that are up, on machines with storage over the network",
    wants="at least two",
    why="A single interface, cable or switch that fails takes the database away.",
    source=f"{DSS}, 7.2; {OLTP}, 7.2",
    check=_check,
)
