"""``--set`` and ``--settings``: settings in neutral words, for one target and one run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from dyno.cli._options import collected
from dyno.config.settings import WORDS
from dyno.confinement.limits_asked import memory_bytes

if TYPE_CHECKING:
    from dyno.config.settings import Setting
    from dyno.confinement.run import Confinement
    from dyno.contracts.target import TargetUrl


@dataclass(frozen=True)
class Given:
    """What the command line holds of settings, unread."""

    texts: tuple[str, ...]
    file: Path | None

    def of(
        self, url: TargetUrl, out: Path, confinement: Confinement | None = None
    ) -> list[Setting]:
        """What is asked of the target at ``url``, checked before anything is touched.

        Within limits of the run its memory is what they leave of the machine's.

        Raises:
            UsageError: If a word or value is wrong, or the target lacks the word.
        """
        from dyno import targets
        from dyno.config import settings
        from dyno.contracts import tuning
        from dyno.contracts.target import Limits

        if not self.texts and self.file is None:
            return []
        here = not urlsplit(url.text).hostname
        memory = _memory_bytes() if here else None
        if memory is not None and confinement is not None:
            memory = memory_bytes(confinement.asked, memory)
        asked = settings.parse(self.texts, self.file, memory)
        tuning.require(url, asked)
        tuning.tune(targets.open_target(url, out, Limits(1 << 30, 1)), asked)  # its own bounds
        return asked


options = collected(
    Given,
    "given",
    click.option(
        "--set",
        "texts",
        multiple=True,
        metavar="WORD=VALUE",
        help=f"Setting in a neutral word, as memory=4GB; repeat. Restored afterwards. "
        f"Words: {', '.join(WORDS)}.",
    ),
    click.option(
        "--settings",
        "file",
        type=click.Path(path_type=Path, dir_okay=False),
        help="TOML file with a table [settings] of such words; --set wins.",
    ),
)
"""Adds ``--set`` and ``--settings``, and passes them as ``given``."""


def _memory_bytes() -> int | None:
    """What this process may use of the machine's memory."""
    from dyno.host.cgroup import cgroup_facts
    from dyno.host.files import ROOT
    from dyno.host.limits import usable_memory_bytes
    from dyno.host.memory import memory_facts

    return usable_memory_bytes({"memory": memory_facts(ROOT), "cgroup": cgroup_facts(ROOT)})
