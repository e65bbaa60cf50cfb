"""Limits that are really in force; a test skips where this user may not create groups."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dyno.confinement import places
from dyno.confinement.limits_asked import Controller
from dyno.confinement.run import Confinement, confine
from dyno.contracts.target import LimitedPlace
from dyno.errors import UsageError
from tests.conftest import missing

Confine = Callable[..., Confinement]


def require(*controllers: Controller) -> None:
    """Skips where such a group cannot be made, with the reason."""
    try:
        places.find(controllers)
    except UsageError as error:
        missing(f"a control group for {', '.join(controllers)} ({error})")


@pytest.fixture
def confined(tmp_path: Path) -> Confine:
    """Makes limits that are not in force yet."""

    def make(*texts: str, where: LimitedPlace = "server") -> Confinement:
        try:
            found = confine(texts, where, [tmp_path])
        except UsageError as error:
            missing(f"a control group ({error})")
        assert found is not None
        return found

    return make
