"""How to reproduce the run, and the files of the bundle."""

from __future__ import annotations

from pathlib import Path

from dyno.bundle.members import content
from dyno.bundle.phases.dss import DssDetail
from dyno.bundle.phases.load import LoadDetail
from dyno.bundle.phases.oltp import OltpDetail
from dyno.report.kit.blocks import Block, Cell, Code, Column, Fact, Facts, Section, Table
from dyno.report.kit.formats import decimal_bytes
from dyno.report.run.page import Page
from dyno.report.run.repeat import command

ORDER = 110

_MOST_FILES = 100


def section(page: Page) -> Section | None:
    """The command, versions and seeds; then the files of the bundle."""
    run = page.run
    facts = [Fact("Dyno", run.dyno)]
    facts += [Fact(page.title(name), facts.version) for name, facts in run.targets.items()]
    seeds = {
        f"{phase.title}": str(seed)
        for phase in run.phases
        if isinstance(phase.detail, LoadDetail | DssDetail | OltpDetail)
        and (seed := phase.detail.seed) is not None
    }
    if seeds:
        facts.append(Fact("Seeds", "; ".join(f"{title}: {seed}" for title, seed in seeds.items())))
    blocks: list[Block] = [Code(command(run)), Facts(facts)]
    files = _files(page.bundle.path)
    if files.rows:
        blocks.append(files)
    lead = "Run this command on the same machine. `dyno report` rebuilds this page from the bundle."
    return Section("repeat", "Reproduce", blocks, lead)


def _files(path: Path) -> Table:
    found = content(path).members
    rows: list[list[str | Cell]] = [
        [name, decimal_bytes(found[name])] for name in sorted(found)[:_MOST_FILES]
    ]
    more = len(found) - len(rows)
    return Table(
        "Bundle files",
        [Column("File"), Column("Size", numeric=True)],
        rows,
        f"And {more} more." if more else "",
        folded=True,
    )
