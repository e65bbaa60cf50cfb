"""Flow control: a full receiver stops its sender instead of losing packets."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.amounts import sh
from dyno.decide.advise.interfaces import each_interface, require_storage
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DSS, OLTP
from dyno.decide.advise.system import Facts, System, unreadable


def _judge(one: Facts) -> Verdict:
    if one.get("pause_receive") is None:
        raise unreadable("its driver does not report it, or the facts are not of a live machine")
    receive, transmit = one.switch("pause_receive"), one.switch("pause_transmit")
    return held(
        receive and transmit,
        f"receive {'on' if receive else 'off'}, transmit {'on' if transmit else 'off'}",
        "both on, and on the ports of the switch",
        f"ethtool -A {sh(one.text('name'))} rx on tx on",
    )


def _check(system: System) -> Iterable[Verdict]:
    require_storage(system)
    yield from each_interface(system, _judge)


RULE = Rule(
    name="flow-control",
    area="network",
    scope="machine",
    severity="medium",
    looks_at="pause frames, as the driver reports them (ETHTOOL_GPAUSEPARAM)",
    wants="on in both directions where storage is on the network",
    why="iSCSI and NFS over TCP answer a lost packet with a wait of 200 ms and more.",
    source=f"{DSS}, 7.2; {OLTP}, 7.2",
    check=_check,
)
