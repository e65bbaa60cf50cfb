"""The JSON document of a study."""

from __future__ import annotations

import math
from typing import Any

from dyno.studies import spread
from dyno.studies.ending import ending, resume_words
from dyno.studies.metrics import wish
from dyno.studies.outcome import Outcome
from dyno.studies.store import StudyStore


def document(book: StudyStore, found: Outcome) -> dict[str, Any]:
    """The outcome with all runs, for ``--json``; infinite bounds are null."""
    entries = book.entries()
    state = ending(book)
    made: Any = _finite(
        {
            "study": book.study.model_dump(mode="json"),
            "folder": str(book.folder),
            "ended": state.text if state.kind in {"over", "limit", "early"} else None,
            "state": {
                **state.model_dump(),
                "resume": resume_words(book, state) if state.goes_on else None,
            },
            "outcome": found.model_dump(mode="json"),
            "spreads": [one.model_dump() for one in spread.spreads(book.study, entries)],
            "wishes": {one.metric: wish(one.metric, book.study) for one in found.comparisons},
            "runs": [entry.model_dump(mode="json") for entry in entries],
        }
    )
    return made


def _finite(value: Any) -> Any:
    """Replaces values that JSON cannot represent."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    return [_finite(one) for one in value] if isinstance(value, list | tuple) else value
