"""A one-line summary of the transactions of all levels."""

from __future__ import annotations

from dyno.bundle import mixes
from dyno.bundle.phases.oltp import OltpDetail
from dyno.config.rates import recorded
from dyno.report.kit.formats import rounded, users_title
from dyno.report.run.page import Page


def line(page: Page, columns: int) -> str:
    """One line for a terminal, within ``columns`` if possible; empty without transactions."""
    if not page.levels or page.search is not None or mixes.windows(page.run):
        return ""
    # Without a total, one of several databases did not complete.
    levels = [level for level in page.levels if not level.is_part] or page.levels
    users = [level.phase.detail.users if level.phase else "?" for level in levels]
    main = page.transactions
    known = [level.metrics for level in levels]
    rates = "/".join(rounded(page.value(at.tps)) for at in known)
    p95 = "/".join(rounded(page.value(at.operation(main.main).response("p95"))) for at in known)
    detail = levels[0].phase.detail if levels[0].phase else OltpDetail()
    several = detail.databases
    where = "" if several is None else f" in {several:g} databases"
    inside = " in stored procedures" if detail.mode == "procedure" else ""
    # In front, because long lines are truncated.
    unpaced = " unpaced" if any(page.unpaced(level) for level in page.levels) else ""
    loops = [recorded(level.phase.detail.rate_per_s) if level.phase else None for level in levels]
    due = [rate.title for rate in loops if rate is not None]
    shown = list(dict.fromkeys(users)) if due else users
    who = f"{'/'.join(map(str, shown))} user{'s' if shown != [1] else ''}{where}"
    what = f"{rates} /s; p95 {p95} ms"
    if detail.is_replay:
        return f"{users_title(detail, '')}: {what}"
    # The requested rates, as far as they fit.
    asked = [f" at {' and '.join(dict.fromkeys(due))}", f" at {len(set(due))} rates"] if due else []
    lines = [f"{who}{at}{inside}{unpaced}: {what}" for at in (*asked, "")]
    return next((line for line in lines if len(line) <= columns), lines[-1])
