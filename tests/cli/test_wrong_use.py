"""Wrong words and impossible numbers: one line that helps, exit 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from dyno import targets
from dyno.contracts.target import Limits
from dyno.errors import DynoError, UsageError
from tests.process import dyno

CASES = [
    (("qickstart",), "Did you mean 'quickstart'?"),
    (("runn", "tpch"), "Did you mean"),
    (("load", "tpch", "--target", "embedded:postgres", "--scale", "1"), "'postgresql'?"),
    (("load", "tpch", "--target", "embedded:oracle", "--scale", "1"), "Known:"),
    (("load", "tpch", "--target", "postgresq://x/y", "--scale", "1"), "'postgresql'?"),
    (("load", "tpch", "--target", "nonsense", "--scale", "1"), "Unknown target"),
    (("load", "tpch", "--target", "postgresql://h:99999/d", "--scale", "1"), "ort"),
    (("load", "tcph", "--target", "embedded:duckdb", "--scale", "1"), "Did you mean 'tpch'?"),
    (("load", "tpch", "--target", "embedded:duckdb", "--scale", "0"), "from 0.0031"),
    (("load", "tpch", "--target", "embedded:duckdb", "--scale", "0.015"), "0.0149 or 0.0151"),
    (("load", "tpch", "--target", "embedded:duckdb", "--scale", "-1"), "scale"),
    (("load", "tpch", "--target", "embedded:duckdb", "--scale", "1e9"), "to 10000"),
    (("load", "tpch", "--target", "embedded:duckdb", "--scale", "nan"), "scale"),
    (("load", "tpcc", "--target", "embedded:postgresql", "--scale", "1.5"), "whole number"),
    (("quickstart", "--scale", "0"), "from 0.0031"),
    (("run", "tpcc", "--target", "embedded:duckdb"), "one writer"),
    (("run", "tpch", "--target", "null:"), "does not support queries"),
    (("run", "tpcc", "--target", "null:?mean=5"), "mean_us"),
    (("run", "tpcc", "--target", "null:", "--duration", "soon"), "30s"),
    (("run", "tpcc", "--target", "null:", "--rate", "5", "--think"), "cannot be combined"),
    (("run", "tpcc", "--target", "null:", "--rate", "fast"), "100..900"),
    (("run", "tpcc", "--target", "null:", "--rate", "0"), "above 0"),
    (("run", "tpcc", "--target", "null:", "--rate", "5", "--rate", "5"), "each --rate once"),
    (("run", "tpcc", "--target", "null:", "--rate-file", "none.csv"), "cannot read"),
    (("run", "tpcc", "--target", "null:", "--arrivals", "fixed"), "--arrivals requires"),
    (("run", "tpcc", "--target", "null:", "--home", "fixd"), "fixed"),
    (("run", "tpch", "--target", "null:", "--home", "fixed"), "--home applies to transactions"),
    (("run", "tpcc", "--target", "null:", "--users", "4", "--users", "4"), "--users once"),
    (("run", "tpch", "--target", "embedded:duckdb"), "dyno load tpch"),
    (("run", "tpch", "--target", "embedded:duckdb", "--streams", "3"), "--test throughput"),
    (("run", "tpch", "--target", "embedded:duckdb", "--test", "trougput"), "throughput"),
    (("run", "tpcc", "--target", "null:", "--test", "power"), "--test applies to queries"),
    (("run", "tpcc", "--target", "null:", "--no-refresh"), "--no-refresh applies to queries"),
    (("run", "tpch", "--target", "embedded:duckdb", "--during", "reindex"), "reindex during a run"),
    (("run", "tpcc", "--target", "null:", "--during", "reindex"), "has no maintenance"),
    (
        ("run", "tpch", "--target", "null:", "--duration", "9s"),
        "--duration applies to transactions",
    ),
    (("run", "tpch", "--target", "null:", "--think"), "--think applies to transactions"),
    (("run", "tpch", "--target", "null:", "--mode", "client"), "--mode applies to transactions"),
    (("run", "tpcc", "--target", "null:", "--reconnect", "never"), "30s"),
    (("run", "tpcc", "--target", "null:", "--no-warming"), "--no-warming applies to queries"),
    (("run", "tpcc", "--target", "null:", "--timeout", "9s"), "--timeout applies to queries"),
    (("run", "tpcc", "--target", "null:", "--during-limit", "9s"), "--during TASK"),
    (("check", "tpch", "--target", "embedded:duckdb", "--isolation"), "no isolation tests"),
    (("check", "tpcc", "--target", "embedded:sqlite", "--level", "x"), "--level requires"),
    (("study", "plann", "settings"), "Did you mean 'plan'?"),
    (("study", "setings"), "Did you mean 'settings'?"),
    (("io", "/no/such/folder"), "does not exist"),
    (("io", ".", "--size", "huge"), "512M"),
    (("generate", "tpch", "--scale", "1", "--to", "x", "--parts", "2", "--part", "3"), "--part 3"),
    (("report", "nothing"), "No run"),
    (("doctor", "nosuch://x"), "Unknown target"),
]


@pytest.mark.parametrize(("args", "message"), CASES, ids=lambda value: " ".join(value)[:60])
def test_wrong_use_is_reported_in_one_line(
    tmp_path: Path, args: tuple[str, ...], message: str
) -> None:
    done = dyno(*args, "--out", tmp_path / "out", cwd=tmp_path)
    assert done.returncode == 2, done
    assert message.lower() in done.stderr.lower()
    assert "Traceback" not in done.stderr
    assert done.stdout == "" or "Valid" in done.stdout or "run" in done.stdout


@pytest.mark.parametrize(
    "more",
    [
        ("tpcc", "--target", "null:", "--during", "reindex"),
        ("tpch", "--target", "embedded:duckdb", "--during", "reindex"),
    ],
)
def test_what_a_target_cannot_do_is_refused_before_it_starts(
    tmp_path: Path, more: tuple[str, ...]
) -> None:
    done = dyno("run", *more, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert not (tmp_path / "out").exists()


def test_an_unwritable_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = dyno("io", tmp_path, "--out", tmp_path / "file")
    assert done.returncode == 2
    assert "--out" in done.stderr


@pytest.mark.parametrize(
    "args", [("doctor",), ("run", "tpch", "--target"), ("check", "tpch", "--target")]
)
def test_a_mistyped_file_is_not_made(tmp_path: Path, out: Path, args: tuple[str, ...]) -> None:
    file = tmp_path / "mistyped.duckdb"
    done = dyno(*args, f"duckdb://{file}", "--out", out)
    assert done.returncode == 3
    assert f"No such file: {file}" in " ".join((done.stdout + done.stderr).split())
    assert not file.exists()


def test_a_folder_where_nobody_may_write(tmp_path: Path) -> None:
    done = dyno("io", tmp_path, "--out", "/proc/dyno")  # not even root can make it
    assert done.returncode == 2
    assert "--out" in done.stderr


@pytest.mark.parametrize(
    "args",
    [
        ("load", "tpch", "--target", "embedded:duckdb", "--scale", "0.01"),
        ("doctor", "embedded:duckdb"),
    ],
    ids=["load", "doctor"],
)
def test_an_engine_where_nobody_may_write(args: tuple[str, ...]) -> None:
    done = dyno(*args, "--out", "/proc/dyno")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "--out" in done.stderr


def test_a_wrong_password_never_shows(tmp_path: Path) -> None:
    url = "postgresql://someone:topsecret@127.0.0.1:1/db"
    done = dyno("doctor", url, "--json", "--out", tmp_path)
    assert done.returncode == 3
    assert "topsecret" not in done.stdout + done.stderr
    load = dyno("load", "tpcc", "--target", url, "--scale", "1", "--json", "--out", tmp_path)
    assert load.returncode == 3
    assert "topsecret" not in load.stdout + load.stderr
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or b"topsecret" not in path.read_bytes()


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:topsecret@h/d",
        "postgresql://u:top%73ecret@h:5433/d?sslmode=require",
        "postgresql://u@h/d?password=topsecret&connect_timeout=3",
        "postgresql:///d?host=/run/x&sslpassword=topsecret",
        "postgresql://u@h/d?PASSWORD=topsecret",
    ],
)
def test_urls_are_recorded_without_their_passwords(url: str) -> None:
    redacted = targets.parse(url).redacted
    assert "secret" not in redacted.replace("topsecret".upper(), "secret")
    assert "***" in redacted
    assert redacted.startswith("postgresql://")


@pytest.mark.parametrize("odd", ["/", "?", "#", "@", "#5", "?x"])
@pytest.mark.parametrize("start", ["hunter", "12"])
def test_a_password_that_cuts_the_url_never_shows(tmp_path: Path, start: str, odd: str) -> None:
    url = f"postgresql://u:{start}{odd}topsecret@127.0.0.1:1/db"
    assert targets.redact(url) == "postgresql://u:***@127.0.0.1:1/db"
    try:
        parsed = targets.parse(url)
    except UsageError as error:
        message = str(error)
        assert "percent-encode" in message.lower()
    else:
        with (
            pytest.raises(DynoError) as refused,
            targets.open_target(parsed, tmp_path, Limits(1 << 30, 1)),
        ):
            pass
        message = parsed.redacted + str(refused.value)
    assert "topsecret" not in message
    assert "hunter" not in message


@pytest.mark.parametrize("url", ["postgresql://u@h/d", "duckdb:///tmp/x.duckdb", "null:?mean_us=5"])
def test_urls_without_passwords_are_recorded_as_they_are(url: str) -> None:
    assert targets.parse(url).redacted == url
