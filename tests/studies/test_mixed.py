"""Studies of several workloads at once: their plans, loads, names and metrics."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dyno.errors import UsageError
from dyno.studies import asked, lengths, metrics
from dyno.studies.build import build
from dyno.studies.form import StudySpec
from dyno.studies.model import Study
from tests.process import dyno

PG = "embedded:postgresql"


def study(workload: str = "tpcc+tpch", **changes: object) -> Study:
    spec = {
        "headline": ["member_tps", "member_qph"],
        "base": {
            "workload": workload, "target": PG, "scale": 2, "scales": {"tpch": 0.1},
            "run": {"users": "tpcc=4 tpch=1", "duration": "20s"},
        },
        "variants": [{"name": "more", "settings.memory": "1GB"}],
    }  # fmt: skip
    return build("mine", "preset", "mine", StudySpec.model_validate({**spec, **changes}))


def test_each_workload_is_loaded_at_its_scale_and_all_run_at_once() -> None:
    made = study()
    base, more = made.variants
    loads = asked.loads(base, made, None)
    assert [(one.workload, one.scale) for one in loads] == [("tpcc", 2), ("tpch", 0.1)]
    run = asked.run(base, made.reset, 1, None)
    assert run.workload == "tpcc+tpch"  # type: ignore[union-attr]
    words = " ".join(run.words())
    assert "--users tpcc=4 --users tpch=1" in words
    assert "--scale tpcc=2" in words and "--scale tpch=0.1" in words
    assert base.data == more.data and base.kind == "oltp"
    assert made.reset == "reload", "transactions change the data"
    single = [
        lengths.raw_bytes(base.model_copy(update={"workload": word, "scale": scale, "scales": {}}))
        for word, scale in (("tpcc", 2.0), ("tpch", 0.1))
    ]
    assert lengths.raw_bytes(base) == pytest.approx(sum(single))


def test_metrics_are_those_of_transactions_and_of_each_workload() -> None:
    had = metrics.had_by("tpcc+tpch", "run")
    assert {"tps", "member_tps", "member_query_p95_s", "new_orders_per_min"} <= set(had)
    # Streams that repeat their queries have no power test.
    assert not {"power_total_s", "query_s"} & set(had)
    assert "member_tps" not in metrics.had_by("tpcc", "run")


def test_levels_of_two_workloads_are_not_mistaken_for_one() -> None:
    had = set(metrics.had_by("tpcc+brokerage", "run"))
    assert not {"tps", "client_cpu_ms", "tps_beside"} & had
    assert {"member_tps", "new_orders_per_min", "p95_ms", "cpu_percent"} <= had


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"workload": "tpcc+tpcx"}, "Did you mean"),
        ({"workload": "tpcc+io"}, "unknown workload 'io'"),
        ({"scales": {"tpce": 1}}, "scales.tpce: no such workload"),
        ({"scales": {"tpch": -1}}, "scales.tpch is -1"),
        ({"scale": None}, "scales needs scale"),
        ({"verb": "load", "run": {}}, "needs one database workload"),
    ],
)
def test_what_makes_no_sense_is_refused(changes: dict[str, object], words: str) -> None:
    base = {
        "workload": "tpcc+tpch", "target": PG, "scale": 2, "scales": {"tpch": 0.1},
        "run": {"users": 1}, **changes,
    }  # fmt: skip
    with pytest.raises(UsageError) as caught:
        study(base=base, headline=["load_s"] if "verb" in changes else ["tps"])
    assert words.lower() in str(caught.value).lower()


def test_single_windows_are_not_available() -> None:
    made = study()
    alone = made.variants[0].model_copy(update={"run": {"alone": True}})
    with pytest.raises(UsageError, match=r"run\.alone is set by the study, or is not available"):
        asked.require_known(alone)


def test_files_of_statements_next_to_the_study_may_be_members(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        'name = "mine"\n[[queries]]\nname = "a"\nsql = "select 1"\n'
    )
    spec = StudySpec.model_validate({
        "headline": ["tps"], "base": {"workload": "tpcc+mine.toml", "target": PG},
        "variants": [{"name": "more", "settings.memory": "1GB"}],
    })  # fmt: skip
    made = build("mine", str(tmp_path / "study.toml"), "mine", spec)
    assert made.variants[0].members == ["tpcc", str(tmp_path / "mine.toml")]


@pytest.mark.long
def test_a_study_of_two_workloads_finds_the_slow_target(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text("""
pairs = 3
headline = ["member_tps"]
exploratory = ["member_p95_ms"]
replace = 1
[base]
workload = "tpcc+brokerage"
target = "null:?mean_us=500"
[base.run]
users = "tpcc=2 brokerage=1"
warmup = "100ms"
duration = "400ms"
no_criteria = true
[[variants]]
name = "slow"
target = "null:?mean_us=5000"
""")
    done = dyno("study", file, "--json", "--out", tmp_path / "out")
    assert done.returncode in {0, 1}, done.stderr
    found = json.dumps(json.loads(done.stdout))
    assert "member_tps.tpcc" in found and "member_tps.brokerage" in found
    assert "member_p95_ms.tpcc" in found
