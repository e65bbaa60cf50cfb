"""Files of statements that a study names: their paths are relative to the study's own file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dyno.studies.form import StudySpec
from dyno.studies.model import Value

_KEY = "workload"


def rebased(spec: StudySpec, source: str) -> StudySpec:
    """The specification with the paths of files next to the study's.

    Args:
        spec: The specification.
        source: The path of its file, or a word that is none.
    """
    folder = Path(source).parent
    if not Path(source).is_absolute():
        return spec

    def file(word: str) -> str:
        found = folder / Path(word).expanduser()
        return str(found) if word.endswith(".toml") and found.exists() else word

    def path(text: Value) -> Value:
        if not isinstance(text, str):
            return text
        whole = file(text)
        return whole if whole != text else "+".join(map(file, text.split("+")))

    def changed(one: Mapping[str, Value]) -> dict[str, Value]:
        return {key: path(value) if key == _KEY else value for key, value in one.items()}

    base = spec.base.model_copy(update={_KEY: path(spec.base.workload)})
    factors = {
        key: [path(value) for value in values] if key == _KEY else values
        for key, values in spec.factors.items()
    }
    variants = [changed(one) for one in spec.variants]
    return spec.model_copy(update={"base": base, "factors": factors, "variants": variants})
