"""Prints docs/advice.md: what `dyno advise` checks, from the rules' own declarations.

`python tools/advice_table.py > docs/advice.md`; a test compares the two.
"""

from __future__ import annotations

from dyno.decide.advise.practices import rules
from dyno.decide.advise.rule import AREAS, SEVERITIES, Rule
from dyno.decide.advise.sources import DSS, OLTP

_HEAD = f"""\
# Advice: `dyno advise`

```
dyno advise                                    # this machine, and its newest run
dyno advise last                               # what a run recorded
dyno advise postgresql://app@localhost/shop    # a live database and its machine
dyno advise embedded:mysql --work dss --all
dyno advise --rule huge-pages postgresql://app@localhost/shop
```

Dyno checks best practices on a live system, or on what a run or a recording of `dyno watch`
recorded of one, and shows where the reads of the database go. It only reads. It prints a rule as
violated only if it has read the value here: with the value, what it should be, and the commands
that mend it in the words of the engine and of Linux. Dyno never runs these commands. A private
engine is started and stopped; one without data is created.

- **Outcomes.** `violated`, `fulfilled`, `not applicable` with the reason, and `not readable` with
  what is missing: the right and its GRANT, the program, or the live target. `--all` lists all of
  them.
- **Severity.** `high`: data, or most of the performance, is at stake; `medium`: performance that
  users notice; `low`: a few percent, or a matter of care.
- **Work.** Some rules depend on what the database does. A run says it; for a live database give
  `--work oltp`, `dss` or `load`.
- **Runs.** Tables, indexes and counters of a database are not in a bundle, and bundles of earlier
  versions lack most facts on the machine; these rules are then not readable.
- **Other machines.** Rules on the machine need Dyno there: run `dyno advise` on it, or record it
  with `dyno watch URL --agent ssh://HOST` and advise that run. Of a machine that an agent sampled
  the mount options, block sizes and free space of the volumes are not recorded.
- **Exit code.** 0 if no rule is violated, 1 if one is, whatever its severity.

## Where the reads go

The top statements by logical reads, with calls, reads of a call and time, and the share of each;
tables with their indexes, and each alone; the volumes by MB read, if a run sampled them. A
sentence names the share of the first. Reads of a call are means: the lowest and the highest of
the periods in which a recording read its statements (ten minutes), because databases keep no
minimum of a single call.

PostgreSQL counts pages, by statement with the extension `pg_stat_statements`. MariaDB and MySQL
count rows by table and no reads by statement: their statements are listed by time.

Statements that name a password, a key or an account lose all their literals
(`safety/redaction.py`), when they are recorded and when they are shown.

## Rules

Thresholds that no document gives are Dyno's, and say so. The study measures the effect on your
system.

DSS: {DSS}.
OLTP: {OLTP}.
"""


def page() -> str:
    """The page as Markdown."""
    lines = [_HEAD]
    for area in AREAS:
        own = [rule for rule in rules() if rule.area == area]
        own.sort(key=lambda rule: (SEVERITIES.index(rule.severity), rule.name))
        lines += [
            f"### {area.capitalize()}",
            "",
            _row("rule", "looks at", "wants", "source", "study"),
        ]
        lines += ["|---|---|---|---|---|", *map(_of, own), ""]
    return "\n".join(lines)


def _of(rule: Rule) -> str:
    study = f"[{rule.study}](studies/{rule.study}.md)" if rule.study else "–"
    source = rule.source.replace(DSS, "DSS").replace(OLTP, "OLTP")
    return _row(f"`{rule.name}` ({rule.severity})", rule.looks_at, rule.wants, source, study)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


if __name__ == "__main__":
    print(page(), end="")  # noqa: T201
