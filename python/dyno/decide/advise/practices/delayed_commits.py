"""Delayed commits: no session may ask that its commits return before their log is on storage."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import SQL_SERVER
from dyno.decide.advise.system import System, inapplicable


def _check(system: System) -> Iterable[Verdict]:
    setting = system.term("delayed_commits")
    if setting.value not in ("disabled", "allowed"):
        raise inapplicable(f"{setting.name} = {setting.shown}; durable-commit judges it")
    yield held(
        setting.value == "disabled",
        f"{setting.name} = {setting.shown}",
        "disabled, unless the application states which commits may be lost",
        *system.mend("delayed_commits", False),
    )


RULE = Rule(
    name="delayed-commits",
    area="durability",
    scope="database",
    severity="low",
    looks_at="whether a session may ask for commits that do not wait for storage",
    wants="disabled, unless the application needs them",
    why="A crash can lose a delayed commit that the application already counts as done. All other "
    "commits are durable.",
    source=f"{SQL_SERVER}, Control Transaction Durability",
    check=_check,
)
