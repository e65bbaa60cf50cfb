"""Traces in every format, small ones written by hand and one by fio."""

from __future__ import annotations

import gzip
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from dyno.accelerate import formats
from dyno.accelerate.formats import _tables, oracle_general
from dyno.accelerate.trace import WRITE, Requests, Trace
from dyno.errors import UsageError

BLOCK = 8192
OTHER_FILE = 1 << 40

BLKPARSE = """\
  8,0    3        1     0.000000000   697  Q   W 223488 + 8 [kjournald]
  8,0    3        2     0.500000000   697  D   W 223488 + 8 [kjournald]
  8,0    3        3     0.700000000   697  C   W 223488 + 8 [0]
  8,16   1        4     2.000000000   698  D  RA 16 + 32 [postgres]
  8,16   1        5     2.500000000   698  D FWS 16 + 16 [postgres]
CPU0 (8,0):
 Reads Queued:           0,        0KiB
"""
MSR = """\
128166372003061629,web,0,Read,8192,24576,100
128166372013061629,web,1,Write,0,512,200
"""
FIO = """\
fio version 3 iolog
1 /data/a add
1 /data/a open
2 /data/a read 16384 8192
3 /data/b write 100 8192
9 /data/a close
"""
FIO_2 = "fio version 2 iolog\n/data/a add\n/data/a read 16384 8192\n/data/b write 100 8192\n"


def written(folder: Path, name: str, content: str) -> Path:
    path = folder / name
    path.write_text(content)
    return path


def accesses(trace: Trace) -> list[tuple[int, str, bool]]:
    return [
        (block, trace.names[kind % WRITE], kind >= WRITE)
        for block, kind in zip(trace.blocks.tolist(), trace.kinds.tolist(), strict=True)
    ]


def test_blkparse_counts_issued_requests(tmp_path: Path) -> None:
    trace = formats.read(written(tmp_path, "disk.blkparse", BLKPARSE), BLOCK, None)
    first = 223488 * 512 // BLOCK
    assert accesses(trace) == [
        (first, "device 8,0", True),
        (OTHER_FILE + 1, "device 8,16", False),
        (OTHER_FILE + 2, "device 8,16", False),
        (OTHER_FILE + 1, "device 8,16", True),
    ]
    assert trace.seconds == 2.0
    assert trace.reads == 2


@pytest.mark.parametrize("name", ["web.csv", "web.csv.gz", "web.msr"])
def test_msr_also_compressed(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(MSR.encode()) if name.endswith(".gz") else MSR.encode())
    trace = formats.read(path, BLOCK, None)
    assert accesses(trace) == [
        *((block, "disk 0", False) for block in (1, 2, 3)),
        (OTHER_FILE, "disk 1", True),
    ]
    assert trace.seconds == 1.0


@pytest.mark.parametrize("content", [FIO, FIO_2], ids=["version-3", "version-2"])
def test_fio_logs(tmp_path: Path, content: str) -> None:
    trace = formats.read(written(tmp_path, "disk.iolog", content), BLOCK, None)
    assert accesses(trace) == [
        (2, "/data/a", False),
        (OTHER_FILE, "/data/b", True),
        (OTHER_FILE + 1, "/data/b", True),
    ]


def test_objects_count_as_blocks(tmp_path: Path) -> None:
    row = np.dtype([("seconds", "<u4"), ("object", "<u8"), ("bytes", "<u4"), ("next", "<i8")])
    path = tmp_path / "web.oracleGeneral.bin"
    np.array([(10, 7, 500, -1), (12, 2**63, 9, -1)], row).tofile(path)
    trace = formats.read(path, BLOCK, None)
    assert trace.blocks.tolist() == [7, 2**63]
    assert (trace.block_bytes, trace.seconds) == (None, 2.0)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(UsageError):
        formats.read(path, BLOCK, None)


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
def test_a_log_that_fio_wrote(tmp_path: Path) -> None:
    log = tmp_path / "job.iolog"
    subprocess.run(
        [
            *("fio", "--name=job", f"--directory={tmp_path}", "--rw=randrw", "--bs=16k"),
            *("--size=1m", "--ioengine=psync", f"--write_iolog={log}"),
        ],
        check=True,
        capture_output=True,
    )
    trace = formats.read(log, BLOCK, None)
    assert trace.blocks.size == 128  # each 16 KiB are two blocks
    assert np.unique(trace.blocks).size == 128
    assert 0 < trace.reads < 128


@pytest.mark.parametrize("name", formats.known())
@pytest.mark.parametrize("content", [b"", b"\x00\xff" * 40, b"a,b\n1,2\n", b"\n" * 10])
def test_another_format_is_refused(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / "trace"
    path.write_bytes(content)
    with pytest.raises(UsageError):
        formats.read(path, BLOCK, name)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("web.csv.gz", MSR.encode()),
        ("disk.iolog.gz", FIO.encode()),
        ("web.oracleGeneral.gz", bytes(2 * 24)),
    ],
)
def test_what_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(content))
    assert formats.read(path, BLOCK, None).blocks.size
    for module in (_tables, oracle_general):
        monkeypatch.setattr(module, "LARGEST", 1)
    with pytest.raises(UsageError):
        formats.read(path, BLOCK, None)


def test_a_format_that_the_name_does_not_tell(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        formats.read(written(tmp_path, "trace", FIO), BLOCK, None)
    assert all(name in str(error.value) for name in formats.known())
    with pytest.raises(UsageError):
        formats.read(written(tmp_path, "trace.iolog", FIO), BLOCK, "fioo")


@pytest.mark.parametrize(
    ("offset", "size"), [(-1, 8), (0, -8), (1 << 62, 8), (0, 1 << 52)], ids=str
)
def test_numbers_out_of_range(offset: int, size: int) -> None:
    one = np.ones(1, np.uint8)
    requests = Requests(one, np.array([offset]), np.array([size]), one)
    with pytest.raises(UsageError):
        requests.trace(BLOCK, ("x",), None)
