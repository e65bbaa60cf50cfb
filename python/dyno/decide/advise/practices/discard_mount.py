"""Discard: deleted files are trimmed at night, not in the middle of the work."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.amounts import sh
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import LINUX
from dyno.decide.advise.system import System, Volume
from dyno.decide.advise.volumes import each_volume, on_storage


def _judge(volume: Volume) -> Verdict:
    options = on_storage(volume).facts.words("options")
    found = [word for word in options if word == "discard" or word.startswith("discard=")]
    # btrfs queues them and sends few at a time.
    bad = [word for word in found if word != "discard=async"]
    return held(
        not bad,
        ", ".join(found) or "no discard",
        "no discard; fstrim once a week instead",
        f"mount -o remount,nodiscard {sh(volume.facts.text('mount_point'))}",
        "systemctl enable --now fstrim.timer",
    )


def _check(system: System) -> Iterable[Verdict]:
    yield from each_volume(system, _judge)


RULE = Rule(
    name="discard-mount",
    area="storage",
    scope="database",
    severity="low",
    looks_at="mount options of data, log and temporary files",
    wants="no discard",
    why="With discard, each removed log segment, temporary file or dropped table sends TRIM to the "
    "device, and other I/O waits for them.",
    source=f"{LINUX}, fstrim(8) and mount(8)",
    check=_check,
)
