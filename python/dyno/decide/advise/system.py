"""The view of a system that rules judge: frozen facts, live or from a bundle.

An accessor raises :class:`GapError` for a fact that is unknown or that this system does not have. A
rule that needs it then ends with the reason instead of a guess.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal

from dyno.contracts.advice import Catalog, Counter, Dialect, Knob, Known, Part, Term, Value
from dyno.decide.advise.columnstore.view import ColumnView
from dyno.decide.advise.indexes.trial import IndexAdvice
from dyno.decide.advise.loads import Load
from dyno.decide.advise.uses import Uses
from dyno.host.limits import usable_memory_bytes, usable_threads

Work = Literal["oltp", "dss", "load"]


class GapError(Exception):
    """A rule cannot judge.

    Attributes:
        outcome: Whether the question does not arise here, or its answer cannot be read.
        reason: Why, and the remedy; a clause.
    """

    def __init__(self, outcome: Literal["not applicable", "not readable"], reason: str) -> None:
        super().__init__(reason)
        self.outcome: Literal["not applicable", "not readable"] = outcome
        self.reason = reason


def inapplicable(reason: str) -> GapError:
    """The question does not arise."""
    return GapError("not applicable", reason)


def unreadable(reason: str) -> GapError:
    """The answer cannot be read."""
    return GapError("not readable", reason)


@dataclass(frozen=True)
class Facts:
    """Facts by section and name, of the shape of ``dyno.host.fields``, from anywhere.

    Attributes:
        unknown: Why a fact may be missing; a clause.
    """

    values: Mapping[str, Any]
    unknown: str

    def get(self, *path: str) -> Any:
        """A fact; None if it is missing."""
        found: Any = self.values
        for name in path:
            found = found.get(name) if isinstance(found, Mapping) else None
        return found

    def number(self, *path: str) -> float:
        """A number."""
        found = self.get(*path)
        if isinstance(found, bool) or not isinstance(found, int | float):
            raise self._missing(path)
        return float(found)

    def text(self, *path: str) -> str:
        """A text."""
        found = self.get(*path)
        if not isinstance(found, str) or not found:
            raise self._missing(path)
        return found

    def switch(self, *path: str) -> bool:
        """A yes or no."""
        found = self.get(*path)
        if not isinstance(found, bool):
            raise self._missing(path)
        return found

    def words(self, *path: str) -> list[str]:
        """A list of texts."""
        found = self.get(*path)
        if not isinstance(found, list):
            raise self._missing(path)
        return [one for one in found if isinstance(one, str)]

    def each(self, *path: str) -> list[Facts]:
        """A list of facts."""
        found = self.get(*path)
        if not isinstance(found, list):
            raise self._missing(path)
        return [Facts(one, self.unknown) for one in found if isinstance(one, Mapping)]

    def _missing(self, path: Sequence[str]) -> GapError:
        return unreadable(f"{'.'.join(path)} is unknown: {self.unknown}")


@dataclass(frozen=True)
class Volume:
    """A file system or device with files of a role.

    Attributes:
        roles: ``data``, ``log``, ``temp``, ``partition-1`` …; or ``folder`` for one that is only
            named.
        facts: As ``host.storage`` has them.
    """

    roles: tuple[str, ...]
    facts: Facts

    @property
    def name(self) -> str:
        """How it is called: its mount point or its device, and its roles."""
        place = self.facts.get("mount_point") or self.facts.get("subject") or "?"
        return f"{place} ({', '.join(self.roles)})"

    @property
    def disks(self) -> list[Facts]:
        """The disks under it.

        Raises:
            GapError: If none is known, as under memory and network file systems.
        """
        kind = self.facts.get("fs_kind")
        if kind in ("memory", "network", "user"):
            raise inapplicable(f"{self.facts.get('fs_type')} has no block device here")
        found = self.facts.each("disks")
        if not found:
            raise unreadable(f"the disks under {self.name} are unknown: {self.facts.unknown}")
        return found


@dataclass(frozen=True)
class Database:
    """A database.

    Attributes:
        target: Name of the target.
        address: Its URL without a password, or the name of the run.
        version: Starts with the product.
        settings: As it shows them.
        dialect: The engine's own words; None for a target without advice.
        live: Whether the settings are all that it has; else those that a run recorded.
        catalog: What only the live database knows; None of a recorded one.
        no_catalog: Why there is none; a clause.
        devices: Block devices by role.
        device_notes: Why some are unknown, with the remedy.
        updated: Whether its program was replaced since it started; None if unknown.
        log_per_s: Bytes that a run saw written to its log a second; None if it did not.
    """

    target: str
    address: str
    version: str
    settings: Mapping[str, str]
    dialect: Dialect | None
    live: bool
    catalog: Catalog | None = None
    no_catalog: str = ""
    devices: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    device_notes: tuple[str, ...] = ()
    updated: bool | None = None
    log_per_s: float | None = None

    @property
    def private(self) -> bool:
        """Whether it is an engine of Dyno's own."""
        return self.address.startswith("embedded:")

    @property
    def product(self) -> str:
        """The product in its own spelling."""
        return self.version.partition(" ")[0] or self.target


