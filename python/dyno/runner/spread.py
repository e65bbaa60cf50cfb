"""Places for the tables and partitions of a load: volumes, or folders of Dyno's own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dyno.errors import UsageError

if TYPE_CHECKING:
    from dyno.contracts.layout import Layout
    from dyno.contracts.target import TargetUrl

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

    @property
    def own(self) -> bool:
        """Whether the places are folders of Dyno's own, which lie where the engine does."""
        return self.asked and self.volumes is None

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the figures should know."""
        if not self.own or self.spread == 1:
            return ()
        return (f"The {self.spread} folders of --spread lie on one device and share its speed.",)

    def over(self, layout: Layout, url: TargetUrl, scale: float, out: Path) -> Layout:
        """The layout on the volumes, or as it is if none are asked for.

        Raises:
            UsageError: If there are fewer volumes than asked for.
        """
        from dyno.layouts.spread import spread

        if not self.asked:
            return layout
        if self.own and url.scheme != "embedded":
            raise UsageError(
                "--spread without --volumes makes folders beside an embedded engine; name the "
                "volumes of this server: --volumes /mnt/a,/mnt/b or tablespace:NAME,…"
            )
        return spread(layout, self._beside(url, out) if self.own else self._named(), scale)

    def prepare(self, url: TargetUrl, out: Path) -> None:
        """Makes the folders, if they are Dyno's own."""
        from dyno.workspace import engine_folders

        if self.own:
            engine_folders.claim(out, url.name)
            for place in self._beside(url, out):
                Path(place).mkdir(parents=True, exist_ok=True)

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
        from dyno.workspace.engine_folders import home_of

        folder = home_of(out, url.name) / "volumes"
        return [str(folder / str(number + 1)) for number in range(self.spread or 0)]
