"""``dyno watch``: records a system that Dyno does not load."""

from __future__ import annotations

import click

from dyno.cli._options import Options, common, examples


@click.command(
    "watch",
    short_help="Record a running system that Dyno does not load.",
    epilog=examples(
        "dyno watch postgresql://app@db1/shop --for 24h",
        "dyno watch host: --for 10min --interval 1s",
    ),
)
@click.argument("target")
@click.option(
    "--for",
    "duration",
    metavar="TIME",
    help="How long to record: 90s, 30min, 24h.  [default: until Ctrl-C]",
)
@click.option(
    "--interval",
    metavar="TIME",
    help="Time between two samples of the machine.  [default: 1s up to 2 h, else 10s]",
)
@common
def command(options: Options, target: str, duration: str | None, interval: str | None) -> int:
    """Record TARGET without any load of Dyno's own: the machine, and the database from inside.

    TARGET is the URL of a running server, or host: for this machine alone. Dyno creates nothing in
    the database; it reads its statistics once a second, and its statements and tables every ten
    minutes. If the database goes away, Dyno waits for it and records the gap.

    Ctrl-C or SIGTERM ends the recording like the end of --for, as with sar and iostat: the bundle
    is whole, and the exit code is 0. The report shows the busiest hour, the load of each volume,
    the waits, the top statements and the top tables.
    """
    from dyno.cli._record import record

    return record(target, duration, interval, options)
