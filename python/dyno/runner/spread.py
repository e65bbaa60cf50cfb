"""Locations of tables and partitions of a load: volumes, or folders of the engine."""

from __future__ import annotations

from pathlib import Path

from dyno.contracts.layout import Layout
from dyno.contracts.target import TargetUrl
from dyno.errors import UsageError
from dyno.layouts.resolve import place
from dyno.layouts.spread import spread
from dyno.plans.flash import FlashVolumes
from dyno.plans.loading import LoadingPlan, Spread
from dyno.workspace import engine_folders
from dyno.workspace.engine_folders import home_of


def notes(asked: Spread) -> tuple[str, ...]:
    """Returns notes that affect how to read the results."""
    if not asked.beside or asked.spread == 1:
        return ()
    return (f"The {asked.spread} folders of --spread are on one device and share its bandwidth.",)


def over(
    asked: Spread, layout: Layout, url: TargetUrl, scale: float, days: int | None = None
) -> Layout:
    """Returns the layout on the requested volumes; unchanged if there are none.

    ``days`` are the initial days of the data; None for the workload's usual number.

    Raises:
        UsageError: If there are fewer volumes than requested.
    """
    if not asked.spreads:
        return layout
    if asked.beside and url.scheme != "embedded":
        raise UsageError(
            "--spread without --volumes needs an embedded engine. Name the volumes of this "
            "server: --volumes /mnt/a,/mnt/b or tablespace:NAME,…"
        )
    named = _beside(asked, url) if asked.beside else _named(asked)
    return spread(layout, named, scale, days)


def on_flash(asked: FlashVolumes, layout: Layout, url: TargetUrl) -> Layout:
    """Returns the layout with its log and temporary files on flash, as far as requested.

    Raises:
        UsageError: If the layout has them elsewhere, or the folder is unknown.
    """
    given = {"log": asked.flash_log, "temp": asked.flash_temp}
    for part in (part for part, wanted in given.items() if wanted):
        if getattr(layout, part):
            raise UsageError(f"Layout {layout.name} has volumes.{part}: omit --flash-{part}.")
        if asked.flash is None and url.scheme != "embedded":
            raise UsageError(f"--flash-{part} needs --flash FOLDER for a server at a URL.")
        layout = layout.model_copy(update={part: str(asked.flash_folder)})
    return layout


def prepare(asked: LoadingPlan, url: TargetUrl) -> None:
    """Creates the folders if they belong to Dyno."""
    if asked.flash is None and (asked.flash_log or asked.flash_temp):
        asked.flash_folder.mkdir(mode=0o711, parents=True, exist_ok=True)
    if asked.beside:
        engine_folders.claim(asked.out, url.name)
        for place in _beside(asked, url):
            Path(place).mkdir(parents=True, exist_ok=True)


def _named(asked: Spread) -> list[str]:
    texts = [text.strip() for text in (asked.volumes or "").split(",")]
    found = [place(text, "--volumes") for text in texts if text]
    if len(set(found)) < len(found) or not found:
        raise UsageError(f"--volumes '{asked.volumes}': name each once, separated by commas.")
    if asked.spread is not None and asked.spread > len(found):
        raise UsageError(f"--spread {asked.spread} needs as many --volumes; {len(found)} given.")
    return found[: asked.spread]


def _beside(asked: Spread, url: TargetUrl) -> list[str]:
    """Returns folders within the engine folder; their lifetime is that of the engine."""
    folder = home_of(asked.out, url.name) / "volumes"
    return [str(folder / str(number + 1)) for number in range(asked.spread or 0)]
