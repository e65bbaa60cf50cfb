"""``dyno accelerate``: a flash device in front of a slow volume."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dyno.cli import _attach, _move, _plan, _prewarm
from dyno.cli._options import Options, common, examples
from dyno.safety import plainjson
from dyno.safety.text import shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from dyno.accelerate.simulate import Curve, Simulated, Writes
    from dyno.accelerate.trace import Trace

_LATENCY = click.FloatRange(0, 3_600_000, min_open=True)
_WIDTH, _MOST_NAMED = 32, 20
_SIZES = ("1%", "2%", "5%", "10%", "20%", "50%")


@click.group(
    "accelerate",
    short_help="Put a flash device in front of a slow volume.",
    epilog=examples(
        "dyno accelerate plan last --flash /mnt/flash",
        "dyno accelerate simulate web.csv --size 64G --flash-ms 0.1 --origin-ms 8",
        "dyno accelerate apply /srv/dwh --flash /flash/dwh --size 500G --work dss",
        "dyno accelerate status",
        "dyno accelerate detach /srv/dwh",
        "dyno accelerate move temp postgresql://dba@db1/shop --flash /flash",
    ),
)
def command() -> None:
    """Put a flash device in front of a slow volume."""


for verb in (
    _plan.plan,
    _attach.apply,
    _attach.status,
    _prewarm.record,
    _prewarm.prewarm,
    _attach.detach,
    _attach.remove,
    _move.move,
):
    command.add_command(verb)


@command.command(
    "simulate",
    short_help="Show the hit ratio of caches for a trace.",
    epilog=examples(
        "dyno accelerate simulate disk.blkparse",
        "dyno accelerate simulate last     a run with --record-reads",
        "dyno accelerate simulate web.csv.gz --format msr --size 8G --size 32G",
        "dyno accelerate simulate disk.iolog --policy s3-fifo --writes ignore",
        "dyno accelerate simulate disk.blkparse --flash-ms 0.1 --origin-ms 8",
        "dyno accelerate simulate huge.oracleGeneral.zst --sample 0.01",
    ),
)
@click.argument("trace", metavar="TRACE|RUN")
@click.option("--format", "file_format", help="Format of TRACE.  [default: by its name]")
@click.option(
    "--size", "sizes", multiple=True, metavar="SIZE",
    help="Size of the cache: 64G, or 10% of the blocks of the trace; repeatable.",
)  # fmt: skip
@click.option(
    "--policy", "policies", multiple=True, metavar="NAME",
    help="Policy: lru, arc, 2q, lirs, s3-fifo, flash (S3-FIFO by segments), w-tiny-lfu, or belady, "
    "the optimum; repeatable.  [default: all]",
)  # fmt: skip
@click.option("--block", default="8K", show_default=True, help="Size of a block.")
@click.option(
    "--writes", type=click.Choice(["allocate", "update", "ignore"]), default="allocate",
    show_default=True,
    help="On a write: cache the block, update it if it is cached, or ignore the write.",
)  # fmt: skip
@click.option(
    "--sample", type=click.FloatRange(0, 1, min_open=True), default=1.0, show_default=True,
    help="Share of the blocks to simulate; 0.01 is exact enough for traces of many blocks.",
)  # fmt: skip
@click.option("--flash-ms", type=_LATENCY, help="Latency of a hit.")
@click.option("--origin-ms", type=_LATENCY, help="Latency of a miss.")
@common
def simulate(
    trace: str,
    file_format: str | None,
    sizes: tuple[str, ...],
    policies: tuple[str, ...],
    block: str,
    writes: Writes,
    sample: float,
    flash_ms: float | None,
    origin_ms: float | None,
    options: Options,
) -> int:
    """Show the hit ratio of caches of several sizes and policies for the accesses in TRACE.

    TRACE is the output of blkparse, a CSV file of MSR Cambridge, an I/O log of fio, or a trace of
    libCacheSim; it may be compressed (.gz, .zst). RUN is a run with --record-reads: its id, `last`
    or the path of its bundle. Writes are never hits. The optimum, which knows later accesses,
    bounds every policy.
    """
    import contextlib

    from dyno.accelerate import formats
    from dyno.accelerate import simulate as simulator
    from dyno.cli._bundles import recorded
    from dyno.cli._console import Console
    from dyno.config.units import parse_bytes
    from dyno.errors import UsageError, nearest
    from dyno.safety.unwritable import why

    if (flash_ms is None) != (origin_ms is None):
        raise UsageError("Give both --flash-ms and --origin-ms, or neither.")
    for name in policies:
        if name not in simulator.POLICIES:
            raise UsageError(f"Unknown policy '{name}'. {nearest(name, simulator.POLICIES)}")
    block_bytes = parse_bytes(block)
    with contextlib.ExitStack() as stack:
        path = Path(trace) if _is_file(trace) else stack.enter_context(recorded(options.out, trace))
        try:
            read = formats.read(path, block_bytes, file_format)
        except OSError as error:
            raise UsageError(f"Cannot read {path}: {why(error, path)}") from error
    footprint = simulator.footprint(read)
    given = (_capacity(size, footprint, read) for size in sizes or _SIZES)
    capacities = list(dict.fromkeys(given))
    names = dict.fromkeys(policies or simulator.POLICIES)
    console = Console(quiet=options.quiet)
    caches = [(name, blocks) for blocks in capacities for name in names]
    with console.phase(f"Simulate {len(caches)} caches") as progress:
        found = simulator.simulate(read, caches, writes, sample, progress)
    curve = simulator.curve(read, capacities)
    latencies = None if flash_ms is None or origin_ms is None else (flash_ms, origin_ms)
    if options.as_json:
        head: dict[str, Any] = {"run": None, "bundle": None, "valid": True, "reasons": []}
        document = _document(read, footprint, found, curve, latencies)
        click.echo(plainjson.dumps({**head, "trace": str(trace), "sample": sample, **document}))
        return 0
    click.echo(shown("\n".join(_lines(Path(trace).name, read, footprint, found, latencies))))
    return 0


def _is_file(text: str) -> bool:
    """Whether a trace was named, and not a run or its archive; one that is gone has a suffix."""
    path = Path(text)
    if path.name.endswith(".tar.gz"):
        return False
    return path.is_file() or (not path.exists() and bool(path.suffix))


def _capacity(text: str, footprint: int, trace: Trace) -> int:
    """Blocks of a size that a user gave.

    Raises:
        UsageError: If it is not a size.
    """
    from dyno.config.units import parse_bytes
    from dyno.errors import UsageError

    if text.endswith("%"):
        try:
            share = float(text[:-1]) / 100
        except ValueError:
            share = 0.0
        if not 0 < share <= 10:
            raise UsageError(f"'{text}' is not a valid share; write it like 10%.")
        return max(1, round(share * footprint))
    if trace.block_bytes is None:
        raise UsageError("The trace has objects without blocks. Give --size as a share, like 10%.")
    return max(1, parse_bytes(text) // trace.block_bytes)


def _lines(
    name: str,
    trace: Trace,
    footprint: int,
    found: list[Simulated],
    latencies: tuple[float, float] | None,
) -> list[str]:
    from dyno.accelerate.simulate import OPTIMUM, speed_up
    from dyno.config.units import seconds_text

    over = "" if not trace.seconds else f" in {seconds_text(trace.seconds)}"
    names = list(dict.fromkeys(one.policy for one in found))
    ratios = {(one.blocks, one.policy): one.hit_ratio for one in found}

    def table(title: str, columns: list[str], cell: Callable[[float], str]) -> list[str]:
        widths = {name: max(len(name), 5) + 1 for name in columns}
        heads = "".join(f"{name:>{width}}" for name, width in widths.items())
        lines = ["", title, f"{'cache':>20}{heads}"]
        for blocks in dict.fromkeys(one.blocks for one in found):
            cells = "".join(
                f"{cell(ratios[blocks, name]):>{width}}" for name, width in widths.items()
            )
            share = f"{100 * blocks / footprint:.0f} %"
            lines.append(f"{_size(blocks, trace):>14}{share:>6}{cells}")
        return lines

    lines = [
        f"Trace   {name}",
        f"        {trace.blocks.size:,} accesses{over}, {trace.reads:,} of them reads",
        f"        footprint {_size(footprint, trace)}",
        *table("Hit ratio of reads in %", names, lambda ratio: f"{100 * ratio:.1f}"),
    ]
    if latencies is not None:
        flash, origin = latencies
        title = f"Upper bound for the speed-up of reads (hit {flash:g} ms, miss {origin:g} ms)"
        lines += table(title, names, lambda ratio: f"{speed_up(ratio, flash, origin):.1f}×")
    policy = next((name for name in reversed(names) if name != OPTIMUM), None)
    if policy is not None and len(trace.names) > 1:
        lines += _by_kind(policy, trace, [one for one in found if one.policy == policy])
    return lines


def _by_kind(policy: str, trace: Trace, found: list[Simulated]) -> list[str]:
    """The hit ratio of the devices, files or relations with most reads, a line each."""
    sizes = "".join(f"{_size(one.blocks, trace):>12}" for one in found)
    head = f"{'':{_WIDTH}}{'reads':>12}{sizes}"
    lines = ["", f"Hit ratio of reads in % by what was read, {policy}", head]

    def line(name: str, kinds: list[int]) -> str:
        reads = sum(found[0].reads[kind] for kind in kinds)
        hits = [sum(one.hits[kind] for kind in kinds) for one in found]
        cells = "".join(f"{100 * hit / reads:12.1f}" for hit in hits)
        return f"{name[-_WIDTH:]:{_WIDTH}}{reads:>12,}{cells}"

    kinds = [kind for kind, reads in enumerate(found[0].reads[: len(trace.names)]) if reads]
    kinds.sort(key=lambda kind: -found[0].reads[kind])
    lines += [line(trace.names[kind], [kind]) for kind in kinds[:_MOST_NAMED]]
    rest = kinds[_MOST_NAMED:]
    return [*lines, line(f"{len(rest)} others", rest)] if rest else lines


def _size(blocks: int, trace: Trace) -> str:
    from dyno.config.units import bytes_text

    if trace.block_bytes is None:
        return f"{blocks:,} objects"
    return bytes_text(blocks * trace.block_bytes)


def _document(
    trace: Trace,
    footprint: int,
    found: list[Simulated],
    curve: Curve,
    latencies: tuple[float, float] | None,
) -> dict[str, Any]:
    from dyno.accelerate.simulate import speed_up

    def row(one: Simulated) -> dict[str, Any]:
        kinds = {
            name: {"reads": reads, "hits": hits}
            for name, reads, hits in zip(trace.names, one.reads, one.hits, strict=False)
        }
        fast = None if latencies is None else speed_up(one.hit_ratio, *latencies)
        return {
            "policy": one.policy,
            "blocks": one.blocks,
            "hit_ratio": one.hit_ratio,
            "kinds": kinds,
            "speed_up_at_most": fast,
        }

    return {
        "accesses": int(trace.blocks.size),
        "reads": trace.reads,
        "block_bytes": trace.block_bytes,
        "footprint_blocks": footprint,
        "seconds": trace.seconds,
        "caches": [row(one) for one in found],
        "curve": {"blocks": curve.blocks, "hit_ratios": curve.hit_ratios},
    }
