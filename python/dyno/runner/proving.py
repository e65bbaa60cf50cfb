"""Tests advice by a study of what ran: what is tested, and what studies found already."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dyno.bundle.model import Run
from dyno.bundle.reader import list_bundles
from dyno.errors import DynoError, UsageError
from dyno.runner import study as work
from dyno.safety import safefiles
from dyno.studies import checks, earlier
from dyno.studies.adhoc import numbered
from dyno.studies.ending import ending
from dyno.studies.form import LAYOUT
from dyno.studies.model import Study
from dyno.studies.proofs import Basis, Changes, study_of

_NAME = "advice"
_FOLDER = "advised-layouts"


@dataclass(frozen=True)
class Test:
    """A study of advice that may run.

    Attributes:
        resume: Whether it was begun before.
        left_out: Why a change cannot be tested, by name; a sentence.
    """

    study: Study | None
    resume: bool = False
    left_out: Mapping[str, str] = field(default_factory=dict[str, str])


def filed(changes: Mapping[str, str], out: Path, *, write: bool) -> Mapping[str, str] | None:
    """Changes as a study has them: a layout that stands in them as a text is a file under ``out``.

    Args:
        changes: Of a variant.
        out: The folder of runs.
        write: Whether to write the file if there is none; otherwise None stands for such changes.

    Raises:
        OSError: If the file cannot be written.
    """
    text = changes.get(LAYOUT, "")
    if "\n" not in text:
        return changes
    name = hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]
    path = (out / _FOLDER / f"{name}.toml").absolute()
    if not path.exists():
        if not write:
            return None
        safefiles.make_folder(path.parent)
        with safefiles.replacing(path) as file:
            file.write(text.encode("utf-8"))
    return {**changes, LAYOUT: str(path)}


def newest(out: Path, target: str) -> Run:
    """The newest run of ``dyno run`` of a target that measured something.

    Raises:
        UsageError: If there is none.
    """
    for bundle in list_bundles(out):
        own = {facts.url for facts in bundle.run.targets.values()}
        if bundle.run.verb == "run" and bundle.measured and target in own:
            return bundle.run
    raise UsageError(
        f"No run of {target} in {out} to repeat: run the workload with `dyno run` first."
    )


def test_of(
    basis: Basis, asked: Mapping[str, Changes], out: Path, *, pairs: int, time_limit: str | None
) -> Test:
    """The study of changes that have no answer yet. Starts nothing.

    A change that the target cannot have is left out, with the reason. A study that was begun with
    the same changes is resumed.
    """
    left_out: dict[str, str] = {}
    fitting: dict[str, Changes] = {}
    for name, changes in asked.items():
        try:
            alone = study_of(basis, {name: changes}, name=_NAME, pairs=pairs, time_limit=None)
            work.require(alone, work.folder_of(alone, out))
        except DynoError as error:
            left_out[name] = str(error)
        else:
            fitting[name] = changes
    if not fitting:
        return Test(None, left_out=left_out)
    study = study_of(basis, fitting, name=_NAME, pairs=pairs, time_limit=time_limit)
    for book in earlier.books(out):
        named = study.model_copy(update={"name": book.study.name})
        if not checks.differences(book.study, named) and ending(book).goes_on:
            return Test(named, True, left_out)
    return Test(numbered(study, out, resume=False), left_out=left_out)
