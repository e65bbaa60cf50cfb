"""NIC offloads: the device cuts and joins packets."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.amounts import sh
from dyno.decide.advise.interfaces import each_interface
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import OLTP
from dyno.decide.advise.system import Facts, System, unreadable

_WORDS = {"segmentation_offload": "tso", "receive_offload": "gro", "checksum_offload": "tx"}


def _judge(one: Facts) -> Verdict:
    known = {word: one.get(name) for name, word in _WORDS.items() if one.get(name) is not None}
    if not known:
        raise unreadable("its driver does not report it, or the facts are not of a live machine")
    off = [word for word, value in known.items() if not value]
    return held(
        not off,
        ", ".join(f"{word} {'on' if value else 'off'}" for word, value in known.items()),
        "all on",
        f"ethtool -K {sh(one.text('name'))} {' '.join(f'{word} on' for word in off)}",
    )


def _check(system: System) -> Iterable[Verdict]:
    yield from each_interface(system, _judge)


RULE = Rule(
    name="nic-offloads",
    area="network",
    scope="machine",
    severity="low",
    looks_at="TCP segmentation, generic receive and checksum offload, as the driver reports them",
    wants="all on",
    why="Without them the CPUs handle each packet, at 10 Gbit/s more than 800,000 a second.",
    source=f"{OLTP}, 7.3 (TSO and LRO)",
    check=_check,
)
