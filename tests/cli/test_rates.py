"""Rates as they are given: on the command line, in a file, and as a bundle keeps them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dyno.bundle import detail
from dyno.bundle.phases.oltp import OltpDetail
from dyno.bundle.reader import Bundle
from dyno.config.ratefile import read
from dyno.config.rates import Rate, recorded
from dyno.errors import UsageError
from dyno.plans.pace import parse
from dyno.workloads.tpcc.driven import TRANSACTIONS
from tests.process import document, dyno, spoilt


@pytest.mark.parametrize(
    ("text", "plan", "title", "name"),
    [
        ("500", 500.0, "500/s", "rate-500"),
        ("0.5", 0.5, "0.5/s", "rate-0.5"),
        ("100..1000", [[0, 100], [60, 1000]], "100 to 1,000/s", "ramp-100-1000"),
        ("100..100", 100.0, "100/s", "rate-100"),
        (
            "100,200,400",
            [[0, 100], [20, 100], [20, 200], [40, 200], [40, 400]],
            "100, 200, 400/s",
            "steps-100-200-400",
        ),
        ("9, 9", 9.0, "9/s", "steps-9-9"),
    ],
)
def test_rates_on_the_command_line(text: str, plan: object, title: str, name: str) -> None:
    rate = parse(text, 60.0)
    assert (rate.plan(), rate.title, rate.name) == (plan, title, name)
    again = recorded(json.loads(json.dumps(rate.plan())))
    assert again is not None
    assert (again.title, again.changes) == (title, isinstance(plan, list))


@pytest.mark.parametrize(
    "text",
    ["", "x", "1..", "..5", "1..2..3", "1,,2", "-5", "nan", "inf", "1e9", "0..0", "0,0", "0"],
)
def test_what_is_no_rate(text: str) -> None:
    with pytest.raises(UsageError, match="rate"):
        parse(text, 60.0)


def test_many_steps_go_into_a_file() -> None:
    with pytest.raises(UsageError, match="--rate-file"):
        parse(",".join(map(str, range(21))), 60.0)


@pytest.mark.parametrize(
    ("name", "text", "plan"),
    [
        ("a.csv", "0,100\n60,900\n", [[0, 100], [60, 900]]),
        ("b.csv", "# by minute\nseconds,rate\n\n0, 100\n30,0\n", [[0, 100], [30, 0]]),
        ("c.csv", "seconds,step\n0,5\n9,7\n", [[0, 5], [9, 5], [9, 7]]),
        ("d.csv", "\ufeff0,5\r\n9,5\r\n9,7\r\n", [[0, 5], [9, 5], [9, 7]]),
        ("e.toml", "points = [[0, 5], [9, 7.5]]", [[0, 5], [9, 7.5]]),
        ("f.toml", 'between = "step"\npoints = [[0, 5], [9, 7]]', [[0, 5], [9, 5], [9, 7]]),
        ("g.csv", "0,12", 12.0),
    ],
)
def test_files(tmp_path: Path, name: str, text: str, plan: object) -> None:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    assert read(file).plan() == plan


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.csv", "", "has no rates"),
        ("a.csv", "seconds,rate\n0,100\n60\n", "line 3 has 1 columns"),
        ("a.csv", "0,100\n\n60,many\n", "line 3 has 'many'"),
        ("a.csv", "0,100\n60,-1\n", "line 2 has '-1'"),
        ("a.csv", "0,100\n60,nan\n", "line 2 has 'nan'"),
        ("a.csv", "-1,100\n", "line 1 has '-1'"),
        ("a.csv", "0,100\n60,5\n59,5\n", "line 3 goes back in time, from 60 s to 59 s"),
        ("a.csv", "seconds,rat\n0,1\n", "Did you mean 'rate'?"),
        ("a.csv", "0,0\n60,0\n", "no transaction would start"),
        ("a.toml", "points = [[0, 1], [2]]", "point 2 is not a pair"),
        ("a.toml", "points = [[0, 1], [2, true]]", "point 2 has 'True'"),
        ("a.toml", "points = 5", "not a list of pairs"),
        ("a.toml", "pionts = []", "Did you mean 'points'?"),
        ("a.toml", "points = [", "is not valid TOML"),
        ("a.toml", 'between = "lines"\npoints = [[0, 1]]', "'between' says 'lines'"),
        ("a.csv", b"\xff\xfe", "not UTF-8"),
    ],
)
def test_files_that_make_no_sense(
    tmp_path: Path, name: str, text: str | bytes, expected: str
) -> None:
    file = tmp_path / name
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(UsageError) as error:
        read(file)
    assert expected in str(error.value)
    assert str(file) in str(error.value)
    assert "\n" not in str(error.value)


_ANYTHING = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=12,
)


@given(_ANYTHING)
def test_a_bundle_of_somebody_elses_may_hold_anything(value: object) -> None:
    for loop in (value, {"rate_per_s": value}, {"rate_per_s": [[0, 5], value]}):
        rate = recorded(detail.read(OltpDetail, {"loop": loop}).rate_per_s)
        assert rate is None or rate.title


def test_titles_of_long_files() -> None:
    points = tuple((float(at), 100.0 + at) for at in range(14))
    assert Rate("rate-file", points).title == "100 to 113/s in 14 points"
    steps = parse("1,2,3,4,5,6,7", 70.0)
    assert steps.title == "1 to 7/s in 7 steps"


def test_levels_ramps_and_files_are_driven(out: Path, tmp_path: Path) -> None:
    null = ("run", "tpcc", "--target", "null:?mean_us=100", "--users", "4", "--warmup", "200ms")
    rates = ("--rate", "200", "--rate", "100..400", "--duration", "2s", "--arrivals", "fixed")
    levels = document(dyno(*null, *rates, "--json", "--out", out))["tpcc"]["levels"]
    assert [level["level"] for level in levels] == ["rate-200-users-4", "ramp-100-400-users-4"]
    # 2 s at 200/s; 2 s at 250/s on average.
    assert [level["scheduled"] for level in levels] == [400, 500]
    assert levels[1]["loop"]["rate_per_s"] == [[0, 100], [2, 400]]

    file = tmp_path / "day.csv"
    file.write_text("seconds,step\n0,100\n1,300\n2,0\n")
    done = dyno(*null, "--rate-file", file, "--arrivals", "fixed", "--json", "--out", out)
    made = document(done)
    (level,) = made["tpcc"]["levels"]
    assert (level["level"], level["scheduled"]) == ("rate-file-users-4", 400)
    (phase,) = [it for it in Bundle.open(Path(made["bundle"])).run.phases if it.kind == "oltp"]
    assert phase.title.endswith("100, 300, 0/s over 4 users")
    assert phase.detail.duration_s == 2

    cut = dyno(*null, "--rate-file", file, "--duration", "1s", "--out", out)
    assert cut.returncode == 2
    assert "omit --duration" in cut.stderr


def test_paces_are_reported(out: Path) -> None:
    common = ("--warmup", "200ms", "--duration", "1s", "--json", "--out", out)
    null = ("run", "tpcc", "--target", "null:?mean_us=100")
    fast = dyno(*null, "--users", "2", "--home", "all", *common)
    made = document(fast)
    (level,) = made["tpcc"]["levels"]
    assert level["unpaced"] is True
    assert "unpaced" in fast.stderr
    assert "each user cycles through all warehouses" in Path(made["sheet"]).read_text()

    thinking = dyno(*null, "--users", "12", "--think", *common)
    # Keying takes at least 2 s: no transaction starts.
    (level,) = document(thinking)["tpcc"]["levels"]
    assert level["tps"] == 0
    assert spoilt(document(thinking)) == {"incomplete"}
    assert (
        "the limit is 10 users per warehouse. Use at most --users 10, or load 2" in thinking.stderr
    )


def test_a_warehouse_has_ten_terminals() -> None:
    assert TRANSACTIONS.crowd(50, 5) is None
    message = TRANSACTIONS.crowd(51, 5)
    assert message is not None
    assert "51 users with think time exceed 5 warehouses" in message
    assert "load 6 warehouses" in message
