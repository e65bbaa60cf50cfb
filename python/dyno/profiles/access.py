"""The access part of a profile file: pattern, blocks, syncs and load."""

from __future__ import annotations

from typing import Any

from pydantic import Field, field_validator

from dyno.config.strict import Strict
from dyno.config.units import parse_bytes
from dyno.errors import UsageError
from dyno.profiles.job import Arrivals, Block, Job, Pattern, Sync, SyncCall

LARGEST_BLOCK = 16 << 20
DEEPEST = 4096
NAME = r"^[a-z][a-z0-9_]{0,60}$"
_KIB = 1024


class Access(Strict):
    """Fields common to curves and jobs."""

    pattern: Pattern | None = None
    theta: float | None = Field(default=None, ge=0, lt=10, allow_inf_nan=False)
    hot: str | None = Field(default=None, pattern=r"^\d{1,3}/\d{1,3}$")
    streams: int | None = Field(default=None, ge=1, le=DEEPEST)
    mix: dict[str, float] | None = None
    modify: bool = False
    sync: SyncCall | None = None
    every: int | None = Field(default=None, ge=1, le=1_000_000)
    area: list[float] | None = Field(default=None, min_length=2, max_length=2)
    align: str | None = None
    depths: list[int] | None = Field(default=None, min_length=1)
    rates: list[float] | None = Field(default=None, min_length=1)
    arrivals: Arrivals | None = None

    @field_validator("mix")
    @classmethod
    def _mixed(cls, mix: dict[str, float] | None) -> dict[str, float] | None:
        for text, percent in (mix or {}).items():
            block_size(text)
            if not 0 < percent <= 100:
                raise ValueError("use percent, above 0")
        if mix is not None and abs(sum(mix.values()) - 100) > 1e-6:
            raise ValueError("its percentages must add up to 100")
        return mix

    @field_validator("area")
    @classmethod
    def _part(cls, area: list[float] | None) -> list[float] | None:
        if area is not None and not 0 <= area[0] < area[1] <= 100:
            raise ValueError("use percent of the volume, the start before the end")
        return area

    @field_validator("align")
    @classmethod
    def _aligned(cls, text: str | None) -> str | None:
        if text is not None:
            block_size(text)
        return text

    @field_validator("depths")
    @classmethod
    def _depths(cls, depths: list[int] | None) -> list[int] | None:
        if any(not 1 <= depth <= DEEPEST for depth in depths or ()):
            raise ValueError(f"use 1 to {DEEPEST}")
        return depths

    @field_validator("rates")
    @classmethod
    def _rates(cls, rates: list[float] | None) -> list[float] | None:
        if any(not 0.001 <= rate <= 1e7 for rate in rates or ()):
            raise ValueError("use 0.001 to 10000000 per second")
        return rates

    def misfit(self) -> str | None:
        """Returns the conflict between fields, or None."""
        hot = None if self.hot is None else _shares(self.hot)
        faults = (
            (self.pattern is None, "pattern is missing"),
            (self.depths is None, "depths is missing"),
            (self.theta is not None and self.pattern != "zipf", 'theta is for pattern = "zipf"'),
            (hot is not None and self.pattern != "hot_spot", 'hot is for pattern = "hot_spot"'),
            (
                self.streams is not None and self.pattern != "sequential",
                'streams is for pattern = "sequential"',
            ),
            (self.every is not None and self.sync is None, "every is for sync"),
            (self.arrivals is not None and self.rates is None, "arrivals is for rates"),
            (
                hot is not None and not all(0 < share <= 100 for share in hot),
                "hot is percent of accesses / percent of space, such as 80/20",
            ),
        )
        return next((words for wrong, words in faults if wrong), None)

    def job(self, name: str, blocks: tuple[Block, ...], read_percent: int) -> Job:
        """Returns the specified job."""
        optional: dict[str, Any] = {
            "theta": self.theta,
            "hot": None if self.hot is None else _shares(self.hot),
            "streams": self.streams,
            "align": None if self.align is None else parse_bytes(self.align),
            "sync": None if self.sync is None else Sync(call=self.sync, every=self.every or 1),
            "area": None if self.area is None else tuple(self.area),
            "arrivals": self.arrivals,
        }
        return Job(
            name=name,
            pattern=self.pattern or "random",
            blocks=blocks,
            read_percent=read_percent,
            modify=self.modify,
            depths=tuple(self.depths or [1]),
            rates=tuple(self.rates or ()),
            **{key: value for key, value in optional.items() if value is not None},
        )

    @property
    def mixed(self) -> tuple[Block, ...]:
        """Returns the mix of block sizes, if any."""
        mix = self.mix or {}
        return tuple(Block(bytes=parse_bytes(text), percent=share) for text, share in mix.items())


class JobSpec(Access):
    """One of several concurrent jobs."""

    name: str = Field(pattern=NAME)
    volumes: list[str] | None = Field(default=None, min_length=1)
    block: str | None = None
    read: int | None = Field(default=None, ge=0, le=100)

    @field_validator("block")
    @classmethod
    def _sized(cls, text: str | None) -> str | None:
        if text is not None:
            block_size(text)
        return text

    def misfit(self) -> str | None:
        """Returns the conflict between fields, or None."""
        if (self.block is None) == (self.mix is None):
            return "set either block or mix"
        if self.read is None and not self.modify:
            return "read is missing"
        return super().misfit() or fits(self.modify, self.sync, {self.read or 0}, self.read)

    def made(self) -> Job:
        """Returns the job."""
        blocks = self.mixed or (Block(bytes=parse_bytes(self.block or "0")),)
        job = self.job(self.name, blocks, 100 if self.modify else self.read or 0)
        return job.model_copy(update={"volumes": tuple(self.volumes or ())})


def fits(modify: bool, sync: str | None, reads: set[int], given: object) -> str | None:
    """Returns the conflict between writes and reads, or None."""
    if modify and given is not None:
        return "modify reads and writes each block: leave out the share of reads"
    if sync is not None and (modify or reads != {0}):
        return "sync is for jobs that only write"
    return None


def block_size(text: str) -> int:
    """Parses a block size to bytes.

    Raises:
        ValueError: If it is invalid.
    """
    try:
        size = parse_bytes(text)
    except UsageError as error:
        raise ValueError(str(error).rstrip(".")) from None
    if not size or size % 512 or size > LARGEST_BLOCK:
        raise ValueError("use multiples of 512 bytes, at most 16M")
    return size


def curve_name(access: Access, read_percent: int, block_bytes: int | None) -> str:
    """``sequential_read_256k``, ``random_70_30_8k``, ``random_modify_8k``, ``log_write_4k``."""
    what = {100: "read", 0: "write"}.get(read_percent, f"{read_percent}_{100 - read_percent}")
    if access.modify:
        what = "modify"
    if block_bytes is None:
        size = "mix"
    elif block_bytes % _KIB == 0:
        size = f"{block_bytes // _KIB}k"
    else:
        size = f"{block_bytes}b"
    order = f"{access.pattern}_streams" if (access.streams or 1) > 1 else access.pattern
    ending = f"_{access.sync}_{access.every or 1}" if access.sync else ""
    return f"{order}_{what}_{size}{ending}"


def _shares(text: str) -> tuple[float, float]:
    first, second = text.split("/")
    return float(first), float(second)
