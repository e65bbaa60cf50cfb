"""A storage profile that was limited by the driver."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.decide.test_storage_rules import codes, of, profile
from tests.judged import judged


@pytest.mark.parametrize(("percent", "marked"), [(None, False), (80.0, False), (97.0, True)])
def test_a_busy_io_thread_may_hide_a_faster_volume(
    tmp_path: Path, percent: float | None, marked: bool
) -> None:
    builder = profile(tmp_path)
    for row in builder.tables["io"]:
        row["thread_percent"] = percent if row["phase"] == "mixed" else 30.0
    found = judged(builder.write())
    assert codes(found) == ({"client-bound"} if marked else set())
    assert found.validity.valid is True
    for reason in of(found, "client-bound"):
        assert "mixed (97 %)" in reason.message
        assert reason.evidence
