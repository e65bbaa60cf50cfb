"""``dyno report``: rebuilds the reports of runs from their bundles."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dyno.cli import _pdf
from dyno.cli._options import Options, common, examples
from dyno.safety import plainjson

if TYPE_CHECKING:
    from dyno.bundle.reader import Bundle


@click.command(
    "report",
    short_help="Rebuild a run's report.",
    epilog=examples(
        "dyno report last",
        "dyno report 20261120T1402 --open",
        "dyno report last --pdf                also writes sheet.pdf",
        "dyno report path/to/somebody/elses/bundle --json",
        "dyno report somebody-elses.tar.gz     writes somebody-elses.sheet.html",
    ),
)
@click.argument("runs", nargs=-1, required=True)
@click.option("--open", "show", is_flag=True, help="Open the page in the browser.")
@_pdf.option
@common
def command(runs: tuple[str, ...], show: bool, pdf: bool, options: Options) -> int:
    """Analyse and judge RUNS again from their bundles.

    Writes the report (sheet.html), all metrics (estimates.json) and findings.json into each bundle.

    Each of RUNS is a run id, a unique prefix of one, `last`, or the path of a bundle or of its
    .tar.gz. No database is needed.

    For an archive from `dyno runs export` (X.tar.gz), only the report is written, next to it, as
    X.sheet.html. --json prints the metrics. Temporary files are private and are removed.
    """
    from dyno.analyse import estimate
    from dyno.bundle.writer import write_atomically, write_judgement
    from dyno.cli._bundles import named
    from dyno.cli._colour import coloured
    from dyno.decide.judge import broken, definitions, judge
    from dyno.errors import EXIT_INVALID
    from dyno.report import document, latencies, run_report, summary

    _pdf.require(pdf)
    documents: list[dict[str, object]] = []
    failed = False
    for name in runs:
        with named(options.out, name) as opened:
            estimates = estimate(opened)
            validity, findings = judge(opened, estimates)
            failed |= validity.valid is False or broken(findings)
            bundle = opened.judged(validity)
            if bundle.archive is None:
                write_judgement(bundle.path, estimates, findings)
            page = _page(bundle)
            write_atomically(page, run_report(bundle, estimates, findings, definitions()))
            paper = {"pdf": str(_pdf.beside(page))} if pdf else {}
            found = document(bundle, estimates, findings)
            documents.append({**found, "sheet": str(page), **paper})
            if not options.as_json:
                lines = [
                    *latencies(bundle, estimates, findings),
                    *summary(bundle, estimates, findings),
                ]
                click.echo(coloured(lines))
                click.echo(f"Report: {page}")
                for path in paper.values():
                    click.echo(f"PDF: {path}")
        if show:
            click.launch(page.as_uri())
    if options.as_json:
        click.echo(plainjson.dumps(documents[0] if len(documents) == 1 else documents))
    return EXIT_INVALID if failed else 0


def _page(bundle: Bundle) -> Path:
    """Path of the report: in the bundle, or next to the archive."""
    if bundle.archive is None:
        return bundle.path / "sheet.html"
    at = bundle.archive.absolute()
    stem = at.name.removesuffix(".gz").removesuffix(".tgz").removesuffix(".tar")
    return at.parent.resolve() / f"{stem}.sheet.html"
