"""``dyno advise``: a run, a live engine, wrong words; what it prints and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dyno.cli import cli
from dyno.decide.advise.practices import rules
from tests.bundles import quickstart

WORDS = "CREATE USER app PASSWORD 's3cret'"


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one run."""
    folder = tmp_path_factory.mktemp("out")
    builder = quickstart(folder).inside()
    row = {**builder.tables["statements"][0], "statement": "9", "text": WORDS}
    builder.tables["statements"].append({**row, "logical_reads": 10**9})
    row = {**builder.tables["relations"][0], "relation": "\x1b[31mevil\u202e", "of_table": None}
    builder.tables["relations"].append({**row, "logical_reads": 10**9})
    builder.write()
    return folder


def called(*words: str | Path) -> Result:
    return CliRunner().invoke(cli, ["advise", *map(str, words)], standalone_mode=False)


def test_a_run_as_json(out: Path) -> None:
    done = called("last", "--out", out, "--json")
    found = json.loads(done.stdout)
    violated = {
        one["name"]
        for system in found["systems"]
        for one in system["practices"]
        if one["outcome"] == "violated"
    }
    assert {*found["reasons"]} == violated
    assert found["valid"] is (not violated)
    assert done.return_value == (1 if violated else 0)
    first = found["systems"][0]
    assert {one["name"] for one in first["practices"]} == {rule.name for rule in rules()}
    for one in first["practices"]:
        assert one["reason"] or one["found"]
        assert one["commands"] or one["outcome"] != "violated"
    assert first["reads"]["statements"][0]["share_of_top"] > 0
    assert "s3cret" not in done.output


@pytest.mark.parametrize("columns", [80, 160])
def test_a_run_on_a_terminal(out: Path, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    done = called("last", "--out", out, "--all")
    assert "Top consumers of reads" in done.output
    assert "s3cret" not in done.output
    assert "\x1b" not in done.output
    assert "\u202e" not in done.output
    tables = done.output.partition("Commands that fix it")[0]
    assert max(map(len, tables.splitlines())) <= columns


def test_this_machine_and_its_newest_run(out: Path) -> None:
    found = json.loads(called("--out", out, "--json").stdout)
    machine, *databases = found["systems"]
    assert machine["title"] == "this machine"
    assert "reads" not in machine
    # Rules on the machine are judged once, on the live one.
    of_machine = {rule.name for rule in rules() if rule.scope == "machine"}
    assert of_machine <= {one["name"] for one in machine["practices"]}
    for one in databases:
        assert not of_machine & {rule["name"] for rule in one["practices"]}


def test_one_rule_is_explained(out: Path) -> None:
    done = called("last", "--out", out, "--rule", "log-device")
    for head in ("Looks at", "Wants", "Why", "Source", "Test it", "Outcome"):
        assert head in done.output
    listed = json.loads(called("last", "--out", out, "--rule", "log-device", "--json").stdout)
    assert {one["name"] for one in listed["verdicts"]} == {"log-device"}
    assert done.return_value == (0 if listed["valid"] else 1)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--rule", "hugepages"], "Did you mean 'huge-pages'?"),
        (["nosuchrun"], "nosuchrun"),
        (["oracle://db1/x"], "Unknown target"),
        (["--work", "olap"], "olap"),
        (["--top", "0"], "range"),
    ],
)
def test_wrong_words(out: Path, words: list[str], reason: str) -> None:
    done = called(*words, "--out", out)
    assert getattr(done.exception, "exit_code", None) == 2
    assert reason in done.output + str(done.exception)


def test_a_machine_alone_is_judged_without_a_database(tmp_path: Path) -> None:
    found = json.loads(called("--out", tmp_path / "nothing", "--json").stdout)
    (machine,) = found["systems"]
    outcomes = {one["name"]: one["outcome"] for one in machine["practices"]}
    assert outcomes["durable-commit"] == "not applicable"
    assert outcomes["clock-source"] in ("fulfilled", "violated")
    assert not (tmp_path / "nothing").exists()
