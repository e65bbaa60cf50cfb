"""Prints docs/advice.md: what `dyno advise` checks, from the rules' own declarations.

`python tools/advice_table.py > docs/advice.md`; a test compares the two.
"""

from __future__ import annotations

from dyno.config.units import bytes_text
from dyno.decide.advise.amounts import percent
from dyno.decide.advise.partition.bounds import UNEVEN
from dyno.decide.advise.partition.columns import WEIGHTS
from dyno.decide.advise.partition.proposal import LEAST_BYTES, LEAST_SHARE
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
dyno advise last --write advice                # layouts and studies of partitions
dyno advise --prove last                       # the study that tests the advice; --yes runs it
```

Dyno checks best practices on a live system, a run or a recording of `dyno watch`. It shows where the
database's reads go, and which tables to partition, to store in columns or to index. It only reads. It reports a violation only for a value that it has read, with the
recommended value and the commands of the engine or of Linux that fix it. Dyno never runs these commands. A private engine is started and stopped; one without
data is created.

- **Outcomes.** `violated`, `fulfilled`, `not applicable` with the reason, and `not readable` with
  what is missing: the right and its GRANT, the program, or the live target. `--all` lists all of
  them.
- **Severity.** `high`: data, or most of the performance, is at stake; `medium`: performance that
  users notice; `low`: a few percent, or good housekeeping.
- **Work.** Some rules depend on what the database does. A run records it; for a live database give
  `--work oltp`, `dss` or `load`.
- **Runs.** Indexes and counters of a database are not in a bundle, and bundles of earlier
  versions lack most facts on the machine; these rules are then not readable.
- **Other machines.** Rules on the machine need Dyno there: run `dyno advise` on it, or record it
  with `dyno watch URL --agent ssh://HOST` and advise that run. The agent sends the facts on the machine
  and, if it finds the server's files, on their volumes: mount options, block sizes, free space, RAID
  and disks. An exporter sends none of these.
- **Exit code.** 0 if no rule is violated, 1 if one is, whatever its severity.

## Top consumers of reads

The top statements by logical reads, with calls, reads per call and time, and the share of each;
tables with their indexes, and each alone; the volumes by MB read, if a run sampled them. A
sentence names the share of the first. Reads per call are means: the lowest and the highest of
the periods in which a recording read its statements (ten minutes), because databases keep no
minimum of a single call.

PostgreSQL counts pages, by statement with the extension `pg_stat_statements`. MariaDB and MySQL
count rows by table and no reads by statement: their statements are listed by time. SQL Server counts
pages by statement, and by table only scans begun and rows looked up.

Statements that name a password, a key or an account lose all their literals
(`safety/redaction.py`), when they are recorded and when they are shown.

## Partitioning

**Tables.** Candidates have {percent(LEAST_SHARE)} or more of the reads, are not partitioned, and
have at least {bytes_text(LEAST_BYTES)}. Others are listed with the reason.

**Column.** Dyno parses the counted statements in the grammar of the engine and looks for
conditions on the columns of each table, in WHERE and ON. A condition gives the column the share
of the reads (or, without them, of the time) of its statement, times a weight of Dyno's:

| condition | weight | prunes |
|---|---|---|
| by value (`=`, `IN`), or between two values | {WEIGHTS["equality"]:g} | yes |
| above or below one value | {WEIGHTS["half"]:g} | in part: from no partition to all but one |
| in a join | {WEIGHTS["join"]:g} | only while it runs, in some plans |
| within a function, OR or NOT, or with a column of the same row | {WEIGHTS["hidden"]:g} | no |

If a statement names a table several times, its worst place counts. The reads of a statement are
all of its reads, also those of other tables. A table is advised to be partitioned if statements
with {percent(LEAST_SHARE)} of the weight can prune. Statements that cannot be parsed are counted
and count for no column.

**Statements.** Those that the database counted. If it counted none, the queries of Dyno's
workloads: in a run weighted by the bytes or the time of each, for a live database each once.
Dyno's private PostgreSQL and MariaDB count no statements, so TPC-C-derived data there is not
judged; use a server at a URL with `pg_stat_statements` or `performance_schema`.

**Method and bounds.** Dates are cut at the beginning of a year, quarter or month: the longest of
these for which each of the 4 or 8 partitions is within {percent(UNEVEN)} of an equal share of the
rows. Other ranges have equal rows. A number or text with conditions by value only is hashed. The
distribution is from `pg_stats`; in MariaDB and MySQL from 1,000 searches at random values of an
integer primary key, whose cost does not grow with the table; for a run from the range that the
workload declares. Otherwise the bounds are missing. A column with fewer values than partitions is
no candidate.

**Keys.** Dyno lists the unique keys that must include the column (PostgreSQL, MariaDB and MySQL),
the indexes that have it, and those without it, whose searches visit every partition.

**Proof.** `--write FOLDER` writes a layout for 4 and for 8 partitions and a study that compares
them with the table as it is; it replaces no file. `dyno study plan FOLDER/…-study.toml` shows the
runs. On a server at a URL the study loads Dyno's tables there again. For your own
tables Dyno prints the commands of PostgreSQL or MariaDB instead of a study, and never runs them.
Layouts have ranges only; for a hashed column they have equal rows.

SQLite and DuckDB have no partitions; of ClickHouse Dyno reads no tables and statements.

## Column store

For PostgreSQL, MariaDB and MySQL, Dyno names the tables that suit a column store, why the others do
not, and what it costs. A run or a recording has the statistics of columns, of the twelve largest
tables, and no samples: it lacks the compression, and the repeated values where the engine keeps
no statistics. `dyno advise URL` samples the live database.

