"""A read cache on flash in front of a private engine's files, for the time of a run."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from dyno.accelerate.attach import attached, folder, presets
from dyno.bundle.phases.accelerate import AccelerateDetail
from dyno.config.units import bytes_text, parse_bytes
from dyno.contracts.relations import NamesFiles
from dyno.contracts.relations import Relations as Known
from dyno.errors import DiskFullError, DynoError, TargetError, UsageError
from dyno.safety.unwritable import why
from dyno.workspace import places
from dyno.workspace.engine_folders import home_of

if TYPE_CHECKING:
    from dyno.contracts.target import Target, TargetUrl
    from dyno.plans.flash import FlashStart
    from dyno.plans.run import RunPlan
    from dyno.runner.session import Session

_ROOM = 2.0
"""Blocks that were written have several versions on flash, until their segments make way."""
_SHARE_OF_FREE = 0.9


@dataclass(frozen=True)
class Wanted:
    """A cache for a run.

    Attributes:
        flash: Folder on flash; the cache gets a folder of its own in it.
        size: Bytes; None for twice the size of the engine's files.
        start: What it holds at the start.
        record: What to cache before the run, if not all.
        scan_bytes: A sequential read of more bytes does not fill it.
        recorded: Whether the bundle gets a record of what it is asked.
    """

    flash: Path
    size: int | None
    start: FlashStart
    record: Path | None
    scan_bytes: int
    recorded: bool


def wanted(asked: RunPlan, url: TargetUrl, work: Literal["dss", "oltp"]) -> Wanted | None:
    """Returns the cache that a plan asks for.

    Raises:
        UsageError: If it cannot be.
    """
    asked.require_accelerable(url.scheme)
    if asked.accelerate is None:
        return None
    limited = {text.partition("=")[0].strip() for text in asked.limits}
    if own := sorted(word for word in limited if word.startswith(("read_", "write_"))):
        raise UsageError(
            f"--limit {own[0]} and --accelerate cannot be combined: the daemon of the cache reads "
            "and writes for the engine."
        )
    if asked.flash is not None and not asked.flash.is_dir():
        raise UsageError(f"No such folder: {asked.flash}. Mount the flash, or use another --flash.")
    size = None if asked.flash_size is None else parse_bytes(asked.flash_size)
    if size is not None:
        folder.require_size(size)
    if asked.prewarm is not None:
        from dyno.accelerate.attach import recording

        recording.read(asked.prewarm)
    scan = presets.SCAN_BYTES[work]
    return Wanted(
        asked.flash_folder, size, asked.accelerate, asked.prewarm, scan, asked.record_reads
    )


@dataclass
class Relations:
    """The relations in an engine's files, as they were when it was asked last.

    Attributes:
        wanted: Whether anybody needs them.
    """

    wanted: bool = False
    known: Known = lambda _: None

    def ask(self, target: Target) -> None:
        """Asks a target that is about to stop, if it knows them."""
        if self.wanted and isinstance(target, NamesFiles):
            with contextlib.suppress(DynoError):  # the server is gone
                self.known = target.relations()


@contextlib.contextmanager
def in_front(session: Session, url: TargetUrl, asked: Wanted | None) -> Generator[Relations]:
    """Attaches the cache before the engine starts, and detaches it after the engine's end.

    Raises:
        UsageError, TargetError: If it cannot be attached or detached.
    """
    home = home_of(session.out, url.name).resolve()
    relations = Relations(asked is not None and asked.recorded)
    if asked is None:
        yield relations
        return
    from dyno.accelerate.attach import recording

    title = f"Put a cache on flash in front of {url.name}"
    phase = session.recorder.phase(f"cache-{url.name}", title, AccelerateDetail(), url.name)
    with contextlib.ExitStack() as stack:
        with phase as recorded, session.events.phase(title) as progress:
            cache, kept = _attach(home, asked)
            stack.callback(attached.detach, home)
            pieces: list[recording.Piece] = []
            if asked.record is not None:
                pieces = recording.pieces_of(asked.record)
            elif asked.start == "prewarmed":
                pieces = recording.pieces_in(home, [home])
            recorded.detail = AccelerateDetail(
                size_bytes=folder.read(cache).size,
                start=asked.start if kept or pieces else "empty",
                prewarmed_bytes=recording.prewarm(home, pieces, progress) * recording.BLOCK,
            )
        if not asked.recorded:
            yield relations
            return
        begun = False
        try:
            with recording.recorded(cache):
                begun = True
                yield relations
        finally:
            if begun:
                to = session.recorder.path / recording.IN_BUNDLE
                recording.write(cache, to, relations.known)


def _attach(home: Path, asked: Wanted) -> tuple[Path, bool]:
    """Attaches the cache; returns its folder, and whether it has what an earlier run left."""
    cache, kept = _made(home, asked)
    try:
        attached.attach(cache)
    except TargetError:
        if not kept:
            raise
        # The engine's folder may be a copy of the one that the cache was made for.
        folder.remove(cache)
        cache, kept = _made(home, asked)
        attached.attach(cache)
    return cache, kept


def _made(home: Path, asked: Wanted) -> tuple[Path, bool]:
    """The folder of the cache, and whether it has what an earlier run left."""
    try:
        asked.flash.mkdir(mode=0o711, exist_ok=True)
    except OSError as error:
        raise DiskFullError(f"Cannot make {asked.flash}: {why(error, asked.flash)}") from error
    cache = places.claim(asked.flash, home) / "cache"
    attached.check(home, cache)
    if (cache / folder.MARK).exists():
        made = folder.read(cache)
        same = asked.size in (None, made.size) and made.scan_bytes == asked.scan_bytes
        if same and asked.start != "empty" and made.origin == str(home):
            return cache, True
        attached.refuse_attached(cache)
        folder.remove(cache)
    attachment = folder.Attachment(
        origin=str(home), size=asked.size or _size(home, asked.flash), scan_bytes=asked.scan_bytes,
        rules=presets.rules(), everyone=attached.for_everyone(),
    )  # fmt: skip
    try:
        folder.make(cache, attachment)
    except OSError as error:
        raise DiskFullError(
            f"Cannot make a cache of {bytes_text(attachment.size)} in {asked.flash}: "
            f"{why(error, cache)} Use a smaller --flash-size."
        ) from error
    return cache, False


def _size(home: Path, flash: Path) -> int:
    """As large as the engine's files need, if there is space."""
    own = sum(
        Path(folder_, name).lstat().st_size for folder_, _, names in os.walk(home) for name in names
    )
    free = shutil.disk_usage(flash).free
    return max(folder.LEAST, min(round(_ROOM * own), round(_SHARE_OF_FREE * free)))
