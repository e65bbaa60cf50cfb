"""``dyno certify``: measures a data warehouse configuration and issues a one-page certificate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dyno.cli import _elsewhere, _limits, _live, _settings
from dyno.cli._options import Options, chosen, common, examples
from dyno.cli._strictly import SCALE, SEED, TIME
from dyno.cli._work import conduct
from dyno.errors import closest
from dyno.plans.certify import USERS, CertifyPlan
from dyno.safety import plainjson

if TYPE_CHECKING:
    from dyno.runner.certified import Verified

_FILE = click.Path(path_type=Path, dir_okay=False)


class CertifyGroup(click.Group):
    """``dyno certify TARGET`` measures; ``verify`` is a subcommand."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The subcommand, or ``run`` of the targets that ``args`` begins with.

        Raises:
            UsageError: If the first word is a misspelt subcommand.
        """
        if args and args[0] not in self.commands:
            close = None if ":" in args[0] else closest(args[0], self.commands)
            if close is not None:
                raise click.UsageError(f"Unknown command '{args[0]}'. Did you mean '{close}'?")
            args = ["run", *args]
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Options before the targets also belong to ``run``."""
        if args and args[0].startswith("-") and args[0] not in ctx.help_option_names:
            args = ["run", *args]
        return super().parse_args(ctx, args)


@click.group(
    "certify",
    cls=CertifyGroup,
    short_help="Measure a configuration and issue a certificate.",
    epilog=examples(
        "dyno certify embedded:postgresql --quick       about 3 minutes, marked quick",
        "dyno certify embedded:postgresql embedded:duckdb --quick",
        "dyno certify embedded:clickhouse --quick --both-forms",
        "dyno certify postgresql://bench@db1/bench --scale 300 --users 16",
        "dyno certify embedded:duckdb --scale 100 --reference ref.toml --bom bom.toml",
        "dyno certify embedded:duckdb --quick --pdf --sign key.pem",
        "dyno certify run --help                        all options",
        "dyno certify verify dyno-runs/20261126T0450    recompute it from its run",
        "dyno certify verify run.tar.gz --key public.pem",
    ),
)
def command() -> None:
    """Certify a data warehouse configuration, following Fast Track.

    dyno certify TARGET [TARGET] runs concurrent queries of three classes (simple, average, complex)
    on the row store or column store TARGET, on one of each, or on both forms of one target
    (--both-forms). Each test has a warm-up and a measurement interval. Loads the data first if
    there is none. Writes a one-page certificate (certificate.html) to the run: throughput, scan
    rates, CPU, capacity, the configuration, and cost. Data that fits in memory is marked "in
    memory".
    """


@command.command("run", short_help="Measure TARGET (the default).")
@click.argument("targets", nargs=-1, required=True, metavar="TARGET [TARGET]")
@click.option("--both-forms", is_flag=True, help="Measure rows and columns of one target.")
@click.option(
    "--scale",
    type=SCALE,
    help="TPC-H scale factor.  [default: loaded data; else 1, or 0.1 with --quick]",
)
@click.option("--replace", is_flag=True, help="Reload Dyno's data if it differs or is incomplete.")
@click.option("--users", type=click.IntRange(*USERS), help="Users at once.  [default: 2 per CPU]")
@click.option("--quick", is_flag=True, help="Short intervals, small data; marked quick.")
@click.option("--duration", type=TIME, help="Measuring interval of each test.  [default: 5m]")
@click.option("--warmup", type=TIME, help="Warm-up before each interval.  [default: 60s]")
@click.option("--timeout", type=TIME, default="1h", show_default=True, help="Limit per query.")
@click.option("--seed", type=SEED, default=1, show_default=True, help="Seed of the parameters.")
@click.option("--reference", type=_FILE, help="TOML of the configuration to compare with.")
@click.option("--bom", type=_FILE, help="TOML with the bill of materials: prices and watts.")
@click.option("--tps", metavar="RUN", help="Transaction run here, for the cost per TPS.")
@click.option("--number", metavar="TEXT", help="Number of the certificate.  [default: the run id]")
@click.option("--sign", type=_FILE, help="Sign with the Ed25519 private key in this PEM file.")
@click.option("--pdf", is_flag=True, help="Also print a PDF; needs Chromium or Chrome.")
@_settings.options
@_limits.options
@_elsewhere.options
@_live.option
@common
def run(options: Options, **given: Any) -> int:
    """Measure TARGET and issue the certificate.

    With two targets, one stores rows and one stores columns. Missing data is loaded at --scale and
    kept. Dyno refuses data at another scale or from an interrupted load; --replace
    loads it again. Dyno never replaces tables that it did not create.

    --both-forms makes one certificate of a target that stores both forms. The data in dyno_tpch is
    measured as stored. The other form is loaded next to it, in dyno_tpch_2, with the same scale
    and seed, and stays for the next certificate.

    In the concurrent tests, a private engine gets memory for an eighth of its data (at least
    256 MB) unless --set memory is given; --limit memory also limits the page cache. No certificate
    is issued for an invalid run.
    """
    from dyno.runner.certify import job

    return conduct(job(chosen(CertifyPlan, options, given)), options)


@command.command("verify", short_help="Recompute a certificate from its run.")
@click.argument("run")
@click.option("--key", type=_FILE, help="Require a signature by this public key (PEM file).")
@common
def verify(run: str, key: Path | None, options: Options) -> int:
    """Recompute the certificate of RUN from the measured data, and compare.

    RUN is a run id, a unique prefix of one, `last`, or the path of a bundle or of its .tar.gz.
    Exit code 1 if a figure, a measured file, a page or the signature differs. Without a signature,
    somebody who changes data and recomputes all checksums is not detected.
    """
    from dyno.cli._bundles import named
    from dyno.errors import EXIT_DONE, EXIT_INVALID
    from dyno.runner import certified
    from dyno.safety import signing

    public = None if key is None else signing.public_key(key)
    with named(options.out, run) as bundle:
        found = certified.verify(bundle, public)
        place = str(bundle.place)
    if options.as_json:
        content = {
            "run": found.found.run,
            "bundle": place,
            "valid": not found.problems,
            "reasons": [vars(one) for one in found.problems],
            "number": found.found.number,
            "verdict": found.found.verdict,
            "signer": found.signer or None,
        }
        click.echo(plainjson.dumps(content))
    else:
        _print(found)
    return EXIT_INVALID if found.problems else EXIT_DONE


def _print(found: Verified) -> None:
    from dyno.safety.text import plain

    number, count = plain(found.found.number), len(found.problems)
    if not count:
        click.echo(f"VERIFIED  certificate {number}: all values and files match the run")
    else:
        click.echo(f"CHANGED  certificate {number}: {count} difference{'s'[: count != 1]}")
        for one in found.problems:
            click.echo(f"  {one.message}")
    if found.signer:
        click.echo(f"Signed by {found.signer}")
    elif not any(one.kind == "signature" for one in found.problems):
        click.echo("Not signed.")
