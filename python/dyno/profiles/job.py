"""A job: one kind of access to a volume."""

from __future__ import annotations

from typing import Any, Literal

from dyno.bundle.model import Model

Pattern = Literal["random", "sequential", "zipf", "hot_spot"]
Arrivals = Literal["poisson", "fixed"]
SyncCall = Literal["fdatasync", "fsync"]

PAGE = 4096


class Block(Model):
    """A size in a mix of block sizes: bytes, and the percent of accesses."""

    bytes: int
    percent: float = 100.0


class Sync(Model):
    """Writes are made durable: by which call, and after how many of them."""

    call: SyncCall = "fdatasync"
    every: int = 1


class Job(Model):
    """A pattern of accesses, in a closed loop at rising depth or in an open one at rising rates.

    Attributes:
        name: Unique in its curve.
        volumes: Names of the volumes it works on; none for all.
        theta: How skewed ``zipf`` is; 0 is even.
        hot: Of ``hot_spot``: percent of the accesses, and of the space that they go to.
        streams: Of ``sequential``: how many places are read or written in turn.
        blocks: One size, or a mix.
        align: What offsets are multiples of, bytes; None for the size of the block.
        read_percent: Share of reads.
        modify: Each access reads a block and writes it back changed.
        area: The part of the volume, in percent.
        depths: I/Os in flight on each volume, or with a rate the most of them; one for each level.
        rates: I/Os due a second over all volumes, one for each level; none in a closed loop.
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
        """The largest block."""
        return max(block.bytes for block in self.blocks)

    @property
    def reads(self) -> bool:
        """Whether it reads at all."""
        return self.modify or self.read_percent > 0

    @property
    def writes(self) -> bool:
        """Whether it writes at all."""
        return self.modify or self.read_percent < 100

    @property
    def levels(self) -> int:
        """How many levels of load it has."""
        return max(len(self.depths), len(self.rates))

    def in_flight_bytes(self, deepest: int | None = None) -> int:
        """Buffers of the deepest level on one volume, in whole pages."""
        block = -(-self.block_bytes // PAGE) * PAGE
        return max(*self.depths, deepest or 0) * block

    def request(self) -> dict[str, Any]:
        """The job as the engine takes it."""
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
