"""Terms of advice as the portable settings of studies (``dyno.config.settings``)."""

from __future__ import annotations

from collections.abc import Callable

from dyno.contracts.advice import Term, Value


def _bytes(value: Value) -> str:
    return f"{max(1, round(float(value) / (1 << 20)))}MB"


def _whole(value: Value) -> str:
    return str(round(float(value)))


_SETTINGS: dict[Term, tuple[str, Callable[[Value], str]]] = {
    "cache": ("memory", _bytes),
    "checkpoint_interval": ("checkpoint_interval", lambda value: f"{_whole(value)}s"),
    "log_capacity": ("checkpoint_size", _bytes),
    "parallel": ("parallelism", _whole),
    "parallel_cost": ("parallel_cost", _whole),
    "query_cpus": ("parallelism", _whole),
    "temp_files": ("temp_files", _whole),
    "work_memory": ("work_memory", _bytes),
}


def sets(term: Term, value: Value) -> dict[str, str]:
    """The change of a study that sets a term, by path; empty if no portable setting does."""
    if term not in _SETTINGS:
        return {}
    word, write = _SETTINGS[term]
    return {f"settings.{word}": write(value)}
