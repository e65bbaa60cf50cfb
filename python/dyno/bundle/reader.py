"""Reads a bundle. All stages after a run access the bundle through this module."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from dyno.bundle import pieces, statements
from dyno.bundle.model import (
    SCHEMA_VERSION,
    Check,
    Estimate,
    Finding,
    Phase,
    Run,
    Validity,
    those,
)
from dyno.bundle.phases.oltp import OltpDetail
from dyno.bundle.tables import read_table
from dyno.errors import UsageError
from dyno.safety import plainjson, safefiles
from dyno.safety.bounded import DamagedError
from dyno.safety.text import plain

if TYPE_CHECKING:
    import pyarrow as pa


T = TypeVar("T", bound=BaseModel)

_LONGEST = 64 << 20
"""Maximum size of a JSON file of a bundle. Plans and estimates of long runs have a few MB."""
_MOST_PHASES = 2000
_MOST_FILES = 10_000
_PREPARING = {"machine", "provision"}
_ROWS = ("io.*", "queries.*", "during.*", "ops/*")
"""Files with the rows of work, including failed work."""


@dataclass(frozen=True)
class Bundle:
    """A finished, running or killed run, read-only. Bundles of others are untrusted input.

    Attributes:
        path: The bundle folder.
        archive: The archive it was temporarily unpacked from, if any.
    """

    path: Path
    run: Run
    archive: Path | None = None

    @property
    def place(self) -> Path:
        """The location that the user sees: the folder or the archive."""
        return self.archive or self.path

    @classmethod
    def open(cls, path: Path) -> Bundle:
        """Opens the bundle in folder ``path``.

        Raises:
            UsageError: If the folder is not a bundle, is damaged, or was written by a newer Dyno.
        """
        head = path / "run.json"
        try:
            data = plainjson.loads(safefiles.read_text(head, _LONGEST))
            _require_version(head, data)
            run = Run.model_validate(data)
            if len(run.phases) > _MOST_PHASES:
                raise UsageError(
                    f"{head} has {len(run.phases):,} phases; no run has more than {_MOST_PHASES:,}."
                )
            statements.remember(run.workloads, run.plan)
            return cls(path, run)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise UsageError(f"{path} is not a run bundle: it has no run.json.") from error
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, first["loc"])) or "its top"
            raise UsageError(
                f"{head} is not what this Dyno wrote or reads ({where}: {first['msg']}). It was "
                "damaged, or edited, or written by another version: make the report with that "
                "version, or run again."
            ) from error
        except (OSError, ValueError, AttributeError, RecursionError) as error:
            raise UsageError(
                f"{head} cannot be read: {str(error).splitlines()[0]}. Restore it from a copy, or "
                "run again."
            ) from error

    @property
    def measured(self) -> bool:
        """Whether there are results: work that succeeded, or rows of failed work.

        Starting or connecting to a target does not count.
        """
        work = [phase for phase in self.run.phases if phase.kind not in _PREPARING]
        if any(phase.status != "failed" for phase in work):
            return True
        return any(_has_rows(file) for rows in _ROWS for file in self.path.glob(rows))

    def judged(self, validity: Validity) -> Bundle:
        """Returns the same bundle with another verdict. The file is unchanged."""
        return replace(self, run=self.run.model_copy(update={"validity": validity}))

    def table(self, name: str) -> pa.Table:
        """Returns a table by name: ``samples``, ``queries``, ``io`` or ``ops/<level>``.

        Raises:
            UsageError: If its file is damaged.
        """
        import pyarrow as pa

        try:
            found = read_table(self.path, name)
            before = pieces.read(self.path, name)
            return pa.concat_tables([*before, found]) if before else found
        except DamagedError as error:
            raise self.damaged(name, error.reason) from error
        except (pa.ArrowException, OSError, ValueError, AttributeError) as error:
            raise self.damaged(name, _reason(error)) from error

    def damaged(self, table: str, reason: str) -> UsageError:
        """Returns the error for an unusable table."""
        return UsageError(
            f"The table {table} of {self.path} is damaged: {reason}. Restore it from a copy, or "
            "run again."
        )

    def levels(self) -> list[str]:
        """Returns the load levels under ``ops/``, in the order of their phases."""
        stems = {Path(name).stem for name in _files(self.path / "ops", (".parquet", ".jsonl"))}
        order = [phase.detail.level for phase in those(self.run.phases, OltpDetail)]
        return sorted(stems, key=lambda stem: (order.index(stem) if stem in order else 99, stem))

    def parts(self, level: str | None) -> list[Phase[OltpDetail]]:
        """Returns the phases of the databases that ``level`` totals, in run order."""
        every = those(self.run.phases, OltpDetail) if level is not None else ()
        return [phase for phase in every if phase.detail.part_of == level]

    def checks(self) -> list[Check]:
        """Returns the checks in ``checks.json``."""
        return self._items("checks", Check)

    def estimates(self) -> list[Estimate]:
        """Returns the metrics in ``estimates.json``."""
        return self._items("estimates", Estimate)

    def findings(self) -> list[Finding]:
        """Returns the findings in ``findings.json``."""
        return self._items("findings", Finding)

    def plans(self) -> list[tuple[str, str, dict[str, Any]]]:
        """Returns target, query and content of each plan. Skips damaged files."""
        files: list[Path] = []
        found: list[tuple[str, str, dict[str, Any]]] = []
        for folder in sorted(_files(self.path / "plans", ("",))):
            for name in sorted(_files(self.path / "plans" / folder, (".json",))):
                files.append(self.path / "plans" / folder / name)
        for file in files[:_MOST_FILES]:
            try:
                content = plainjson.loads(safefiles.read_text(file, _LONGEST, below=self.path))
            except (OSError, ValueError, RecursionError, UsageError):
                continue
            if isinstance(content, dict):
                found.append((file.parent.name, file.stem, content))
        return found

    def _items(self, name: str, model: type[T]) -> list[T]:
        """Returns the list in a file; empty if the file does not exist.

        Raises:
            UsageError: If it is damaged.
        """
        file = self.path / f"{name}.json"
        try:
            content: list[Any] = plainjson.loads(safefiles.read_text(file, _LONGEST))
            if not isinstance(content, list):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise ValueError("it holds no list")
            return [model.model_validate(item) for item in content]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, RecursionError) as error:
            again = "" if name == "checks" else f" `dyno report {self.run.run}` makes it anew."
            reason = str(error).splitlines()[0]
            raise UsageError(f"{file} cannot be read: {reason}.{again}") from error


def _require_version(head: Path, data: Any) -> None:
    """Rejects bundles of another version.

    Raises:
        UsageError: With both versions.
    """
    version = data.get("schema_version", 1)
    if type(version) is int and version == SCHEMA_VERSION:
        return
    newer = str(version).isdigit() and len(str(version)) < 10 and int(version) > SCHEMA_VERSION
    shown = plain(str(version))[:20]
    raise UsageError(
        f"{head} was made by a newer Dyno (schema {shown}); this one reads {SCHEMA_VERSION}."
        if newer
        else f"{head} is damaged: its schema version is {shown}; this Dyno reads {SCHEMA_VERSION}."
    )


def _files(folder: Path, endings: tuple[str, ...]) -> list[str]:
    """Returns visible file names with these endings; none if the folder is missing or a link."""
    try:
        with safefiles.directory(folder) as opened:
            names = os.listdir(opened)  # noqa: PTH208  (by its descriptor)
    except (OSError, UsageError):
        return []
    kept = [name for name in names if name.endswith(endings) and not name.startswith(".")]
    if len(kept) > _MOST_FILES:
        raise UsageError(f"{folder} has {len(kept):,} files; no run has more than {_MOST_FILES:,}.")
    return kept


def _reason(error: Exception) -> str:
    """Returns why a table cannot be read, without the messages of libraries."""
    system = isinstance(error, OSError) and error.errno is not None and error.strerror
    if system and "Parquet" not in system:
        return system
    return DamagedError.reason


def _has_rows(file: Path) -> bool:
    """Whether the file of a table has rows. A damaged file counts as having rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with safefiles.open_regular(file) as opened:
            if file.suffix == ".parquet":
                return pq.read_metadata(opened).num_rows > 0
            return bool(opened.read(1))
    except UsageError:  # not a regular file
        return False
    except (OSError, pa.ArrowException):
        return True


