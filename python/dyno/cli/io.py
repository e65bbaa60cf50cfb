"""``dyno io``: what a volume gives."""

from __future__ import annotations

from pathlib import Path

import click

from dyno.cli._options import Options, common, examples, parse_bytes, parse_seconds


@click.command(
    "io",
    short_help="Measure the storage under a folder.",
    epilog=examples(
        "dyno io /var/lib/postgresql          about a minute, 4 GiB test file",
        "dyno io . --size 512M --step 500ms   a quick look",
        "dyno io /data --json | jq .io",
    ),
)
@click.argument("volume", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--size", default="4G", show_default=True, help="Size of the test file.")
@click.option("--step", default="2s", show_default=True, help="Time measured at each depth.")
@click.option(
    "--ceiling", default=20.0, show_default=True, help="Latency ceiling on p95, milliseconds."
)
@common
def command(
    volume: Path,
    size: str,
    step: str,
    ceiling: float,
    options: Options,
) -> int:
    """Profile the volume under the folder VOLUME with a test file that is removed afterwards.

    Sequential reads and writes of 256 KiB, then random 8 KiB reads and a 70/30 mix at rising
    queue depth until the 95th percentile of reads or of writes passes the ceiling. All with
    O_DIRECT, past the page cache.
    """
    from dyno.cli import _stages as stages
    from dyno.cli._options import positive
    from dyno.cli._session import run_session
    from dyno.profile import IoPlan

    seconds = parse_seconds(step)
    plan = IoPlan(
        volume.absolute(),
        parse_bytes(size),
        seconds,
        warmup_s=seconds / 4,
        ceiling_ms=positive(ceiling, "--ceiling"),
    )
    record = {
        "volume": str(plan.volume),
        "file_bytes": plan.file_bytes,
        "step_s": seconds,
        "ceiling_ms": ceiling,
    }
    return run_session(
        options,
        "io",
        record,
        (),
        plan.volume,
        lambda session: stages.storage(session, plan),
    )
