"""An effect that was planted in a modelled server, through the whole machinery."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.process import document, dyno

TOML = """
pairs = 2
headline = ["tps"]

[base]
workload = "tpcc"
target = "null:?mean_us=4000"

[base.run]
warmup = "0s"
duration = "400ms"
no_criteria = true

[factors]
"run.users" = [1, 2, 4]
"""


@pytest.mark.long
def test_users_who_do_not_meet_add_up(tmp_path: Path, out: Path) -> None:
    """The modelled server has capacity for all: throughput is in proportion to users."""
    path = tmp_path / "users.toml"
    path.write_text(TOML)
    done = dyno("study", path, "--json", "--out", out)
    assert done.returncode == 0, done.stderr
    found = document(done)["outcome"]
    (fit,) = found["fits"]
    assert fit["factor"] == "run.users"
    assert 0.7 < fit["exponent"]["value"] < 1.3
    assert [point["x"] for point in fit["points"]] == [1, 2, 4]
    shifts = {one["variant"]: one["percent"] for one in found["comparisons"]}
    assert set(shifts) == {"users=2", "users=4"}
    assert 50 < shifts["users=2"] < 150
    assert 200 < shifts["users=4"] < 400
    assert found["noise"] == []
