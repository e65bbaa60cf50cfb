"""``--volumes`` and ``--spread`` of a load: places for tables and partitions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dyno.cli._options import collected
from dyno.errors import UsageError

if TYPE_CHECKING:
    from dyno.layouts.model import Layout
    from dyno.targets.base import TargetUrl

MOST = 64


@dataclass(frozen=True)
class Spread:
    """What the command line holds of them, unread."""

    volumes: str | None
    spread: int | None

    @property
    def asked(self) -> bool:
        """Whether either is given."""
        return self.volumes is not None or self.spread is not None

    def over(self, layout: Layout, url: TargetUrl, scale: float, out: Path) -> Layout:
        """The layout on the volumes, or as it is if none are asked for.

        Raises:
            UsageError: If there are fewer volumes than asked for, or the target can have none.
        """
        from dyno import targets
        from dyno.layouts.spread import spread

        if not self.asked:
            return layout
        own = self.volumes is None
        if own and url.scheme != "embedded":
            raise UsageError(
                "--spread without --volumes makes folders beside an embedded engine; name the "
                "volumes of this server: --volumes /mnt/a,/mnt/b or tablespace:NAME,…"
            )
        places = self._beside(url, out) if own else self._named()
        found = spread(layout, places, scale)
        targets.require_layout(url, found)
        if own:
            _make(url, out, places)
        return found

    def _named(self) -> list[str]:
        from dyno.layouts.resolve import place

        texts = [text.strip() for text in (self.volumes or "").split(",")]
        found = [place(text, "--volumes") for text in texts if text]
        if len(set(found)) < len(found) or not found:
            raise UsageError(f"--volumes '{self.volumes}': name each once, with commas between.")
        if self.spread is not None and self.spread > len(found):
            raise UsageError(
                f"--spread {self.spread} takes as many --volumes; {len(found)} are given."
            )
        return found[: self.spread]

    def _beside(self, url: TargetUrl, out: Path) -> list[str]:
        """Folders in the engine's own, with which they come, are kept and go."""
        from dyno.engines import home_of

        folder = home_of(out, url.name) / "volumes"
        return [str(folder / str(number + 1)) for number in range(self.spread or 0)]


def _make(url: TargetUrl, out: Path, places: list[str]) -> None:
    from dyno import engines

    engines.claim(out, url.name)
    for place in places:
        Path(place).mkdir(parents=True, exist_ok=True)


options = collected(
    Spread,
    "spread",
    click.option(
        "--volumes",
        metavar="A,B,…",
        help="Folders, or tablespace:NAME, that tables and partitions go to in turn.",
    ),
    click.option(
        "--spread",
        type=click.IntRange(1, MOST),
        metavar="N",
        help="How many of the --volumes; without them folders beside the embedded engine.",
    ),
)
"""Adds them, and passes them as ``spread``."""