@dataclass(frozen=True)
class System:
    """What rules judge.

    Attributes:
        title: How it is called.
        host: Facts on the machine of the database, or on this one.
        volumes: Of the database's files; without a database, of the folder that was named.
        database: None for a machine alone.
        machine: Whether the rules on the machine are judged with it.
        work: What the database does; None if unknown.
        today: When the facts were read.
        uses: Where the reads of the database go.
        loads: Dyno's own data in it.
        columns: What the database knows of columns; None if Dyno could not read it.
        indexes: What is known of indexes that do not exist; None without a database that Dyno
            can ask about them.
    """

    title: str
    host: Facts
    volumes: tuple[Volume, ...] = ()
    database: Database | None = None
    machine: bool = True
    work: Work | None = None
    today: date = field(default_factory=date.today)
    uses: Uses = field(default_factory=Uses)
    loads: tuple[Load, ...] = ()
    columns: ColumnView | None = None
    indexes: IndexAdvice | None = None

    @property
    def memory_bytes(self) -> float:
        """Memory that a server may use: of the machine, or of its control group."""
        _ = self.host.number("memory", "total_bytes")
        return float(usable_memory_bytes(dict(self.host.values)) or 0)

    @property
    def cpus(self) -> int:
        """CPUs that a server may use."""
        _ = self.host.number("cpu", "logical")
        return usable_threads(dict(self.host.values))

    @property
    def known_work(self) -> Work:
        """What the database does."""
        if self.work is None:
            raise inapplicable("what the database does is unknown: give --work oltp, dss or load")
        return self.work

    @property
    def db(self) -> Database:
        """The database."""
        if self.database is None:
            raise inapplicable("no database was named: give a TARGET, or a RUN of one")
        return self.database

    @property
    def dialect(self) -> Dialect:
        """The words of the database."""
        if self.db.dialect is None:
            raise inapplicable(f"Dyno does not know the settings of {self.db.product}")
        return self.db.dialect

    def some_volumes(self) -> tuple[Volume, ...]:
        """Every known volume.

        Raises:
            GapError: If none is known.
        """
        if self.volumes:
            return self.volumes
        raise unreadable(
            "; ".join(self.db.device_notes)
            or "the files of the database are not on this machine; run Dyno there"
        )

    def volume(self, role: str) -> Volume:
        """The volume of a role."""
        for volume in self.some_volumes():
            if role in volume.roles:
                return volume
        notes = "; ".join(self.db.device_notes)
        raise unreadable(notes or f"the volume of its {role} files is unknown")

    def devices(self, role: str) -> tuple[str, ...]:
        """The block devices of a role."""
        found = self.db.devices.get(role, ())
        if not found:
            notes = "; ".join(self.db.device_notes)
            raise unreadable(notes or f"the devices of its {role} files are unknown")
        return found

    def term(self, term: Term) -> Known:
        """What the database has set for a term."""
        dialect, catalog = self.dialect, self.db.catalog
        if catalog is not None and term in catalog.impossible:
            raise inapplicable(catalog.impossible[term])
        for knob in dialect.knobs.get(term, ()):
            text = self.db.settings.get(knob.name)
            value = None if text is None else knob.read(text)
            if text is not None and value is None:
                raise unreadable(f"{knob.name} has the value {text}, which Dyno does not know")
            if text is not None and value is not None:
                return Known(knob.name, value, text)
        if term in dialect.lacks:
            raise inapplicable(dialect.lacks[term])
        if term not in dialect.knobs:
            raise inapplicable(f"{self.db.product} has no setting for it that Dyno knows")
        name = dialect.knobs[term][-1].name
        if not self.db.live:
            raise unreadable(f"the run did not record {name}; give the live TARGET")
        hidden = None if catalog is None else catalog.hidden.get(name)
        if hidden:
            raise unreadable(hidden)
        raise inapplicable(f"this {self.db.product} has no {name}")

    def amount(self, term: Term) -> float:
        """A term that is a number."""
        found = self.term(term)
        if isinstance(found.value, str):
            raise unreadable(f"{found.name} has the value {found.shown}, which is not a number")
        return float(found.value)

    def mend(self, term: Term, value: Value) -> tuple[str, ...]:
        """The commands that set a term."""
        if term in self.dialect.rebuild:
            return (self.dialect.rebuild[term],)
        knob = self._knob(term)
        listed = self.db.settings.get(knob.name, "").strip() if knob.appended else ""
        text = ", ".join(filter(None, (listed, knob.write(value))))
        return (*filter(None, (knob.before,)), *self.dialect.assign(knob, text))

    def _knob(self, term: Term) -> Knob:
        knobs = self.dialect.knobs[term]
        return next((one for one in knobs if one.name in self.db.settings), knobs[0])

    def catalog(self, part: Part) -> Catalog:
        """What the live database knows, with a part."""
        found = self.db.catalog
        if found is None:
            raise unreadable(self.db.no_catalog or "a run does not record it; give a live TARGET")
        if part in found.obstacles:
            raise unreadable(found.obstacles[part])
        return found

    def counter(self, counter: Counter) -> float:
        """A counter of the live database."""
        found = self.catalog("counters")
        if counter in found.counters:
            return found.counters[counter]
        reason = found.obstacles.get(counter)
        if reason:
            raise unreadable(reason)
        raise inapplicable(f"{self.db.product} does not count it")
