"""Prints docs/criteria.md: the language of criteria and its metrics, from their declarations.

`python tools/criteria_table.py > docs/criteria.md`; a test compares the two.
"""

from __future__ import annotations

from dyno.criteria.base import Metric
from dyno.criteria.registry import metrics

_OPERATION = "OPERATION"
"""Stands for any operation."""
_ROLE = "data"
"""Stands for any role, in metrics that every role has."""

_HEAD = """\
# Criteria: limits on the metrics of a level

```
dyno run tpcc --target URL --users 16 --criterion 'new_order p95 < 50 ms' --criterion 'errors = 0'
dyno run tpcc --target URL --find-max --slo 'new_order p95 < 50 ms' --slo 'cpu < 70 %'
```

A criterion is `METRIC [STAT] OP VALUE [UNIT]`, or `STAT of METRIC OP VALUE [UNIT]`, such as
`p99 of payment < 200 ms`. OP is `<`, `<=`, `=`, `>=` or `>`.

| option | meaning |
|---|---|
| `--criterion` | every level must pass it; a violation makes the exit code 1; the run stays valid |
| `--slo` | with `--find-max`: the load grows while it passes; it replaces the default limits |
| `--no-criteria` | no default limits |

Each criterion is judged over the measured time of a level. The report also shows how many
intervals violated it. A criterion without data is reported as not checked: it neither passes nor
fails. Default limits only inform ([why](decisions/0010-usual-limits-are-shown.md)); a
`--criterion` on the same metric replaces one.

## Metrics

Without STAT, the first one of the row counts. "None" is a plain number; its unit is that of the
metric's name. If a word is unknown, Dyno suggests the nearest one.

| metric | what it is | statistics | units | default |
|---|---|---|---|---|
"""

_TAIL = """
`OPERATION` is any operation of the workload: `payment`, `trade_order`, a transaction of a
workload file. `ROLE` is `data`, `log`, `temp`, `backup`, `flash`, or `partition-1` and so on for
the partitions of a layout ([volumes.md](volumes.md)).

The default limits are from Dell, Best Practices and Sizing Guidelines for Transaction Processing
Applications with Microsoft SQL Server 2012 using EqualLogic PS Series Storage, 2013, section 6. A
workload may have limits of its own: `brokerage` has those of TPC-E's operations
([brokerage.md](brokerage.md)).
"""


def page() -> str:
    """The page."""
    known = metrics((_OPERATION,))
    rows = (_row(known[word]) for word in known if word.partition(".")[2] in ("", _ROLE))
    return f"{_HEAD}{''.join(rows)}{_TAIL}"


def _row(metric: Metric) -> str:
    name, about = metric.name, metric.about
    if name.endswith(f".{_ROLE}"):
        name, about = name.replace(_ROLE, "ROLE"), about.replace(f"the {_ROLE}", "the ROLE")
    units = ", ".join(f"`{unit}`" if unit else "none" for unit in metric.units)
    stats = ", ".join(metric.stats)
    default = "" if metric.default is None else f"`{metric.default.text}`"
    return f"| `{name}` | {about} | {stats} | {units} | {default} |\n"


if __name__ == "__main__":
    print(page(), end="")  # noqa: T201
