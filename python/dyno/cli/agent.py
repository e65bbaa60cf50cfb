"""``dyno agent``: lets runs on other machines observe this one."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from dyno.agent.protocol import DEFAULT_PORT
from dyno.cli._options import examples

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command(
    "agent",
    short_help="Serve this machine's samples to runs on other machines.",
    epilog=examples(
        "dyno agent --token-file ~/.dyno-token",
        "dyno agent --token-file token --listen 10.0.0.5 --cert c.pem --key k.pem",
        "dyno run tpcc --target postgresql://bench@db1/bench --agent ssh://db1",
        "dyno run tpcc --target URL --agent 'https://db1:7411?token_file=token'",
    ),
)
@click.option(
    "--listen",
    "host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="IP address of this machine to listen on.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=DEFAULT_PORT,
    show_default=True,
    help="Port; 0 for a free one.",
)
@click.option(
    "--token-file", type=_FILE, help="File with the token, mode 0600; created if it is missing."
)
@click.option("--cert", type=_FILE, help="Certificate (PEM) for HTTPS.")
@click.option("--key", type=_FILE, help="Its key, if it is in another file.")
@click.option(
    "--client-ca", type=_FILE, help="Admit clients whose certificate these authorities signed."
)
@click.option(
    "--plain-http", is_flag=True, help="Allow HTTP without TLS on an address others can reach."
)
@click.option(
    "--keep",
    "minutes",
    type=click.FloatRange(0.05, 60),
    default=10.0,
    show_default=True,
    help="Minutes of samples to keep for clients that were cut off.",
)
@click.option(
    "--with-stdin",
    is_flag=True,
    help="Read the token from standard input, and end when that ends (used by ssh://).",
)
def command(
    host: str,
    port: int,
    token_file: Path | None,
    cert: Path | None,
    key: Path | None,
    client_ca: Path | None,
    plain_http: bool,
    minutes: float,
    with_stdin: bool,
) -> int:
    """Sample this machine once a second, and serve the samples to runs that have the token.

    The token comes from DYNO_AGENT_TOKEN or --token-file. The agent reads /proc and /sys, changes
    nothing, and needs no database account. Run it as root or as the database's user, so that it may
    see the server's files. Ctrl-C ends it.
    """
    import signal
    import threading

    from dyno.agent.listen import Where
    from dyno.agent.token import VARIABLE, make_token, read_token
    from dyno.errors import UsageError
    from dyno.runner.agent import serve

    ended = threading.Event()
    if with_stdin:
        token = sys.stdin.readline(4096).strip()
    else:
        if token_file is not None and not token_file.exists():
            make_token(token_file)
            click.echo(f"Wrote a new token to {token_file}.", err=True)
        token = read_token(token_file)
    if not token and client_ca is None:
        raise UsageError(f"Set {VARIABLE}, or give --token-file FILE or --client-ca FILE.")

    def end(_number: int, _frame: object) -> None:
        ended.set()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)
    if with_stdin:
        watcher = threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True)
        watcher.start()
    serve(
        token,
        Where(host, port, cert, key, client_ca, plain_http),
        ended,
        minutes=minutes,
        idle_s=minutes * 60 if with_stdin else None,
        ready=lambda url: click.echo(f"The agent listens on {url}.", err=True),
    )
    return 0
