"""Bundles made to hang or fill the machine of whoever opens them: each is refused in one line."""

from __future__ import annotations

import base64
import json
import os
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dyno.bundle.histograms import Latencies
from dyno.bundle.reader import Bundle
from dyno.bundle.tables import Table, read_table
from dyno.errors import UsageError
from tests.bundles import quickstart
from tests.process import dyno

Spoil = Callable[[Path], None]


def histogram(digits: int, highest: int, lowest: int = 1, content: bytes = b"\x02") -> str:
    """A stored histogram of one value whose head says what it likes."""
    head = struct.pack(">IIIIqqd", 0x1C849303, len(content), 0, digits, lowest, highest, 1.0)
    packed = zlib.compress(head + content)
    return base64.b64encode(struct.pack(">II", 0x1C849304, len(packed)) + packed).decode()


@pytest.mark.parametrize(
    "encoded",
    [
        histogram(5, 1 << 62),
        histogram(5, 3_600_000_000_000),
        histogram(3, 1 << 62),
        histogram(3, 3_600_000_000_000, lowest=0),
        histogram(0, 10),
        histogram(3, 3_600_000_000_000, content=b"\0" * (64 << 20)),
        histogram(3, 3_600_000_000_000)[:40],
    ],
    ids=["digits-and-range", "digits", "range", "lowest", "no-digits", "deflated", "cut"],
)
def test_a_histogram_beyond_the_engines_range(encoded: str) -> None:
    with pytest.raises(UsageError, match="damaged"):
        Latencies().add(encoded)


def test_a_histogram_of_the_engines_is_read() -> None:
    found = Latencies()
    found.add(histogram(3, 3_600_000_000_000))
    assert found.count == 1


def repeated(path: Path, rows: int, text: str, **options: Any) -> None:
    """A table of samples, each row of which is the same."""
    columns = {
        field.name: pa.DictionaryArray.from_arrays(
            pa.repeat(pa.scalar(0, pa.int32()), rows), pa.array([text])
        )
        if field.type == pa.string()
        else pa.repeat(pa.scalar(0, field.type), rows)
        for field in Table.SAMPLES.schema()
    }
    pq.write_table(pa.table(columns), path, compression="zstd", **options)


@pytest.mark.long
@pytest.mark.parametrize(
    ("rows", "text"), [(100_000_000, "a"), (1_000_000, "a" * 10_000)], ids=["rows", "texts"]
)
def test_a_small_table_that_unpacks_to_gigabytes(tmp_path: Path, rows: int, text: str) -> None:
    repeated(tmp_path / "samples.parquet", rows, text, row_group_size=rows)
    assert (tmp_path / "samples.parquet").stat().st_size < 4_000_000
    before = pa.default_memory_pool().max_memory()
    with pytest.raises(UsageError, match="unpack"):
        read_table(tmp_path, "samples")
    assert pa.default_memory_pool().max_memory() <= max(before, 1 << 28)


def test_a_page_that_unpacks_to_more_than_its_footer_says(tmp_path: Path) -> None:
    path = tmp_path / "samples.parquet"
    repeated(path, 1000, "a", use_dictionary=False)
    content = path.read_bytes()
    pages = pq.ParquetFile(path).metadata.row_group(0).column(0)
    at = pages.data_page_offset
    # The second field of the first page's header: its unpacked size, in zigzag encoding.
    head = content[at : at + 8]
    assert head[0] == 0x15, head
    size = head[3:5]
    unpacked = int.from_bytes(bytes([size[0] & 127]), "little") | (size[1] & 127) << 7
    assert unpacked >> 1 > 0
    huge = bytes([0xFE, 0xFF, 0xFF, 0xFF, 0x0F])
    spoiled = content[: at + 3] + huge + content[at + 3 + (2 if size[0] & 128 else 1) :]
    path.write_bytes(spoiled)
    with pytest.raises(UsageError, match="samples"):
        read_table(tmp_path, "samples")


@pytest.mark.parametrize("seed", range(40))
def test_any_spoilt_byte_is_an_error_or_nothing(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "samples.parquet"
    repeated(path, 50, "text")
    content = bytearray(path.read_bytes())
    for step in range(4):
        content[(seed * 7919 + step * 104729) % len(content)] ^= 1 << (seed % 8)
    path.write_bytes(bytes(content))
    try:
        read_table(tmp_path, "samples")
    except UsageError as error:
        assert "\n" not in str(error)


def to_zero(path: Path) -> None:
    path.symlink_to("/dev/zero")


def to_a_file(path: Path) -> None:
    other = path.parent.parent / "other"
    other.write_text("")
    path.symlink_to(other)


def pipe(path: Path) -> None:
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.mkdir()


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 30)


def nested(path: Path) -> None:
    path.write_text("[" * 100_000 + "\n")


FILES = ["run.json", "checks.json", "samples.jsonl", "samples.parquet", "ops/users-1.parquet"]


@pytest.mark.parametrize("spoil", [to_zero, to_a_file, pipe, folder, sparse, nested])
@pytest.mark.parametrize("name", FILES)
def test_what_is_no_file_of_a_run(tmp_path: Path, name: str, spoil: Spoil) -> None:
    bundle = quickstart(tmp_path).write()
    path = bundle.path / name
    path.unlink(missing_ok=True)
    if name == "samples.jsonl":
        (bundle.path / "samples.parquet").unlink()
    spoil(path)
    done = dyno("report", bundle.path, "--out", tmp_path, timeout=120)
    assert done.returncode == 2, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("dyno: ")]
    assert path.stem in line
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("spoil", [to_zero, pipe, folder, sparse, nested])
def test_plans_that_are_no_files_are_left_out(tmp_path: Path, spoil: Spoil) -> None:
    bundle = quickstart(tmp_path).write()
    plans = bundle.path / "plans" / "postgresql"
    plans.mkdir(parents=True)
    (plans / "q1.json").write_text('{"a": 1}')
    spoil(plans / "q2.json")
    assert [name for _, name, _ in bundle.plans()] == ["q1"]


@pytest.mark.parametrize("version", ["999", 999, -1, 0, True, 1.5, None, [], "\u202e", "9" * 5000])
def test_another_schema_is_refused(tmp_path: Path, version: Any) -> None:
    bundle = quickstart(tmp_path).write()
    head = bundle.path / "run.json"
    plain = json.loads(head.read_text())
    head.write_text(json.dumps({**plain, "schema_version": version}))
    with pytest.raises(UsageError, match="schema") as caught:
        Bundle.open(bundle.path)
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) < 400
    if version in ("999", 999):
        assert "newer Dyno (schema 999); this one reads 1" in message


def test_more_phases_than_any_run_has(tmp_path: Path) -> None:
    builder = quickstart(tmp_path)
    builder.phases = [
        builder.phases[0].model_copy(update={"name": f"p{number}"}) for number in range(3000)
    ]
    with pytest.raises(UsageError, match="phases"):
        Bundle.open(builder.write().path)
