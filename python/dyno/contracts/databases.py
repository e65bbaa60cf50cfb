"""Several databases of a workload in one target: ``tpcc``, ``tpcc@2``, ``tpcc@3``.

Each has its own complete set of tables. The first has the workload's name, so code that knows one
database only finds that one. Every function that takes the name of a workload also takes the name
of one of its databases. All databases hold the same data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from dyno.bundle.model import Check

MOST = 64
OWN = "own_"
"""How names of workloads begin that users wrote as files (``dyno.workloads.own``). No such name
ends in a number."""
_OWN_NAME = re.compile(rf"(?!.*_[0-9]+$){OWN}[a-z][a-z0-9_]*", re.ASCII)
_NAME = re.compile(r"(\w+)@([2-9]|[1-9][0-9]+)", re.ASCII)
_PART = re.compile(r".*-db-[1-9][0-9]*", re.ASCII)


def name(workload: str, number: int) -> str:
    """The name of a workload's database ``number``, from 1."""
    return workload if number == 1 else f"{workload}@{number}"


def names(workload: str, count: int) -> list[str]:
    """The names of the first ``count`` databases."""
    return [name(workload, number) for number in range(1, count + 1)]


def numbers(streams: int | None, each: int | None) -> range:
    """The numbers of the databases of ``streams``, if each has so many; else empty."""
    return range(1, 1 + min((streams or 0) // each, MOST)) if each else range(0)


def split(name: str) -> tuple[str, int]:
    """Workload and number of a database; of any other text itself, and 1."""
    found = _NAME.fullmatch(name)
    return (name, 1) if found is None else (found[1], int(found[2]))


def workload_of(name: str) -> str:
    """The workload of a database."""
    return split(name)[0]


def home_of(database: str) -> str:
    """The database in whose schema the tables of another one are.

    A workload may work on the tables of another one, and add a few of its own next to them. The
    generator declares that. All others are their own homes.
    """
    from dyno import _core

    workload, number = split(database)
    return name(_core.home(workload), number)


def schema_of(name: str) -> str:
    """The schema that a database's tables live in: ``dyno_tpcc``, ``dyno_tpcc_2`` …"""
    workload, number = split(home_of(name))
    return f"dyno_{workload}" if number == 1 else f"dyno_{workload}_{number}"


def guests(home: str, workloads: Iterable[str]) -> list[str]:
    """Those of ``workloads`` whose tables are next to those of the workload ``home``."""
    return [one for one in workloads if one != home and home_of(one) == home]


def of(database: str | int | None) -> str:
    """Words after a name that tell several databases apart; none for the first or only one."""
    number = split(database)[1] if isinstance(database, str) else database or 1
    return "" if number == 1 else f" of database {number}"


def part_of(level: str, number: int) -> str:
    """The name of a level in one of several databases, which ``level`` sums up."""
    return f"{level}-db-{number}"


def is_part(level: str) -> bool:
    """Whether a level is that of one of several databases, not their sum."""
    return _PART.fullmatch(level) is not None


def named(checks: Iterable[Check], database: str | int | None) -> list[Check]:
    """These checks, with the number of the database in their names, and its workload if named."""
    workload = workload_of(database) if isinstance(database, str) else None
    which = of(database)
    return [
        check.model_copy(
            update={"name": f"{check.name}{which}", "workload": workload or check.workload}
        )
        for check in checks
    ]


def in_schemas(workloads: Iterable[str], schemas: Iterable[str]) -> list[str]:
    """Names of the databases of ``workloads`` whose schemas are among these, in order."""
    known = set(workloads)

    def is_known(workload: str) -> bool:
        return workload in known or _OWN_NAME.fullmatch(workload) is not None

    found: set[tuple[str, int]] = set()
    for schema in schemas:
        rest = schema.removeprefix("dyno_")
        head, _, number = rest.rpartition("_")
        database = (rest, 1) if is_known(rest) else split(f"{head}@{number}")
        if is_known(database[0]) and schema_of(name(*database)) == schema:
            every = (database[0], *guests(database[0], known))
            found.update((workload, database[1]) for workload in every)
    return [name(*database) for database in sorted(found)]
