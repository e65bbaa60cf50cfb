"""The time left of a run, from its parts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dyno.plans.fields import Plan, made
from dyno.plans.loading import LoadingPlan
from dyno.plans.run import RunPlan
from dyno.runner import jobs
from dyno.runner.ahead import Ahead, Part

ROWS, INDEX = Part(10, fixed=False), Part(5, fixed=False)


def test_parts_of_a_fixed_length_add_up() -> None:
    ahead = Ahead([Part(20), Part(30), Part(30)])
    assert ahead.left_s(0, None) is None, "nothing was measured yet"
    ahead.began("first")
    assert ahead.left_s(5, 15) == 75
    assert ahead.left_s(5, None) == 75, "a phase that knows no total"
    ahead.ended(40)
    ahead.began("second")
    assert ahead.left_s(10, 20) == 50, "a slow part changes no part of a fixed length"


def test_a_measured_part_corrects_the_rules_of_thumb() -> None:
    ahead = Ahead([ROWS, INDEX, Part(60)])
    ahead.began("Load")
    assert ahead.left_s(1, None) is None
    assert ahead.left_s(10, 30) == 30 + 20 + 60, "four times as slow as thought"
    ahead.ended(40)
    ahead.began("Index")
    assert ahead.left_s(1, 9) == pytest.approx(9 + 60)


def test_a_repeated_part_keeps_its_place() -> None:
    ahead = Ahead([Part(20), Part(30)])
    for _ in range(2):
        ahead.began("16 users")
        assert ahead.left_s(5, 15) == 45
        ahead.ended(20)


def test_what_was_not_expected_ends_with_its_phase() -> None:
    ahead = Ahead([Part(20)])
    ahead.began("16 users")
    ahead.began("Answers")
    assert ahead.left_s(1, 4) == 4
    none = Ahead([])
    none.began("Answers")
    assert none.left_s(1, 4) is None


def lengths(kind: type[Plan], out: Path, **values: object) -> list[Part]:
    return list(jobs.job_of(made(kind, {"out": out, **values})).parts)


def test_each_verb_knows_its_parts(tmp_path: Path) -> None:
    null = {"workload": "tpcc", "target": "null:"}
    levels = {**null, "users": (1, 4), "warmup": "2s", "duration": "8s"}
    assert lengths(RunPlan, tmp_path, **levels) == [Part(10)] * 2
    (first, *rest) = lengths(RunPlan, tmp_path, **{**null, "find_max": "users"})
    assert first == Part(21)
    assert set(rest) == {first}
    both = {"workload": "tpch", "target": "embedded:duckdb", "scale": 2.0, "test": "full"}
    power, streams = lengths(RunPlan, tmp_path, **both, streams=100)
    assert power == Part(2 * 2 * 3.0, fixed=False)
    assert streams.seconds > power.seconds
    loads = {"workload": "tpch", "target": "embedded:duckdb", "scale": 1.0}
    rows, index = lengths(LoadingPlan, tmp_path, **loads)
    assert replace(rows, seconds=rows.seconds / 2) == index
