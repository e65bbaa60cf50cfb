"""The compiled half of Dyno: plans in as JSON, files of the bundle out, outcomes back as JSON."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import CapsuleType

class EngineError(Exception):
    """``args`` are the kind (snake case) and a one-line message."""

class Control:
    """A handle to watch and cancel a long call from another thread."""

    def __init__(self) -> None: ...
    def cancel(self) -> None: ...
    def finish(self) -> None: ...
    def hold(self) -> None: ...
    def release(self) -> None: ...
    @property
    def ready(self) -> bool: ...
    @property
    def cancelled(self) -> bool: ...
    def set_total(self, total: int) -> None: ...
    def set_step(self, step: str) -> None: ...
    def progress(self) -> dict[str, int | str]: ...

class ArrowStream:
    """Rows of a table; every stream taken from it generates them anew."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> CapsuleType: ...

class Latency:
    """A latency distribution: 1 ns to 1 h, three significant digits."""

    def __init__(self) -> None: ...
    def add(self, text: str) -> None: ...
    def merge(self, other: Latency) -> None: ...
    def used(self) -> tuple[bytes, bytes]:
        """Used slots (16 bits each), ascending, and their counts (64 bits)."""

    def encode(self) -> str: ...

class Histograms:
    """Many histograms, one a row."""

    @staticmethod
    def stored(
        offsets: NDArray[np.int32], texts: NDArray[np.uint8], rows: NDArray[np.int64]
    ) -> Histograms:
        """Some rows of an Arrow array of texts with these buffers; empty text has no latencies."""

    @staticmethod
    def single(latencies_ns: NDArray[np.int64]) -> Histograms:
        """Rows of one latency each; 0 is a row without one."""

class Sums:
    """The sums of rows that were added to a timeline, in its bins."""

class Timeline:
    """Latencies in bins of several widths; every level has bins ``factor`` times as wide."""

    def __init__(
        self,
        factor: int,
        levels: int,
        kept: int,
        held: int,
        quantiles: Sequence[float],
        heat_rows: Sequence[int],
    ) -> None:
        """Makes an empty one.

        Args:
            factor: Bins of a level that make one of the next.
            levels: Number of levels.
            kept: Newest bins of a level that need values.
            held: Newest bins of a level to which rows may still come.
            quantiles: Quantiles, 0 to 1, ascending.
            heat_rows: The row of the heat map of each slot.
        """

    def add(
        self,
        bins: NDArray[np.int64],
        rows: NDArray[np.int64],
        histograms: Histograms,
        newest: int,
    ) -> tuple[list[tuple[bytes, bytes, bytes]], Sums]:
        """Adds rows, each in its bin. The bins reach ``newest`` or further in the end.

        Returns:
            For each level: the bins with new values (64 bits), the slots of the quantiles of each
            (16 bits), and the rows of the heat map of each (32 bits). And the sums of these rows,
            for the timeline of several operations.
        """

    def add_sums(self, sums: Sequence[Sums]) -> list[tuple[bytes, bytes, bytes]]:
        """Adds what other timelines of the same shape have added; returns levels as :meth:`add`."""

    def whole(self) -> tuple[bytes, bytes]:
        """All latencies, as ``Latency.used``."""

def arrow_stream(
    workload: str,
    table: str,
    scale: float,
    seed: int,
    threads: int,
    control: Control,
    parts: int = 1,
    part: int = 1,
    days: int | None = None,
) -> ArrowStream: ...
def refresh_stream(
    table: str, scale: float, update_set: int, loaded: bool, control: Control
) -> ArrowStream: ...
def digest(
    rows: Iterable[Sequence[Any]],
    rounded: Sequence[bool],
    exact: Callable[[Any], str],
    cents: Callable[[Any], str],
) -> str: ...
def prepare(workload: str) -> None: ...
def generate(plan: str, control: Control) -> str: ...
def load(plan: str, control: Control) -> str: ...
def drive(plan: str, control: Control) -> str: ...
def scan_log(plan: str, control: Control) -> str: ...
def shape_log(plan: str, control: Control) -> str: ...
def replay_log(plan: str, control: Control) -> str: ...
def profile(plan: str, control: Control) -> str: ...
def parts() -> str: ...
def declare(tables: str) -> None: ...
def preview(script: str, seed: int, count: int) -> str: ...
def schema(workload: str) -> str: ...
def home(workload: str) -> str: ...
def rows(
    workload: str, table: str, scale: float, seed: int, days: int | None = None
) -> tuple[int, bool]: ...
def refresh_set(scale: float, update_set: int, loaded: bool) -> tuple[int, int, int, int, int]: ...
def sums(
    workload: str,
    table: str,
    scale: float,
    seed: int,
    threads: int,
    control: Control,
    days: int | None = None,
) -> str: ...
def load_constant(seed: int) -> int: ...
def derive_seed(seed: int, workload: str, user: int, purpose: str) -> int: ...
def tpch_answer(number: int) -> str: ...
def replay(
    blocks: NDArray[np.uint64], kinds: NDArray[np.uint8], plan: str, control: Control
) -> str:
    """Replays a trace over caches; JSON."""

def miss_ratios(
    blocks: NDArray[np.uint64], sizes: Sequence[int], sampled: int
) -> tuple[list[float], float]:
    """Miss ratios of LRU caches of these sizes, and the number of different blocks, estimated."""

def glob_fault(glob: str) -> str | None:
    """What is wrong with a pattern for paths; None if it is valid."""

def serve_mount(plan: str) -> None:
    """Serves a mount of the accelerator until it ends; raises OSError."""
