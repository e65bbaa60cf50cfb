"""Reads a study from its file (``dyno.studies.form``) and applies command-line overrides."""

from __future__ import annotations

from dyno import studies
from dyno.config import presets, strict
from dyno.errors import UsageError
from dyno.studies.build import build
from dyno.studies.form import StudySpec
from dyno.studies.model import Study
from dyno.studies.overrides import Overrides
from dyno.studies.overrides import plain as spelling
from dyno.studies.variants import rebased


def read(text: str, instead: Overrides | None = None) -> Study:
    """Reads the study named by ``text``: a shipped one, or a file.

    Args:
        text: Its name or path.
        instead: Command-line overrides.

    Raises:
        UsageError: If it does not exist, cannot be read or is contradictory.
    """
    name, source, content = presets.find(studies.FOLDER, "study", text)
    what = f"Study {name if source == 'preset' else text}"
    spec = strict.parse(StudySpec, what, content)
    return build(name, source, what, spec if instead is None else _overridden(spec, instead))


def _overridden(spec: StudySpec, instead: Overrides) -> StudySpec:
    """Applies the overrides to a specification.

    Raises:
        UsageError: If an override concerns a path in which the variants differ.
    """
    changes = instead.changes()
    differ = {spelling(path) for one in (spec.factors, *spec.variants) for path in one}
    for path in changes:
        if spelling(path) in differ:
            raise UsageError(
                f"{path} is what the variants differ in; it cannot be the same for all of them."
            )
    asked = {
        "pairs": instead.pairs,
        "margin": instead.margin,
        "time_limit": instead.time_limit,
        "reset": instead.reset,
        "early_stop": instead.early_stop,
    }
    given = {name: value for name, value in asked.items() if value is not None}
    return spec.model_copy(update={"base": rebased(spec.base, changes), **given})