def list_bundles(out: Path) -> list[Bundle]:
    """Returns all readable bundles under ``out``, newest first. Skips links."""
    found: list[Bundle] = []
    for head in sorted(out.glob("*/run.json"), reverse=True):
        if head.parent.is_symlink():
            continue
        try:
            found.append(Bundle.open(head.parent))
        except UsageError:
            continue
    return found


def find_bundle(out: Path, name: str) -> Bundle:
    """Finds a bundle by path, run id, unique prefix, or ``last``.

    ``last`` is the newest bundle with results. It skips failed starts.

    Raises:
        UsageError: If no bundle or several match.
    """
    path = Path(name)
    if os.path.lexists(path / "run.json"):
        return Bundle.open(path.resolve() if path.is_symlink() else path)
    bundles = list_bundles(out)
    if name == "last" and bundles:
        found = next((bundle for bundle in bundles if bundle.measured), None)
        if found is None:
            raise UsageError(
                f"No run in {out} has measured anything. `dyno runs list --all` shows the failed "
                "starts."
            )
        return found
    matches = [bundle for bundle in bundles if bundle.run.run.startswith(name)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise UsageError(f"'{name}' matches {len(matches)} runs; give more of the name.")
    raise UsageError(f"No run '{name}' in {out}. `dyno runs list` shows what is there.")
