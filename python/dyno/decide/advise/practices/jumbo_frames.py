"""Jumbo frames: large packets to storage."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.amounts import sh
from dyno.decide.advise.interfaces import each_interface, require_storage
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DSS, OLTP
from dyno.decide.advise.system import Facts, System

LEAST = 9000.0


def _judge(one: Facts) -> Verdict:
    mtu = one.number("mtu")
    return held(
        mtu >= LEAST,
        f"MTU {mtu:,.0f} B",
        f"{LEAST:,.0f} B on the interfaces to storage, the switches and the array",
        f"ip link set dev {sh(one.text('name'))} mtu 9000",
    )


def _check(system: System) -> Iterable[Verdict]:
    require_storage(system)
    yield from each_interface(system, _judge)


RULE = Rule(
    name="jumbo-frames",
    area="network",
    scope="machine",
    severity="medium",
    looks_at="/sys/class/net/NIC/mtu on machines with iSCSI, NFS or NVMe over fabrics",
    wants="9,000 B, on every device of the path",
    why="An 8 KiB page then fits into one packet instead of six: fewer interrupts, less CPU.",
    source=f"{DSS}, 7.2; {OLTP}, 7.2 and 7.3",
    check=_check,
)
