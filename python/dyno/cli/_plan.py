"""``dyno accelerate plan``: what to put on flash for an observed load, and what it gains."""

from __future__ import annotations

import shutil
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from dyno.cli._options import Options, common, examples
from dyno.safety import plainjson
from dyno.safety.text import plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dyno.accelerate.proposal import Choice, Flash, Gain
    from dyno.cli._console import Console
    from dyno.runner.traffic import Traffic

_USABLE = 0.9
"""Share of the free space of flash that a plan uses."""
_ROOM = 2.0
"""A cache of so many times the data holds all of it, also while it is written."""
_NAMES: Mapping[Choice, str] = {"cache": "read cache", "log": "log", "temp": "temporary files"}


@click.command(
    "plan",
    short_help="Propose what to put on flash, from a run.",
    epilog=examples(
        "dyno accelerate plan last --flash /mnt/flash",
        "dyno accelerate plan RUN --flash /mnt/flash --flash-size 800G",
        "dyno accelerate plan RUN --flash /mnt/flash --record morning.dyno.parquet",
    ),
)
@click.argument("run")
@click.option(
    "--flash", type=click.Path(path_type=Path, file_okay=False), required=True,
    help="A folder on the flash device. Its latencies are measured in two seconds.",
)  # fmt: skip
@click.option(
    "--flash-size", metavar="SIZE", help="Use this much of it.  [default: 90 % of what is free]"
)
@click.option(
    "--data-size", metavar="SIZE", help="Size of the database, if the run did not record it."
)
@click.option("--phase", help="The phase of the run to plan for.  [default: the last one]")
@click.option(
    "--record", type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="File from `dyno accelerate record`, for the hit ratio of the cache.  [default: the "
    "record of the run, if it has one]",
)  # fmt: skip
@common
def plan(
    run: str, flash: Path, flash_size: str | None, data_size: str | None, phase: str | None,
    record: Path | None, options: Options,
) -> int:  # fmt: skip
    """Propose which parts of a database to put on flash, from the waits that RUN observed.

    RUN is a run of transactions or queries, or a recording of `dyno watch`, on PostgreSQL, MariaDB
    or SQL Server: its id, `last`, or the path of a bundle or of its .tar.gz. The plan divides flash
    into volumes for the log and temporary files and a read cache of the rest, and states the
    expected gain, with its 95 % interval. Nothing is changed.
    """
    from dyno.accelerate import latency, proposal
    from dyno.accelerate.attach import recording
    from dyno.cli._bundles import named
    from dyno.cli._console import Console
    from dyno.config.units import parse_bytes
    from dyno.errors import UsageError
    from dyno.runner import traffic

    if not flash.is_dir():
        raise UsageError(f"No such folder: {flash}. Mount the flash, or use another --flash.")
    console = Console(quiet=options.quiet, as_json=options.as_json)
    with named(options.out, run) as bundle:
        found = traffic.of_run(bundle, phase)
        data = found.data_bytes if data_size is None else parse_bytes(data_size)
        if data is None:
            raise UsageError(f"{run} has no size of the database. Give --data-size.")
        space = (
            round(_USABLE * shutil.disk_usage(flash).free)
            if flash_size is None
            else parse_bytes(flash_size)
        )
        split = _split(found, data, space)
        own = bundle.path / recording.IN_BUNDLE
        record = own if record is None and own.is_file() else record
        hits = _hits(record, split["cache"], data, console)
    speeds = latency.measure(flash)
    chosen = proposal.proposed(found.load, speeds, hits)
    gains: dict[Choice, Gain] = {
        one: proposal.gain(found.load, speeds, hits, frozenset({one})) for one in split
    }
    whole = proposal.gain(found.load, speeds, hits, chosen)
    if options.as_json:
        click.echo(
            plainjson.dumps({
                "run": bundle.run.run, "bundle": str(bundle.path), "valid": True, "reasons": [],
                "phase": found.phase.name, "data_bytes": data, "flash_bytes": space,
                "flash_read_ms": float(speeds.read_ms.mean()),
                "flash_write_ms": float(speeds.write_ms.mean()),
                "origin_read_ms": found.load.read_ms, "origin_commit_ms": found.load.commit_ms,
                "shares": _shares(found), "hit_ratio": hits,
                "bytes": split, "chosen": sorted(chosen),
                "gains": {name: vars(one) for name, one in gains.items()}, "gain": vars(whole),
            })
        )  # fmt: skip
        return 0
    click.echo("\n".join(_lines(found, speeds, split, hits, chosen, gains, whole, data, flash)))
    return 0


