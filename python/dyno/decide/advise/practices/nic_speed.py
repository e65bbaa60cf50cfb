"""NIC speed: 1 Gbit/s, and 10 to storage of decision support."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.interfaces import carries_storage, each_interface
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DSS, OLTP
from dyno.decide.advise.system import Facts, System, unreadable

LEAST, LEAST_DSS = 1000.0, 10_000.0


def _check(system: System) -> Iterable[Verdict]:
    wide = carries_storage(system) and system.work == "dss"
    wanted = LEAST_DSS if wide else LEAST

    def judge(one: Facts) -> Verdict:
        if one.get("speed_mbps") is None:
            raise unreadable("the driver does not report it, as is usual in virtual machines")
        speed, duplex = one.number("speed_mbps"), one.get("duplex")
        return held(
            speed >= wanted and duplex != "half",
            f"{speed:,.0f} Mbit/s, {duplex} duplex",
            f"at least {wanted:,.0f} Mbit/s, full duplex",
            f"ethtool {one.text('name')}    # then check cable, switch port and autonegotiation",
        )

    yield from each_interface(system, judge)


RULE = Rule(
    name="nic-speed",
    area="network",
    scope="machine",
    severity="medium",
    looks_at="/sys/class/net/NIC/speed and duplex",
    wants="1 Gbit/s; 10 Gbit/s to network storage of decision support",
    why="Transactions need IOPS, decision support needs bandwidth: 1 Gbit/s carries at most about "
    "110 MB/s. A link that negotiated half duplex or 100 Mbit/s is a fault.",
    source=f"{DSS}, 7.1 and 7.2; {OLTP}, 7.2",
    check=_check,
)
