"""What a load would do, for ``dyno load --dry-run``. Changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dyno import targets, workloads
from dyno.config.units import bytes_text
from dyno.contracts.databases import home_of
from dyno.contracts.layout import Layout
from dyno.contracts.needs import Examinable, Needs
from dyno.contracts.script import Scripted
from dyno.contracts.target import Limits, Loaded
from dyno.errors import UsageError
from dyno.plans.loading import LoadingPlan
from dyno.runner import load
from dyno.runner.databases import names
from dyno.workloads.rows import expected_rows


@dataclass(frozen=True)
class Preview:
    """A load that was not made.

    Attributes:
        what: The load in a few words, without a password.
        layout: Its design.
        rows: Rows of each table of one database; true if the number is exact.
        raw_bytes: Rough size of the rows of all databases.
        statements: What the target would be sent beside the rows; None if it does not show that.
        end: The line that ends each of them in a script.
    """

    what: str
    layout: Layout
    rows: dict[str, tuple[int, bool]]
    raw_bytes: float
    statements: tuple[str, ...] | None
    end: str = ""

    def lines(self) -> Iterator[str]:
        """A script. Everything but its statements is a comment."""
        yield f"-- {self.what}: {bytes_text(self.raw_bytes)} of rows, layout {self.layout.name}"
        for table, (rows, exact) in self.rows.items():
            yield f"-- {table}: {'' if exact else 'about '}{rows:,} rows"
        for note in self.layout.notes:
            yield f"-- {note}"
        if self.statements is None:
            yield "-- Dyno does not show the statements for this target."
        for statement in self.statements or ():
            yield statement
            if not statement.startswith("--"):
                yield self.end

    def document(self) -> dict[str, Any]:
        """The same for ``--json``."""
        return {
            "layout": self.layout.model_dump(mode="json", exclude_defaults=True),
            "rows": {table: rows for table, (rows, _) in self.rows.items()},
            "raw_bytes": round(self.raw_bytes),
            "statements": None if self.statements is None else list(self.statements),
        }


def preview(asked: LoadingPlan) -> Preview:
    """Checks a load as far as possible without changes. A server at a URL is asked, too.

    Raises:
        UsageError: If the load is impossible.
        TargetError: If the server cannot be used.
    """
    if asked.resume:
        raise UsageError("--dry-run and --resume cannot be combined.")
    work = load.job(asked)
    chosen, parsed = workloads.named(asked.workload), targets.parse(asked.target)
    home = home_of(chosen.name)
    scale, days = chosen.parse_scale(asked.scale), chosen.parse_days(asked.days)
    layout = Layout.model_validate(work.record["layout"])
    data = Loaded(scale, asked.seed, complete=False, days=days)
    rows = {
        table: count
        for name in dict.fromkeys((home, chosen.name))
        for table, count in expected_rows(name, data).items()
    }
    many = f", {asked.databases} databases" if asked.databases > 1 else ""
    what = f"dyno load {asked.workload} at scale {scale:.15g} into {parsed.redacted}{many}"
    raw = chosen.raw_bytes(scale, days) * asked.databases
    opened = targets.open_target(parsed, asked.out, Limits(1 << 30, 1))
    every = names(home, asked.databases)
    if isinstance(opened, Examinable):
        opened.examine(Needs(home, layout, tuple(work.settings)))
    if not isinstance(opened, Scripted) or parsed.scheme == "embedded":
        return Preview(what, layout, rows, raw, None)
    wanted = None if layout.plain else layout
    statements = tuple(
        one for name in every for one in opened.script(name, wanted, replace=asked.replace)
    )
    return Preview(what, layout, rows, raw, statements, opened.BATCH_END)
