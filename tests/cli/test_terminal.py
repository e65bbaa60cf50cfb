"""Nothing of a bundle reaches the terminal as a command, and output that fails is one line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.bundles import quickstart
from tests.process import dyno

PLANTED = "\x1b[2J\x1b]0;owned\x07\u202e\u2066\u200b\u2028\x9b31m\r\x08Z"
OBEYED = set(PLANTED) - {"Z", "[", "2", "J", "]", "0", ";", "3", "1", "m", *"owned"}


def fields(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Places of all texts, keys of maps among them."""
    if isinstance(value, dict):
        return [at for key, item in value.items() for at in fields(item, (*place, key))]
    if isinstance(value, list):
        return [at for number, item in enumerate(value) for at in fields(item, (*place, number))]
    return [place] if isinstance(value, str) else []


def planted(head: dict[str, Any], place: tuple[Any, ...]) -> dict[str, Any]:
    """The head with such text behind the text at a place."""
    copy = json.loads(json.dumps(head))
    at = copy
    for step in place[:-1]:
        at = at[step]
    at[place[-1]] += PLANTED
    return copy


def shape(place: tuple[Any, ...]) -> str:
    return ".".join("#" if isinstance(step, int) else str(step) for step in place)


@pytest.mark.long
def test_text_of_a_bundle_in_every_reading_verb(tmp_path: Path) -> None:
    bundle = quickstart(tmp_path).write()
    dyno("report", bundle.path, "--out", tmp_path)
    path = bundle.path / "run.json"
    head = json.loads(path.read_text(encoding="utf-8"))
    one_of_each = {shape(place): place for place in fields(head)}
    reached = 0
    # All at once, as long as the bundle can be read; the others one by one.
    every = head
    for place in one_of_each.values():
        path.write_text(json.dumps(planted(every, place)), encoding="utf-8")
        if dyno("runs", "list", "--out", tmp_path).stdout.count("\n") > 1:
            every = planted(every, place)
            continue
        shown = dyno("runs", "show", bundle.path, "--out", tmp_path)
        assert shown.returncode == 2
        assert not OBEYED & set(shown.stdout + shown.stderr), place
    path.write_text(json.dumps(every), encoding="utf-8")
    for words in (
        ("runs", "list"),
        ("runs", "show", str(bundle.path)),
        ("report", str(bundle.path)),
        ("compare", str(bundle.path), str(bundle.path)),
        ("runs", "show", "nothing"),
    ):
        done = dyno(*words, "--out", tmp_path)
        assert done.returncode in (0, 1, 2), done.stderr
        assert "Traceback" not in done.stderr
        assert not OBEYED & set(done.stdout + done.stderr), words
        reached += "\N{REPLACEMENT CHARACTER}" in done.stdout + done.stderr
    assert reached >= 3


@pytest.mark.parametrize("words", [["runs", "list"], ["runs", "show"], ["doctor"], ["--help"]])
def test_output_that_cannot_be_written(tmp_path: Path, words: list[str]) -> None:
    bundle = quickstart(tmp_path).write()
    more = {"show": [str(bundle.path)]}.get(words[-1], [])
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "dyno", *words, *more,
             *(["--out", str(tmp_path)] if words != ["--help"] else [])],
            stdout=full, stderr=subprocess.PIPE, text=True, timeout=120, check=False,
        )  # fmt: skip
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert [line for line in done.stderr.splitlines() if line.startswith("dyno: ")]


def test_a_closed_pipe_is_no_error(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "dyno", "runs", "list", "--out", str(tmp_path)],
        stdout=write, stderr=subprocess.PIPE, text=True, timeout=120, check=False,
    )  # fmt: skip
    os.close(write)
    assert done.stderr == ""


@pytest.mark.parametrize("option", ["--settings", "--layout", "--rate-file"])
@pytest.mark.parametrize("kind", ["pipe", "nested", "huge", "device", "folder"])
def test_files_that_are_none(tmp_path: Path, option: str, kind: str) -> None:
    path = tmp_path / "mine.toml"
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "nested":
            path.write_text("a = " + "[" * 5000 + "]" * 5000)
        case "huge":
            with path.open("wb") as file:
                file.truncate(1 << 40)
        case "device":
            path.symlink_to("/dev/zero")
        case _:
            path.mkdir()
    verb = ["run", "tpcc", "--users", "1", "--target", "null:"]
    if option == "--layout":
        verb = ["load", "tpcc", "--scale", "1", "--target", "embedded:duckdb"]
    done = dyno(*verb, option, path, "--out", tmp_path / "out", timeout=60)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert ("/dev/zero" if kind == "device" else "mine.toml") in done.stderr


@pytest.mark.parametrize("kind", ["pipe", "nested", "device"])
def test_studies_that_are_no_files(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "mine.toml"
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "nested":
            path.write_text("a = " + "[" * 5000 + "]" * 5000)
        case _:
            path.symlink_to("/dev/zero")
    done = dyno("study", "plan", path, "--out", tmp_path / "out", timeout=60)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr


def test_runs_that_are_links_are_left(tmp_path: Path) -> None:
    out, other = tmp_path / "out", tmp_path / "other"
    out.mkdir()
    bundle = quickstart(other).write()
    (out / "linked").symlink_to(bundle.path)
    done = dyno("clean", "--runs", "--yes", "--out", out)
    assert "Traceback" not in done.stderr
    assert (bundle.path / "run.json").is_file()