def _split(found: Traffic, data: int, space: int) -> dict[Choice, int]:
    """Bytes of flash for each part: the cache gets the rest, and no more than the data needs."""
    log = min(found.log_bytes, space // 2)
    temp = min(found.temp_bytes, (space - log) // 2)
    return {"log": log, "temp": temp, "cache": min(round(_ROOM * data), space - log - temp)}


def _hits(record: Path | None, cache: int, data: int, console: Console) -> tuple[float, float]:
    """Lowest and highest hit ratio of a warm cache.

    With a record: of the job from an empty cache that has room for half of its blocks, as rewritten
    ones leave holes; and of the same job again after it, in a cache without holes. A block that is
    written enters the cache only if it was there. Without a record: reads that are spread evenly
    hit by the cache's share of the data, all others more.
    """
    if record is None:
        return min(1.0, cache / (_ROOM * data)), 1.0
    from dyno.accelerate import formats, simulate

    trace = formats.read(record, 8192, None)
    blocks = max(1, cache // 8192)
    with console.phase("Simulate the cache") as progress:
        caches = [("flash", max(1, round(blocks / _ROOM))), ("flash", blocks)]
        once = simulate.simulate(trace, caches, "update", 1.0, progress)
        twice = simulate.simulate(trace.repeated(2), caches[1:], "update", 1.0, progress)
    least, most = (one.hit_ratio for one in once)
    return least, max(least, 2 * twice[0].hit_ratio - most)


def _shares(found: Traffic) -> dict[str, float]:
    waits = {part: float(values.mean()) for part, values in found.load.waits.items()}
    whole = max(sum(waits.values()), found.load.users, 1e-9)
    return {part: sessions / whole for part, sessions in waits.items() if part != "rest"}


def _lines(
    found: Traffic, speeds: Flash, split: Mapping[Choice, int], hits: tuple[float, float],
    chosen: frozenset[Choice], gains: Mapping[Choice, Gain], whole: Gain, data: int, flash: Path,
) -> list[str]:  # fmt: skip
    from dyno.config.units import bytes_text
    from dyno.report.kit.formats import rounded

    shares = _shares(found)
    waits = ", ".join(f"{name} {100 * share:.0f} %" for name, share in shares.items())
    slow = [
        f"{what} {rounded(value)} ms"
        for what, value in (("read", found.load.read_ms), ("commit", found.load.commit_ms))
        if value
    ]
    low, high = hits
    ratio = f"{100 * low:.0f} to {100 * high:.0f} %" if high - low > 0.005 else f"{100 * low:.0f} %"
    lines = [
        f"Phase    {plain(found.phase.title)}",
        f"Sessions {waits}",
        f"Now      {', '.join(slow) or 'no reads, no commits'}; data {bytes_text(data)}",
        f"Flash    read {rounded(float(speeds.read_ms.mean()))} ms, commit "
        f"{rounded(float(speeds.write_ms.mean()))} ms "
        "(means of a second each)",
        "",
        f"{'on flash':18}{'size':>10}  gain alone",
    ]
    for one, size in split.items():
        mark = "" if one in chosen else "   not worth it"
        of_cache = f"; {ratio} of the reads hit" if one == "cache" else ""
        lines.append(
            f"{_NAMES[one]:18}{bytes_text(size):>10}  {_times(gains[one])}{of_cache}{mark}"
        )
    what = "throughput" if found.load.users else "speed of a transaction"
    limit = f", limited by {whole.bound}" if whole.bound else ""
    named = " and ".join(_NAMES[one] for one in split if one in chosen)
    lines += ["", f"Expected with {named}: {what} {_times(whole)}{limit}." if chosen else
              "Nothing in this load is worth putting on flash."]  # fmt: skip
    return [*lines, *_commands(found, split, chosen, flash)]


def _times(gain: Gain) -> str:
    return f"× {gain.times:.2f} [{gain.low:.2f}, {gain.high:.2f}]"


def _commands(
    found: Traffic, split: Mapping[Choice, int], chosen: frozenset[Choice], flash: Path
) -> list[str]:
    """What puts it on flash, and what proves it."""
    from dyno.contracts.flash import lacks, no_cache
    from dyno.contracts.target import product_of

    if not chosen:
        return []
    place, size = plain(str(flash)), f"{split['cache'] >> 20}M"
    work = "dss" if found.phase.kind == "dss" else "oltp"
    if found.target.url.startswith("embedded:"):
        loads = "".join(f" --flash-{one}" for one in ("log", "temp") if one in chosen)
        steps = [f"dyno load … --flash {place}{loads}"] if loads else []
        if "cache" in chosen:
            steps.append(f"dyno run … --accelerate prewarmed --flash {place} --flash-size {size}")
        proof = f"  dyno study accelerate-{work} --with run.flash={place}"
        proof += f" --with load.flash={place}" if work == "oltp" else ""
        return ["", "Do it:", *(f"  {step}" for step in steps),
                "Test it, with --out on the slow volume:", proof]  # fmt: skip
    folder = found.target.volumes.get("data", {}).get("path")
    folder = plain(quote(folder)) if isinstance(folder, str) and folder else "DATA-FOLDER"
    apply = f"dyno accelerate apply {folder} --flash {place}/cache --size {size} --work {work}"
    where = f"{quote(found.target.url)} --flash {quote(str(flash.absolute()))}"
    product = product_of(str(found.phase.target))
    how: dict[Choice, str] = {
        "cache": _or_why(f"{apply}    with the server stopped", no_cache(product)),
        "log": _or_why(f"dyno accelerate move log {where}", lacks(product, "log")),
        "temp": _or_why(f"dyno accelerate move temp {where}", lacks(product, "temp")),
    }
    steps = [plain(step) for one, step in how.items() if one in chosen]
    return ["", "Do it:", *(f"  {step}" for step in steps)]


def _or_why(step: str, reason: str | None) -> str:
    """A step, or why the target cannot take it."""
    return step if reason is None else f"# not with dyno: {reason}"
