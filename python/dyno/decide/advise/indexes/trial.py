"""The proof of an index: the plans of statements with it and without it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from dyno.contracts.advice import IndexFacts
from dyno.contracts.hypothetical import Planned, Planner, Table, Wish
from dyno.decide.advise.indexes import predicates
from dyno.decide.advise.indexes.candidates import candidates
from dyno.decide.advise.indexes.predicates import Read
from dyno.decide.advise.statements import UnreadableError
from dyno.errors import DynoError

MOST_ADVISED = 5
LEAST_GAIN = 0.01
"""Least share of the reads of all statements that an index must save."""
LEAST_SERVED = 0.1
"""Least fall of the cost of a statement that an index serves."""


@dataclass(frozen=True)
class Asked:
    """A statement with its share of the reads; of the time, if the engine counts no reads.

    Attributes:
        name: Its identifier, or the name of a query.
    """

    name: str
    text: str
    share: float


@dataclass(frozen=True)
class Served:
    """A statement that an index serves; ``before`` and ``after`` are costs, None without."""

    name: str
    text: str
    share: float
    before: float | None
    after: float | None


@dataclass(frozen=True)
class Proposal:
    """An index.

    Attributes:
        served: What the planner uses it for; empty if no planner was asked.
        saved: Share of the reads of all statements that the planner expects to save.
        bytes: Estimated size.
        definition: The statement that creates it.
        of_workload: The name of the table in a workload of Dyno's; empty for other tables.
    """

    name: str
    wish: Wish
    served: tuple[Served, ...] = ()
    saved: float | None = None
    bytes: int | None = None
    definition: str = ""
    of_workload: str = ""


@dataclass(frozen=True)
class IndexAdvice:
    """What is known of indexes that do not exist.

    Attributes:
        proven: By the planner; in the order in which they save most, each beside the others before.
        unproven: Candidates that no planner was asked about.
        tried: Candidates that were planned.
        statements: Statements that were read.
        how: What planned them; empty if nothing did.
        obstacle: Why no planner was asked; a clause.
        left_out: Why a statement could not be read or planned, by its name; a clause.
        shares: What shares of statements are of: ``reads``, ``time``, or ``statements``.
        writes: Rows written since the counters began, by table.
    """

    proven: Sequence[Proposal] = ()
    unproven: Sequence[Proposal] = ()
    tried: int = 0
    statements: int = 0
    how: str = ""
    obstacle: str = ""
    left_out: Mapping[str, str] = field(default_factory=dict[str, str])
    shares: str = "reads"
    writes: Mapping[str, int] = field(default_factory=dict[str, int])


def read_all(
    asked: Iterable[Asked], dialect: str, tables: Sequence[Table]
) -> tuple[dict[Asked, Read], dict[str, str]]:
    """The statements that can be read, and why others cannot."""
    found: dict[Asked, Read] = {}
    left_out: dict[str, str] = {}
    for one in asked:
        try:
            found[one] = predicates.read(one.text, dialect, tables)
        except UnreadableError as error:
            left_out[one.name] = str(error)
    return found, left_out


def wanted(read: Mapping[Asked, Read], existing: Sequence[IndexFacts]) -> list[Wish]:
    """Candidates for statements."""
    return candidates(((one.share, own.selected) for one, own in read.items()), existing)


def named(wish: Wish) -> str:
    """``lineitem_by_l_shipdate``: the name that a layout gives it, too."""
    table = wish.table.rpartition(".")[2].strip('"`')
    return f"{table}_by_{'_'.join(wish.columns)}"[:50]


def saved(before: Planned, after: Planned, wish: Wish) -> float:
    """The share of a statement's cost that an index saves.

    A planner that shows no costs counts if it uses the index in place of reading the table in full.
    """
    if wish not in after.used:
        return 0.0
    if before.cost is None or after.cost is None:
        gone = wish.table in before.scanned and wish.table not in after.scanned
        return 1.0 if gone else 0.0
    return max(0.0, 1 - after.cost / before.cost) if before.cost > 0 else 0.0


class Trial:
    """Plans candidates; each is advised only beside those that were advised before it."""

    def __init__(self, planner: Planner, read: Mapping[Asked, Read]) -> None:
        self._planner = planner
        self._read = dict(read)
        self.left_out: dict[str, str] = {}

    def run(self, wishes: Sequence[Wish]) -> list[Proposal]:
        """The indexes that the planner uses, the one that saves most first."""
        now = self._all(())
        self._read = {one: own for one, own in self._read.items() if one in now}
        chosen: list[Wish] = []
        found: list[Proposal] = []
        left = list(wishes)
        while left and len(chosen) < MOST_ADVISED:
            tried = {wish: self._tried(wish, chosen, now) for wish in left}
            best = max(left, key=lambda wish: self._gain(wish, now, tried[wish]))
            gain = self._gain(best, now, tried[best])
            if gain < LEAST_GAIN:
                break
            found.append(self._proposal(best, gain, now, tried[best]))
            chosen.append(best)
            now = {**now, **tried[best]}
            left = [wish for wish in left if self._gain(wish, now, tried[wish]) > 0]
            left = [wish for wish in left if not _alike(wish, chosen)]
        return found

    def _all(self, wishes: Sequence[Wish]) -> dict[Asked, Planned]:
        found: dict[Asked, Planned] = {}
        for one, own in self._read.items():
            try:
                found[one] = self._planner.plan(own.text, own.tables, wishes)
            except DynoError as error:
                self.left_out[one.name] = str(error).rstrip(".")
        return found

    def _tried(
        self, wish: Wish, chosen: Sequence[Wish], now: Mapping[Asked, Planned]
    ) -> dict[Asked, Planned]:
        """The plans of the statements on its table, with the index."""
        found: dict[Asked, Planned] = {}
        for one, own in self._read.items():
            if one in now and wish.table in {table.name for table in own.tables}:
                try:
                    found[one] = self._planner.plan(own.text, own.tables, (*chosen, wish))
                except DynoError:  # this engine cannot have such an index
                    return {}
        return found

    def _gain(
        self, wish: Wish, now: Mapping[Asked, Planned], after: Mapping[Asked, Planned]
    ) -> float:
        shares = {one: saved(now[one], plan, wish) for one, plan in after.items()}
        return sum(one.share * own for one, own in shares.items() if own >= LEAST_SERVED)

    def _proposal(
        self,
        wish: Wish,
        gain: float,
        now: Mapping[Asked, Planned],
        after: Mapping[Asked, Planned],
    ) -> Proposal:
        served = tuple(
            Served(one.name, one.text, one.share, now[one].cost, plan.cost)
            for one, plan in after.items()
            if saved(now[one], plan, wish) >= LEAST_SERVED
        )
        name = named(wish)
        return Proposal(
            name, wish, served, gain, self._planner.size(wish), self._planner.define(wish, name)
        )


def _alike(wish: Wish, chosen: Iterable[Wish]) -> bool:
    """Whether a chosen index has the same columns first."""
    count = len(wish.columns)
    return any(one.table == wish.table and {*one.columns[:count]} == {*wish.columns}
               for one in chosen)  # fmt: skip
