"""Plans with several workloads or targets: values by workload, members, and what is refused."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dyno.errors import UsageError
from dyno.plans import documents
from dyno.plans.fields import made
from dyno.plans.run import RunPlan
from dyno.runner.mix.job import job
from dyno.runner.mix.members import REFUSED, is_mix, members
from dyno.runner.mix.windows import windows

PG = "postgresql://u@h/d"
MARIADB = "mysql://u@h/"


def plan(workload: str = "tpcc+tpch", target: Any = PG, **options: Any) -> RunPlan:
    return made(RunPlan, {"workload": workload, "target": target, **options})


def test_values_for_one_workload_go_to_its_part_of_the_plan() -> None:
    asked = plan(users=["tpcc=8", "tpch=2"], rate="tpcc=200", scale={"tpcc": 3}, timeout="90s")
    tpcc, tpch = members(asked)
    assert (tpcc.name, tpch.name) == ("tpcc", "tpch")
    assert (tpcc.asked.users, tpcc.asked.rate, tpcc.asked.scale) == ((8,), ("200",), 3)
    assert (tpch.asked.users, tpch.asked.rate, tpch.asked.scale) == ((2,), (), None)
    assert (tpch.asked.timeout, tpcc.asked.given("timeout")) == ("90s", False)
    assert (tpcc.label, tpch.label) == ("", ""), "the names that they have alone"


def test_users_think_where_the_workload_has_think_times() -> None:
    tpcc, brokerage, tpch = members(plan("tpcc+brokerage+tpch", think=True))
    assert (tpcc.asked.think, brokerage.asked.think, tpch.asked.think) == (True, False, False)
    with pytest.raises(UsageError, match="no think times"):
        job(plan("brokerage+tpch", think=True))


def test_arrivals_are_for_workloads_with_a_rate() -> None:
    tpcc, brokerage = members(plan("tpcc+brokerage", rate="tpcc=200", arrivals="fixed"))
    assert (tpcc.asked.arrivals, brokerage.asked.arrivals) == ("fixed", None)
    with pytest.raises(UsageError, match="--arrivals"):
        job(plan("tpcc+brokerage", arrivals="fixed"))


def test_a_value_without_a_workload_is_for_all_and_one_with_it_goes_first() -> None:
    tpcc, tpch = members(plan(users=[4, "tpch=2"]))
    assert (tpcc.asked.users, tpch.asked.users) == ((4,), (2,))


def test_the_command_line_of_a_plan_makes_the_same_plan() -> None:
    asked = plan(users=[4, "tpch=2"], scale="tpcc=3", alone=True, repeat=2, target=[PG, MARIADB])
    words = shlex.split(asked.command)
    assert words.count("--target") == 2
    assert {"tpch=2", "tpcc=3", "--alone", "--repeat"} <= set(words)
    read = documents.read(json.dumps(documents.document(asked)))
    assert read == asked and read.model_fields_set == asked.model_fields_set


def test_a_plan_of_one_workload_takes_its_name_too() -> None:
    assert not is_mix(plan("tpcc", users="tpcc=8"))
    assert plan("tpcc", users="tpcc=8").by_workload == (("users", "tpcc=8"),)


def test_targets_of_one_product_have_numbers() -> None:
    found = members(plan("tpcc+tpch", [PG, MARIADB, "postgresql://u@other/d"]))
    assert [one.place.name for one in found[::2]] == ["postgresql", "mysql", "postgresql@2"]
    assert [one.name for one in found[-2:]] == ["tpcc-postgresql@2", "tpch-postgresql@2"]
    assert [one.label for one in found[::2]] == ["postgresql", "mysql", "postgresql@2"]


def test_workloads_of_transactions_have_levels_of_their_own() -> None:
    found = members(plan("tpcc+brokerage"))
    assert [one.label for one in found] == ["tpcc", "brokerage"]


def test_queries_of_several_workloads_share_windows() -> None:
    asked = plan("tpch+ch", users=["tpch=2", "ch=3"], duration="20s", warmup="1s", timeout="90s")
    tpch, ch = members(asked)
    assert (tpch.asked.users, ch.asked.users) == ((2,), (3,))
    assert {one.asked.timeout for one in (tpch, ch)} == {"90s"}
    # The times are those of the windows.
    assert not any(one.asked.given(name) for one in (tpch, ch) for name in ("duration", "warmup"))
    found = job(asked)
    assert (found.record["warmup_s"], found.record["duration_s"]) == (1.0, 20.0)
    assert "1 window (1 s of warm-up, 20 s measured, 21 s in all):" in found.outline


def test_one_workload_with_queries_on_several_targets_runs_to_completion() -> None:
    with pytest.raises(UsageError, match="--duration applies to transactions"):
        job(plan("tpch", [PG, MARIADB], duration="20s"))
    found = job(plan("tpch", [PG, MARIADB], users=2))
    assert (found.record["warmup_s"], found.record["duration_s"]) == (None, None)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"users": "tpce=8"}, "the run has no workload tpce. Did you mean"),
        ({"users": ["tpcc=1", "tpcc=2"]}, "--users was given 2 times for tpcc"),
        ({"users": [1, 2]}, "Give --users once for tpcc"),
        ({"users": "tpcc=x"}, "Invalid value for '--users'"),
        ({"users": "tpcc=0"}, "Invalid value for '--users'"),
        ({"scale": [1, 2]}, "--scale was given 2 times"),
        ({"workload": "tpcc+tpcc"}, "tpcc is named twice"),
        ({"workload": "tpcc+tpcx"}, "Unknown workload 'tpcx'"),
        ({"target": [PG, PG]}, "Name each target once"),
        ({"target": []}, "Name at least one"),
        ({"find_max": "users"}, "--find-max and several workloads cannot be combined"),
        ({"during": "vacuum"}, "--during and several workloads cannot be combined"),
        ({"databases": 2}, "--databases and several workloads cannot be combined"),
        ({"cold": True}, "--cold and several workloads cannot be combined"),
        ({"test": "power"}, "run queries as streams"),
        ({"refresh": True}, "--refresh and transactions cannot be combined"),
        (
            {"refresh": True, "workload": "tpch+ch"},
            "--refresh and several workloads cannot be combined",
        ),
        ({"repeat": 3}, "--repeat requires --alone"),
        ({"alone": True, "workload": "tpcc"}, "--alone requires several workloads"),
        ({"alone": True, "target": [PG, MARIADB]}, "--alone and several --target"),
        ({"limits": {"cpu": 1}, "target": [PG, MARIADB]}, "--limit and several --target"),
        ({"workload": "tpch", "target": [PG, MARIADB], "during": "vacuum"}, "several targets"),
    ],
)
def test_combinations_that_are_not_supported_are_refused(
    options: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError) as caught:
        members(plan(**{"workload": "tpcc+tpch", "target": PG, **options}))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("postgresql://u@db/d", "postgresql://u@db:5432/d"),
        ("postgresql://u@db/d", "postgres://v:secret@DB/d?sslmode=require"),
        ("postgresql://u@localhost/d", "postgresql://u@127.0.0.1:5432/d"),
        ("postgresql://u@[::1]/d", "postgresql://u@localhost/d"),
        ("postgresql://d@h/", "postgresql://u@h/d"),
        ("postgresql:///d?host=/tmp", "postgresql://u@/d?host=/tmp/../tmp"),
        ("mysql://u@db/", "mariadb://v@db:3306/"),
        ("mysql://u@localhost/", "mysql://u@127.0.0.1/other"),
        ("mysql:///?unix_socket=/tmp/s", "mysql://u@h/?unix_socket=/tmp/./s"),
        ("mssql://u@db/d", "mssql://v@db:1433/d?trust=yes"),
        ("sqlite:x.db", "sqlite://{here}/x.db"),
        ("duckdb:./x.db", "duckdb:x.db"),
        ("clickhouse:x", "clickhouse://{here}/link/x"),
    ],
)
def test_one_database_in_two_spellings_is_refused(
    first: str, second: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MYSQL_PWD", "secret")
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(UsageError, match="lead to the same data") as caught:
        members(plan("tpch", [first, second.format(here=tmp_path)]))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("postgresql://u@db/d", "postgresql://u@db/e"),
        ("postgresql://u@db/d", "postgresql://u@db:5433/d"),
        ("postgresql:///d?host=/a", "postgresql:///d?host=/b"),
        ("postgresql:///d?service=a", "postgresql:///d?service=b"),
        (
            "postgresql://a,b/d?target_session_attrs=primary",
            "postgresql://a,b/d?target_session_attrs=standby",
        ),
        ("postgresql://u@127.0.0.2/d", "postgresql://u@127.0.0.3/d"),
        ("mysql://u@db/", "mysql://u@db:3307/"),
        ("mysql://u@localhost/", "postgresql://u@localhost:3306/u"),
        ("sqlite:x.db", "sqlite:y.db"),
        ("null:?mean_us=1", "null:?mean_us=2"),
        ("embedded:sqlite", "sqlite:x.db"),
    ],
)
def test_different_databases_are_several_targets(first: str, second: str) -> None:
    assert len(members(plan("tpch", [first, second]))) == 2


def test_every_refused_option_is_an_option() -> None:
    assert set(REFUSED) <= set(RunPlan.model_fields)


def test_a_file_with_a_plus_sign_is_one_workload(tmp_path: Path) -> None:
    path = tmp_path / "a+b.toml"
    path.write_text("")
    assert not is_mix(plan(str(path)))


@given(
    st.lists(st.sampled_from("abcdef"), min_size=2, max_size=4, unique=True),
    st.integers(1, 7),
    st.booleans(),
)
def test_every_round_has_each_alone_and_all_at_once(
    names: list[str], rounds: int, alone: bool
) -> None:
    found = windows(names, rounds, alone=alone)
    assert len({window.name for window in found}) == len(found), "names are unique"
    if not alone:
        assert [window.members for window in found] == [tuple(names)]
        return
    for number in range(1, rounds + 1):
        own = [window for window in found if window.round == number]
        assert sorted(window.members for window in own if window.alone) == sorted(
            (name,) for name in names
        )
        assert [window.members for window in own if not window.alone] == [tuple(names)]
        # All at once is last in odd rounds and first in even ones.
        assert own[-1 if number % 2 else 0].alone is False
