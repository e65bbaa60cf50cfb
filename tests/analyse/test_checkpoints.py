"""Checkpoints of a level are those that began between two readings in its measured time."""

from __future__ import annotations

from pathlib import Path

import pytest

from dyno.analyse import estimate
from dyno.bundle.model import Estimate
from dyno.contracts import checkpoints
from tests.bundles import SECOND, Builder


def checkpoint_estimates(builder: Builder) -> dict[str, Estimate]:
    return {one.name: one for one in estimate(builder.write()) if "checkpoint" in one.name}


def level(folder: Path, begun: dict[float, int], *, target: str = "postgresql") -> Builder:
    """A level of 5 s of warm-up and 10 s that count; readings are at seconds after its warm-up."""
    builder = Builder(folder, verb="run").machine().oltp(4, duration_s=10)
    start = min(row["t_ns"] for row in builder.tables["ops/users-4"] if row["phase"] == "measure")
    builder.tables.setdefault("samples", []).extend(
        {"t_ns": start + round(at * SECOND), **sample._asdict()}
        for at, count in begun.items()
        for sample in checkpoints.samples(target, count, "a_setting", 300.0)
    )
    return builder


def test_those_of_the_warm_up_do_not_count(tmp_path: Path) -> None:
    found = checkpoint_estimates(
        level(tmp_path / "run", {-4.0: 3, -0.5: 7, 0.5: 8, 5.0: 9, 9.5: 11, 10.5: 12})
    )
    assert found["oltp.users-4.checkpoints"].value == 3
    assert found["oltp.users-4.checkpoint_interval_s"].value == 300
    assert found["oltp.users-4.checkpoint_interval_s"].source == "a_setting"


@pytest.mark.parametrize(
    ("begun", "count"),
    [({-1.0: 7, 0.5: 9}, 0), ({-1.0: 7}, 0), ({0.5: 9, 9.5: 9}, 0), ({0.5: 9, 3.0: 10}, 1)],
)
def test_only_those_count_that_certainly_began_in_it(
    tmp_path: Path, begun: dict[float, int], count: int
) -> None:
    assert (
        checkpoint_estimates(level(tmp_path / "run", begun))["oltp.users-4.checkpoints"].value
        == count
    )


@pytest.mark.parametrize("begun", [{}, {1.0: 7, 5.0: 1}, {-60.0: 7, 60.0: 9}])
def test_what_is_not_known_leaves_no_metric(tmp_path: Path, begun: dict[float, int]) -> None:
    assert checkpoint_estimates(level(tmp_path / "run", begun)) == {}


def test_another_servers_do_not_count(tmp_path: Path) -> None:
    assert checkpoint_estimates(level(tmp_path / "run", {1.0: 7, 5.0: 9}, target="mysql")) == {}


def test_a_bundle_from_before_the_probe_has_its_own_count(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "run", verb="run").machine().oltp(4, duration_s=10)
    counted = {"count": 2, "interval_s": 30.0, "setting": "a_setting", "source": "a counter"}
    detail = {**builder.phases[-1].detail, "checkpoints": counted}
    builder.phases[-1] = builder.phases[-1].model_copy(update={"detail": detail})
    found = checkpoint_estimates(builder)
    assert found["oltp.users-4.checkpoints"].value == 2
    assert found["oltp.users-4.checkpoints"].source == "a counter"
