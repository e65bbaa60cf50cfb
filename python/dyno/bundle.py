"""Reading a bundle: the only door that the stages after a run go through."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from dyno.errors import UsageError
from dyno.model import SCHEMA_VERSION, Check, Estimate, Finding, Phase, Run, Validity
from dyno.tables import read_table

if TYPE_CHECKING:
    import pyarrow as pa


T = TypeVar("T", bound=BaseModel)

_PREPARING = {"machine", "provision"}
_ROWS = ("io.*", "queries.*", "during.*", "ops/*")
"""Files that have the rows of work, also of work that failed."""


@dataclass(frozen=True)
class Bundle:
    """A finished, running or killed run, read only. Bundles of others are untrusted input."""

    path: Path
    run: Run

    @classmethod
    def open(cls, path: Path) -> Bundle:
        """Opens the bundle in folder ``path``.

        Raises:
            UsageError: If it is no bundle, damaged, or of a newer Dyno.
        """
        head = path / "run.json"
        if not head.is_file():
            raise UsageError(f"{path} is not a run bundle: it has no run.json.")
        try:
            data = json.loads(head.read_text(encoding="utf-8"))
            version = data.get("schema_version")
            if isinstance(version, int) and version > SCHEMA_VERSION:
                raise UsageError(f"{path} was written by a newer Dyno (schema {version}).")
            return cls(path, Run.model_validate(data))
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
        """Whether there is anything to read: work that did not fail, or rows of work that did.

        Starting or reaching a target is no such work.
        """
        work = [phase for phase in self.run.phases if phase.kind not in _PREPARING]
        if any(phase.status != "failed" for phase in work):
            return True
        return any(_has_rows(file) for rows in _ROWS for file in self.path.glob(rows))

    def judged(self, validity: Validity) -> Bundle:
        """The same bundle with another judgement; the file is left as it is."""
        return Bundle(self.path, self.run.model_copy(update={"validity": validity}))

    def table(self, name: str) -> pa.Table:
        """A table by name: ``samples``, ``queries``, ``io`` or ``ops/<level>``.

        Raises:
            UsageError: If its file is damaged.
        """
        import pyarrow as pa

        try:
            return read_table(self.path, name)
        except (pa.ArrowException, OSError, ValueError, AttributeError) as error:
            raise self.damaged(name, _reason(error)) from error

    def damaged(self, table: str, reason: str) -> UsageError:
        """The error for a table that cannot be used."""
        return UsageError(
            f"The table {table} of {self.path} is damaged: {reason}. Restore it from a copy, or "
            "run again."
        )

    def levels(self) -> list[str]:
        """Names of the load levels under ``ops/``, in the order of their phases."""
        stems = {file.stem for file in (self.path / "ops").glob("*.*") if file.name[0] != "."}
        order = [phase.detail.get("level") for phase in self.run.phases]
        return sorted(stems, key=lambda stem: (order.index(stem) if stem in order else 99, stem))

    def parts(self, level: str | None) -> list[Phase]:
        """Phases of the databases of which ``level`` is the sum, in the order of the run."""
        every = self.run.phases if level is not None else ()
        return [phase for phase in every if phase.part_of == level]

    def checks(self) -> list[Check]:
        """The proofs in ``checks.json``."""
        return self._items("checks", Check)

    def estimates(self) -> list[Estimate]:
        """The figures in ``estimates.json``."""
        return self._items("estimates", Estimate)

    def findings(self) -> list[Finding]:
        """The judgements in ``findings.json``."""
        return self._items("findings", Finding)

    def plans(self) -> list[tuple[str, str, dict[str, Any]]]:
        """Target, query and content of each kept plan; files that are damaged are left out."""
        found: list[tuple[str, str, dict[str, Any]]] = []
        for file in sorted((self.path / "plans").glob("*/*.json")):
            if file.name.startswith("."):
                continue
            try:
                content = json.loads(file.read_text(encoding="utf-8"))
            except (OSError, ValueError, RecursionError):
                continue
            if isinstance(content, dict):
                found.append((file.parent.name, file.stem, content))
        return found

    def _items(self, name: str, model: type[T]) -> list[T]:
        """The list in a file; empty if there is none.

        Raises:
            UsageError: If it is damaged.
        """
        file = self.path / f"{name}.json"
        try:
            if not file.exists():
                return []
            content: list[Any] = json.loads(file.read_text(encoding="utf-8"))
            if not isinstance(content, list):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise ValueError("it holds no list")
            return [model.model_validate(item) for item in content]
        except (OSError, ValueError, RecursionError) as error:
            again = "" if name == "checks" else f" `dyno report {self.run.run}` makes it anew."
            reason = str(error).splitlines()[0]
            raise UsageError(f"{file} cannot be read: {reason}.{again}") from error


def _reason(error: Exception) -> str:
    """Why a table's file cannot be read; a library's own words are for those who wrote it."""
    system = isinstance(error, OSError) and error.errno is not None and error.strerror
    if system and "Parquet" not in system:
        return system
    return "its file is cut short, or is not what Dyno writes"


def _has_rows(file: Path) -> bool:
    """Whether a table's file, if it is one, has any; a damaged one counts as if."""
    if not file.is_file():
        return False
    if file.suffix != ".parquet":
        return file.stat().st_size > 0
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_metadata(file).num_rows > 0
    except (OSError, pa.ArrowException):
        return True


def list_bundles(out: Path) -> list[Bundle]:
    """All readable bundles under ``out``, newest first."""
    found: list[Bundle] = []
    for head in sorted(out.glob("*/run.json"), reverse=True):
        try:
            found.append(Bundle.open(head.parent))
        except UsageError:
            continue
    return found


def find_bundle(out: Path, name: str) -> Bundle:
    """The bundle called ``name``: a path, a run id, its unique beginning, or ``last``.

    ``last`` is the newest that measured anything: a failed start is not looked for.

    Raises:
        UsageError: If none or several match.
    """
    if (Path(name) / "run.json").is_file():
        return Bundle.open(Path(name))
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
