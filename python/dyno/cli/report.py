"""``dyno report``: the sheet of finished runs, made anew from their bundles."""

from __future__ import annotations

import json

import click

from dyno.cli._options import Options, common, examples


@click.command(
    "report",
    short_help="Make the sheet of a run anew.",
    epilog=examples(
        "dyno report last",
        "dyno report 20261120T1402 --open",
        "dyno report path/to/somebody/elses/bundle --json",
    ),
)
@click.argument("runs", nargs=-1, required=True)
@click.option("--open", "show", is_flag=True, help="Open the page in the browser.")
@common
def command(
    runs: tuple[str, ...],
    show: bool,
    options: Options,
) -> int:
    """Analyse and judge RUNS again from their bundles.

    Writes sheet.html, estimates.json (every figure) and findings.json into each bundle.

    RUN is a run id, its unique beginning, a bundle's path, or `last`. No database is needed.
    """
    from dyno.analyse import estimate
    from dyno.bundle import find_bundle
    from dyno.cli._colour import coloured
    from dyno.decide import broken, definitions, judge
    from dyno.errors import EXIT_INVALID
    from dyno.record import write_atomically, write_judgement
    from dyno.report import document, latencies, sheet, summary

    documents: list[dict[str, object]] = []
    failed = False
    for name in runs:
        bundle = find_bundle(options.out, name)
        estimates = estimate(bundle)
        validity, findings = judge(bundle, estimates)
        failed |= validity.valid is False or broken(findings)
        bundle = bundle.judged(validity)
        write_judgement(bundle.path, estimates, findings)
        page = bundle.path / "sheet.html"
        write_atomically(page, sheet(bundle, estimates, findings, definitions()))
        documents.append({**document(bundle, estimates, findings), "sheet": str(page)})
        if not options.as_json:
            lines = [*latencies(bundle, estimates, findings), *summary(bundle, estimates, findings)]
            click.echo(coloured(lines))
            click.echo(f"Sheet: {page}")
        if show:
            click.launch(page.as_uri())
    if options.as_json:
        click.echo(json.dumps(documents[0] if len(documents) == 1 else documents, indent=1))
    return EXIT_INVALID if failed else 0
