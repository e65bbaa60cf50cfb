"""Reading a bundle: the only door that the stages after a run go through."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from dyno.errors import UsageError
from dyno.model import SCHEMA_VERSION, Check, Estimate, Finding, Run, Validity
from dyno.tables import read_table

if TYPE_CHECKING:
    import pyarrow as pa


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
        except (OSError, ValueError, AttributeError, ValidationError) as error:
            raise UsageError(f"{head} cannot be read: {str(error).splitlines()[0]}.") from error

    def judged(self, validity: Validity) -> Bundle:
        """The same bundle with another judgement; the file is left as it is."""
        return Bundle(self.path, self.run.model_copy(update={"validity": validity}))

    def table(self, name: str) -> pa.Table:
        """A table by name: ``samples``, ``queries``, ``io`` or ``ops/<level>``."""
        return read_table(self.path, name)

    def levels(self) -> list[str]:
        """Names of the load levels under ``ops/``, in the order of their phases."""
        stems = {file.stem for file in (self.path / "ops").glob("*.*") if file.name[0] != "."}
        order = [phase.detail.get("level") for phase in self.run.phases]
        return sorted(stems, key=lambda stem: (order.index(stem) if stem in order else 99, stem))

    def checks(self) -> list[Check]:
        """The proofs in ``checks.json``."""
        return [Check.model_validate(item) for item in self._json("checks")]

    def estimates(self) -> list[Estimate]:
        """The figures in ``estimates.json``."""
        return [Estimate.model_validate(item) for item in self._json("estimates")]

    def findings(self) -> list[Finding]:
        """The judgements in ``findings.json``."""
        return [Finding.model_validate(item) for item in self._json("findings")]

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

    def _json(self, name: str) -> list[Any]:
        file = self.path / f"{name}.json"
        return json.loads(file.read_text(encoding="utf-8")) if file.exists() else []


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

    Raises:
        UsageError: If none or several match.
    """
    if (Path(name) / "run.json").is_file():
        return Bundle.open(Path(name))
    bundles = list_bundles(out)
    if name == "last" and bundles:
        return bundles[0]
    matches = [bundle for bundle in bundles if bundle.run.run.startswith(name)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise UsageError(f"'{name}' matches {len(matches)} runs; give more of the name.")
    raise UsageError(f"No run '{name}' in {out}. `dyno runs list` shows what is there.")
