"""Access times: reads write no time stamps."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.amounts import sh
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import LINUX
from dyno.decide.advise.system import System, Volume
from dyno.decide.advise.volumes import each_volume, on_storage


def _judge(volume: Volume) -> Verdict:
    options = on_storage(volume).facts.words("options")
    shown = [word for word in ("noatime", "relatime", "strictatime", "lazytime") if word in options]
    point = sh(volume.facts.text("mount_point"))
    return held(
        "noatime" in options,
        ", ".join(shown) or "strictatime",
        "noatime",
        f"mount -o remount,noatime {point}",
        f"# to keep it, add noatime to the options of {point} in /etc/fstab",
    )


def _check(system: System) -> Iterable[Verdict]:
    yield from each_volume(system, _judge)


RULE = Rule(
    name="access-times",
    area="storage",
    scope="database",
    severity="low",
    looks_at="mount options of data, log and temporary files",
    wants="noatime",
    why="With strictatime each read of a file writes its inode. With relatime, the default, the "
    "first read of each file a day does: little, and useless for a database.",
    source=f"{LINUX}, mount(8)",
    check=_check,
)
