"""``dyno watch``: a live page of a run, or a record of a database that Dyno does not load."""

from __future__ import annotations

import contextlib
import re
import sys
import threading
from collections.abc import Callable, Generator
from pathlib import Path

import click

from dyno.cli import _elsewhere
from dyno.cli._live import ATTACHED
from dyno.cli._options import Options, common, examples
from dyno.errors import UsageError

_POLL_S = 0.5
_URL = re.compile(r"[a-z][a-z0-9+.-]*:\S*")


@click.command(
    "watch",
    short_help="Show a live page of a run, or record a database.",
    epilog=examples(
        "dyno watch                      the newest run",
        "dyno watch 20261120T1402 --open",
        "dyno watch somebody-elses.tar.gz",
        "dyno watch dyno-runs/studies/settings   the newest run of a study",
        "dyno watch last --port 8080     then: ssh -L 8080:127.0.0.1:8080 thishost",
        "dyno watch postgresql://app@db1/shop --for 24h",
        "dyno watch postgresql://app@db1/shop --for 24h --agent ssh://db1",
        "dyno watch host: --for 10m      this machine alone",
    ),
)
@click.argument("what", metavar="[RUN|TARGET]", required=False)
@click.option(
    "--for",
    "length",
    metavar="TIME",
    help="How long to record TARGET: 90s, 30m, 24h.  [default: until Ctrl-C]",
)
@click.option(
    "--interval",
    metavar="TIME",
    help="Time between two samples of a recorded machine.  [default: 1s up to 2 h, else 10s]",
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Port.  [default: a free one]"
)
@click.option(
    "--host",
    metavar="ADDRESS",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on; others let other machines in, without encryption.",
)
@click.option("--open/--no-browser", "show", default=False, help="Open the page in the browser.")
@_elsewhere.options
@click.option(ATTACHED, "attached", is_flag=True, hidden=True)
@common
def command(
    what: str | None,
    length: str | None,
    interval: str | None,
    port: int,
    host: str,
    show: bool,
    attached: bool,
    options: Options,
    **elsewhere: tuple[str, ...],
) -> int:
    """Serve a live page of RUN on this machine until Ctrl-C, or record TARGET.

    RUN is a running or finished run: an id, a unique prefix of one, `last`, or the path of a bundle
    or of its .tar.gz; or the folder of a study, whose runs are shown as they go on. Without it, the
    newest run in --out is shown. The page needs the token in the printed URL. Metrics for
    Prometheus are at /metrics, with the token as bearer token.

    TARGET is the URL of a running server, or host: for this machine alone. Dyno records it without
    any load: the machine, and the database from inside. It creates nothing in the database; it
    reads its statistics once a second, and its statements and tables every ten minutes. If the
    database goes away, Dyno waits for it and records the gap. Ctrl-C or SIGTERM ends a recording
    like the end of --for, as with sar and iostat: the bundle is complete and the exit code is 0.
    Its report shows the busiest hour, the load of each volume, the waits, the top statements and
    the top tables.
    """
    if what is not None and _URL.fullmatch(what) and not Path(what).exists():
        from dyno.cli._record import record

        return record(what, length, interval, options, **elsewhere)
    recorded = {"for": length, "interval": interval, **elsewhere}
    for name, value in ((f"--{word}", value) for word, value in recorded.items()):
        if value:
            raise UsageError(f"{name} applies to a TARGET; the page of a run stays until Ctrl-C.")
    from dyno.live.access import Access
    from dyno.live.server import Stop, listen, serve

    _require_address(host)
    stop = Stop()
    if attached and what is not None:
        ended = threading.Event()
        _at_end_of_input(lambda: (ended.set(), stop.soon()))
        if not _begun(Path(what), ended):
            return 0
    with _folder(options.out, what) as folder:

        def ready(access: Access) -> None:
            click.echo(f"Live page: {access.url}")
            if show:
                click.launch(access.once())

        serve(folder, listen(host, port), ready, stop)
    return 0


@contextlib.contextmanager
def _folder(out: Path, what: str | None) -> Generator[Path]:
    """The folder of the bundle or study called ``what``; of the newest run without it.

    Raises:
        UsageError: If there is none.
    """
    from dyno.cli._bundles import named
    from dyno.live.shown import is_study

    if what is not None and is_study(Path(what)):
        yield Path(what).absolute()
        return
    with named(out, _newest(out) if what is None else what) as bundle:
        yield bundle.path


def _begun(folder: Path, ended: threading.Event) -> bool:
    """Waits for a run in a folder, which a study begins later; whether one came before the end."""
    from dyno.live.shown import is_study, newest_run

    while not ((folder / "run.json").is_file() or (is_study(folder) and newest_run(folder))):
        if ended.wait(_POLL_S):
            return False
    return True


def _newest(out: Path) -> str:
    """The path of the newest run.

    Raises:
        UsageError: If there is none.
    """
    from dyno.bundle.reader import list_bundles

    found = list_bundles(out)
    if not found:
        raise UsageError(f"No runs in {out}. Start with `dyno quickstart`.")
    return str(found[0].path)


def _require_address(host: str) -> None:
    """Refuses names and wildcards: the page answers only to the address that it was given.

    Raises:
        UsageError: With what to give.
    """
    import ipaddress

    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        raise UsageError(f"--host {host}: give an IP address of this machine.") from None
    if address.is_unspecified or address.is_multicast:
        raise UsageError(f"--host {host}: give one IP address of this machine.")
    if not address.is_loopback:
        click.echo(
            f"! Other machines can reach {host}. The page is not encrypted: use a trusted network, "
            "or ssh -L and no --host.",
            err=True,
        )


def _at_end_of_input(stop: Callable[[], object]) -> None:
    def wait() -> None:
        sys.stdin.buffer.read()
        stop()

    threading.Thread(target=wait, daemon=True, name="dyno-attached").start()
