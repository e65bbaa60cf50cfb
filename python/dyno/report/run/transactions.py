"""Transactions of all levels in a line: who, at which rates, where, and what came of it."""

from __future__ import annotations

from dyno.bundle.phases.oltp import OltpDetail
from dyno.config.rates import recorded
from dyno.report.kit.formats import figure
from dyno.report.run.page import Page


def line(page: Page, columns: int) -> str:
    """One line for a terminal, of so many columns if it can; empty if there is nothing to tell."""
    if not page.levels or page.search is not None:
        return ""
    # Of databases that were not driven to the end there is no sum.
    levels = [level for level in page.levels if not level.is_part] or page.levels
    users = [level.phase.detail.users if level.phase else "?" for level in levels]
    main = page.transactions
    known = [level.metrics for level in levels]
    rates = "/".join(figure(page.value(at.tps)) for at in known)
    p95 = "/".join(figure(page.value(at.operation(main.main).response("p95"))) for at in known)
    detail = levels[0].phase.detail if levels[0].phase else OltpDetail()
    several = detail.databases
    where = "" if several is None else f" in {several:g} databases"
    inside = " in procedures" if detail.mode == "procedure" else ""
    # In front: a long line is cut at its end.
    unpaced = " unpaced" if any(page.unpaced(level) for level in page.levels) else ""
    loops = [recorded(level.phase.detail.rate_per_s) if level.phase else None for level in levels]
    due = [rate.title for rate in loops if rate is not None]
    shown = list(dict.fromkeys(users)) if due else users
    who = f"{'/'.join(map(str, shown))} user{'s' if shown != [1] else ''}{where}"
    what = f"{rates} /s; p95 {p95} ms"
    # As much of the rates that were asked for as there is room for.
    asked = [f" at {' and '.join(dict.fromkeys(due))}", f" at {len(set(due))} rates"] if due else []
    lines = [f"{who}{at}{inside}{unpaced}: {what}" for at in (*asked, "")]
    return next((line for line in lines if len(line) <= columns), lines[-1])