| what | excludes a table |
|---|---|
| share of the reads | below 5 % |
| rows | fewer than 1,048,576, one full rowgroup of a columnstore index |
| rows updated or deleted | more than 1 % a day; counters of less than a day count as a day |
| large values: LOB, or longer than 2,000 B | more than half of a row; fewer are left out |
| repeated values | less than 25 % of the bytes of a row |
| statistics of columns | none that the role may read, and no sample |

The rowgroup and the memory are from the DSS document (6.3.1, 7.3.7); the other thresholds are Dyno's.

- **Repeated values**: for each column 1 − distinct values / rows, or the share of its most common
  values if that is more, weighted by width. PostgreSQL has both (`pg_stats`); InnoDB has the
  cardinality of indexes. Without them the sample counts (marked `*`).
- **Compression** is expected, not measured in the engine: Dyno builds a sample as Parquet with
  zstd in memory and compares it with the bytes of a row in the table. A sample has at most 20,000
  rows and 16 MB; three tables are sampled. PostgreSQL's are random blocks, InnoDB's the first rows
  by key.
- **Memory to build**: 8 MB × columns × threads, for the widest candidate, beside the least
  available memory of the newest run of this database in `--out`.
- **Statements that get slower**: those that look up rows by a whole unique key, or by the first
  column of an index if a call returns at most 100 rows. Those that sqlglot cannot parse are
  counted.
- **An engine without a column store**: Dyno names the extension or storage engine that it needs.
  `dyno study columnstore-tables` measures the effect on an engine that has both forms, with
  lineitem, or with lineitem and orders, in columns.

## Indexes

Dyno advises an index only with proof, never on the text of statements alone.

**Candidates** are columns that statements compare with a value or with a column of another table,
and after these one column of a range. sqlglot parses the statements in the dialect of the engine.
The statements are those with most reads or time; of a database with a workload of Dyno's and no
counts by statement, its queries, by their time in the newest run. Dyno skips columns
within `OR`, a negation or a function, tables with fewer than 1,000 rows, and columns that an
existing index begins with. Dyno does not plan statements that call functions it does
not know.

**Proof by the planner.** Dyno plans each statement with and without each candidate and advises at
most five: the one that saves most first, the next ones beside it. An index has to save 1 % of the
reads of all statements, and a statement counts as served if its cost falls by 10 %.

| engine | how |
|---|---|
| PostgreSQL 12 and later | hypothetical indexes of the extension hypopg, in memory of one session that only reads, and generic plans, which need no values. If the extension is missing, Dyno prints the `CREATE EXTENSION` or `GRANT` |
| SQLite | its planner, on a copy of the schema in memory with the statistics of the file; those of a new index are from the first 50,000 rows. SQLite shows no costs: an index counts if it replaces a full scan |
| MariaDB, MySQL, DuckDB; private PostgreSQL, which lacks hypopg; runs | none: only candidates, which `--prove` tests |

The list has the statements with their costs before and after, their share of the reads, the
estimated size and the rows written to the table: every write also writes each index. Index advice
does not change the exit code.

A planner can be wrong. On tables of a workload of Dyno's each advised index is also a variant of
the study below.

## `--prove`

```
dyno advise last --prove                       # the plan, and the command that runs it
dyno advise last --prove --yes --pairs 8
dyno advise embedded:postgresql --prove --time-limit 30m
```

`--prove` tests advice by a [study](studies.md): what ran, and the same with each change. The base
is the run that you name, or the newest one of the target under `--out`: its workload, scale,
layout, settings, limits and options. On a terminal Dyno shows the plan with its duration and
asks; elsewhere it only shows the plan. `--yes` runs it. A study loads its own data. For a run on
your server that replaces the workload's tables there, which Dyno created; it never touches other
tables.

| proof | when |
|---|---|
| *proven better* | the headline metric is significantly better (`tps`, or the total of the queries) |
| *no difference found* | it is equivalent, or the runs cannot tell |
| *worse* | it is significantly worse: the advice is withdrawn, with its commands, and no longer counts for the exit code |
| *not proven* | no study, or one that was interrupted, failed, or whose runs are invalid |

Beside each are the shift, its 95 % interval, the pairs and the folder of the study. Verdicts are
corrected for the number of variants, intervals are not. `dyno advise` finds proofs under `--out` by
itself, also in studies of your own: those whose baseline is what ran and one of whose variants is
the change. Ctrl-C leaves a readable study; the same command resumes it.

`--prove` tests partitions and indexes of Dyno's tables, column stores on an engine of Dyno's, and the
rules `cache-size`, `checkpoint-interval`, `forced-checkpoints`, `log-capacity`, `parallel-workers`
and `temp-spills`, whose fix is a portable setting. It does not test rules that protect data or memory, since they may well cost
performance, nor rules on the machine. Changes that the target cannot have, such as the memory of
a server at a URL, are listed with the reason. A proof repeats runs of one number of users, or of
queries; not searches, rates, maintenance, several databases or accelerated runs.

## Rules

Thresholds that no document gives are Dyno's, and say so. The study measures the effect on your
system.

DSS: {DSS}.
OLTP: {OLTP}.
"""  # noqa: E501  (rows of tables are one line)

TITLES = {"cpu": "CPU", "care": "Operations"}
"""Titles that differ from the name of the area."""


def page() -> str:
    """The page as Markdown."""
    lines = [_HEAD]
    for area in AREAS:
        own = [rule for rule in rules() if rule.area == area]
        own.sort(key=lambda rule: (SEVERITIES.index(rule.severity), rule.name))
        lines += [
            f"### {TITLES.get(area, area.capitalize())}",
            "",
            _row("rule", "checks", "recommends", "source", "study"),
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
