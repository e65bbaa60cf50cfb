"""Flash in front of a slow volume: a read cache for a run, and a volume for the log of a load."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from dyno.errors import UsageError
from dyno.plans.fields import Folder, Plan, Size

FlashStart = Literal["kept", "empty", "prewarmed"]
"""What a cache holds at the start of a run: what the last run left in it, nothing, or all files."""


class OnFlash(Plan):
    """A folder on flash.

    Attributes:
        flash: The folder; None for ``OUT/flash``.
    """

    flash: Folder | None = None

    @property
    def flash_folder(self) -> Path:
        """The folder on flash."""
        return self.out / "flash" if self.flash is None else self.flash


class FlashVolumes(OnFlash):
    """What a load puts on flash.

    Attributes:
        flash_log: Whether the write-ahead log lies there.
        flash_temp: Whether temporary files lie there.
    """

    flash_log: bool = False
    flash_temp: bool = False


class Accelerated(OnFlash):
    """A read cache on flash in front of the files of a private engine, for a run.

    Attributes:
        accelerate: What it holds at the start; None for no cache.
        flash_size: Its size; None for twice that of the engine's files.
        prewarm: A record of what a job reads, to be cached before the run.
        record_reads: Whether to record in the bundle what the cache is asked.
    """

    accelerate: FlashStart | None = None
    flash_size: Size | None = None
    prewarm: Folder | None = None
    record_reads: bool = False

    def require_accelerable(self, scheme: str) -> None:
        """Refuses options without effect, and targets whose files are not Dyno's.

        Raises:
            UsageError: With the option.
        """
        for name in ("flash_size", "prewarm", "record_reads"):
            if self.given(name) and self.accelerate is None:
                raise UsageError(f"{self.option(name)} requires --accelerate.")
        if self.accelerate is not None and scheme != "embedded":
            raise UsageError(
                "--accelerate requires a private engine, such as embedded:postgresql. Put a cache "
                "in front of a server of your own with `dyno accelerate apply`."
            )
        if self.prewarm is not None and self.accelerate == "prewarmed":
            raise UsageError("--prewarm and --accelerate prewarmed cannot be combined.")
