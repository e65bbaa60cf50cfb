"""Places that cannot be written and tables that cannot be read: one line, in Dyno's own words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dyno.bundle.reader import Bundle
from dyno.errors import UsageError
from tests.bundles import quickstart
from tests.process import dyno

RAW = ("os error", "No such file", "magic bytes", "ZSTD", "footer", "Traceback", "OSError")


def error_of(*words: str | Path) -> tuple[int, str]:
    done = dyno(*words)
    lines = [line for line in done.stderr.splitlines() if line.startswith("dyno: ")]
    assert len(lines) == 1, done.stderr
    assert not [raw for raw in RAW if raw in done.stderr], done.stderr
    return done.returncode, lines[0]


def test_storage_of_the_kernel_s_own_file_system_is_not_profiled(out: Path) -> None:
    code, error = error_of("io", "/proc", "--out", out)
    assert code == 3
    assert "/proc" in error


@pytest.mark.parametrize(
    "words",
    [
        ("io", "/tmp", "--out", "/proc"),
        ("generate", "tpch", "--scale", "0.01", "--format", "csv", "--to", "/proc/x"),
    ],
)
def test_an_output_folder_that_stores_no_files(words: tuple[str, ...]) -> None:
    code, error = error_of(*words)
    assert code == 2
    assert "/proc" in error
    assert "stores no files" in error


def test_an_export_into_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    bundle = quickstart(tmp_path).write().path
    code, error = error_of("runs", "export", bundle, "--to", tmp_path / "none" / "x.tar.gz")
    assert code == 3
    assert f"no such folder: {tmp_path / 'none'}" in error


def cut(data: bytearray) -> bytes:
    return bytes(data[: len(data) // 2])


def overwritten(data: bytearray) -> bytes:
    data[10 : len(data) // 4] = b"\xff" * (len(data) // 4 - 10)
    return bytes(data)


@pytest.mark.parametrize("spoil", [cut, overwritten])
def test_a_damaged_table_is_reported_wherever_it_is_read(
    tmp_path: Path, spoil: Callable[[bytearray], bytes]
) -> None:
    bundle = quickstart(tmp_path).write()
    assert dyno("report", bundle.path).returncode in {0, 1}
    file = bundle.path / "queries.parquet"
    file.write_bytes(spoil(bytearray(file.read_bytes())))
    with pytest.raises(UsageError, match="queries"):
        Bundle.open(bundle.path).table("queries")
    for words in (("report",), ("compare",), ("runs", "show", "--json")):
        code, error = error_of(*words, bundle.path)
        assert code == 2
        assert f"table queries of {bundle.path} is damaged" in error
