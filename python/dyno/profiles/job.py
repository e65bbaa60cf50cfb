"""A job: one access pattern on volumes."""

from __future__ import annotations

from typing import Any, Literal

from dyno.bundle.model import Model

Pattern = Literal["random", "sequential", "zipf", "hot_spot"]
Arrivals = Literal["poisson", "fixed"]
SyncCall = Literal["fdatasync", "fsync"]

PAGE = 4096


class Block(Model):
    """A size in a mix of block sizes: bytes, and its percentage of accesses."""

    bytes: int
    percent: float = 100.0


class Sync(Model):
    """How writes are made durable: the call, and the number of writes per call."""

    call: SyncCall = "fdatasync"
    every: int = 1


class Job(Model):
    """An access pattern, in a closed loop at increasing depth or an open loop at increasing rates.

    Attributes:
        name: Unique in its curve.
        volumes: Names of its volumes; none for all.
        theta: Skew of ``zipf``; 0 is uniform.
        hot: For ``hot_spot``: percent of the accesses, and percent of the space they go to.
        streams: For ``sequential``: number of positions to read or write in turn.
        blocks: One size, or a mix.
        align: Alignment of offsets in bytes; None for the block size.
        read_percent: Share of reads.
        modify: Each access reads a block and writes it back changed.
        area: The part of the volume, in percent.
        depths: I/Os in flight on each volume, or with a rate the maximum; one per level.
        rates: Scheduled IOPS over all volumes, one per level; none in a closed loop.
    """

    name: str
    volumes: tuple[str, ...] = ()
    pattern: Pattern
    theta: float = 0.99
    hot: tuple[float, float] = (80.0, 20.0)
    streams: int = 1
    blocks: tuple[Block, ...]
    align: int | None = None
    read_percent: int
    modify: bool = False
    sync: Sync | None = None
    area: tuple[float, float] = (0.0, 100.0)
    depths: tuple[int, ...]
    rates: tuple[float, ...] = ()
    arrivals: Arrivals = "poisson"

    @property
    def block_bytes(self) -> int:
        """The largest block size."""
        return max(block.bytes for block in self.blocks)

    @property
    def reads(self) -> bool:
        """Whether the job reads."""
        return self.modify or self.read_percent > 0

    @property
    def writes(self) -> bool:
        """Whether the job writes."""
        return self.modify or self.read_percent < 100

    @property
    def levels(self) -> int:
        """Number of load levels."""
        return max(len(self.depths), len(self.rates))

    def in_flight_bytes(self, deepest: int | None = None) -> int:
        """Returns the buffer size of the deepest level on one volume, in whole pages."""
        block = -(-self.block_bytes // PAGE) * PAGE
        return max(*self.depths, deepest or 0) * block

    def request(self) -> dict[str, Any]:
        """Returns the job in the format of the engine."""
        made: dict[str, Any] = {
            "name": self.name,
            "pattern": self._order(),
            "read_percent": 100 if self.modify else self.read_percent,
            "modify": self.modify,
            "from_percent": self.area[0],
            "to_percent": self.area[1],
            "queue_depths": list(self.depths),
        }
        if len(self.blocks) == 1:
            made["block_bytes"] = self.block_bytes
        else:
            made["blocks"] = [block.model_dump() for block in self.blocks]
        if self.align is not None:
            made["align_bytes"] = self.align
        if self.volumes:
            made["targets"] = list(self.volumes)
        if self.sync is not None:
            made["sync"] = self.sync.model_dump()
        if self.rates:
            made["rate"] = {"per_second": list(self.rates), "arrivals": self.arrivals}
        return made

    def _order(self) -> Any:
        if self.pattern == "zipf":
            return {"zipf": {"theta": self.theta}}
        if self.pattern == "hot_spot":
            accesses, space = self.hot
            return {"hot_spot": {"access_percent": accesses, "space_percent": space}}
        if self.streams > 1:
            return {"streams": {"count": self.streams}}
        return self.pattern
