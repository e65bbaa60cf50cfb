"""Odd names of folders: each works, or is refused in a line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dyno.bundle.reader import list_bundles
from tests.process import dyno, end, start

NAMES = ["é日本☃", """it's "q" """, "-x", "a\nb", "50%25%s", "n" * 200, "a;b", "a#b?c=d", "a\\b"]
IO = ("--size", "32M", "--step", "20ms", "--reads-only", "--quiet")


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_an_odd_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    out = f"--out={name}"
    for words in (
        ("io", *IO, out, "--", name),
        ("load", "tpch", "--target", "embedded:sqlite", "--scale", "0.01", "--quiet", out),
        ("load", "tpch", "--target", "embedded:duckdb", "--scale", "0.01", "--quiet", out),
        ("check", "tpch", "--target", "embedded:duckdb", "--quiet", out),
        ("generate", "tpch", "--scale", "0.01", f"--to={name}/g", out),
        ("runs", "show", "last", out),
        ("runs", "export", "last", f"--to={name}/x.tar.gz", out),
        ("clean", "--yes", out),
    ):
        done = dyno(*words, cwd=tmp_path)
        if "embedded:duckdb" in words and set(name) & set("?\\"):  # DuckDB cannot have it
            assert done.returncode == 3
            assert "does not support '" in done.stderr
        else:
            assert done.returncode in {0, 1}, (words, done.stderr)
        assert "Traceback" not in done.stderr
    assert os.listdir(tmp_path) == [name]
    assert len(list_bundles(tmp_path / name)) == 4


def test_a_name_that_is_not_utf_8(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = tmp_path / os.fsdecode(b"\xff\xfe")
    odd.mkdir()
    for words in (("io", odd, *IO, "--out", tmp_path), ("runs", "list", "--out", odd)):
        code, _, errors = end(start(*words))
        assert code == 2, errors
        assert "UTF-8" in errors
        assert errors.count("\n") == 1
    monkeypatch.chdir(odd)
    code, _, errors = end(start("io", ".", *IO))
    assert code == 2
    assert "UTF-8" in errors
    assert "Traceback" not in errors
