"""Recording what a job reads, simulating it, and prewarming a cache for it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.accelerate.attach.cluster import Cluster
from tests.accelerate.attach.conftest import Volume, forget
from tests.process import document, dyno, start, wait_until

MIB = 1 << 20
CONTENT = os.urandom(4 * MIB)


@pytest.fixture
def filled(volume: Volume) -> Volume:
    """Attached and cold; two tables of 4 MiB, and a log."""
    for name in ("base/1/10", "base/1/20", "pg_wal/1"):
        (volume.origin / name).parent.mkdir(parents=True, exist_ok=True)
        (volume.origin / name).write_bytes(CONTENT)
    volume.attach()
    return volume


def job(volume: Volume) -> None:
    """Reads the second MiB of one table, and writes to it."""
    path = volume.origin / "base/1/10"
    forget(path)
    with path.open("r+b") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        file.seek(MIB)
        assert file.read(MIB) == CONTENT[MIB : 2 * MIB]
        file.seek(0)
        file.write(CONTENT[:8192])


def recorded(volume: Volume, to: Path) -> None:
    process = start("accelerate", "record", volume.origin, "--for", "3s", "--to", to, "--json")
    wait_until((volume.cache / "trace").exists, "the record", 30)
    job(volume)
    out, error = process.communicate(timeout=60)
    assert process.returncode == 0, error
    assert json.loads(out)["requests"] > 0


def test_what_a_job_read_is_there_before_it_runs_again(filled: Volume, tmp_path: Path) -> None:
    trace = tmp_path / "job.dyno.parquet"
    recorded(filled, trace)
    rows = pq.read_table(trace).to_pylist()
    assert {row["path"] for row in rows} == {"base/1/10"}
    assert {row["write"] for row in rows} == {True, False}
    reads = [row for row in rows if not row["write"]]
    assert min(row["offset"] for row in reads) <= MIB
    found = document(dyno("accelerate", "simulate", trace, "--size", "100%", "--json"))
    assert found["accesses"] >= 128
    # A new cache, so it has nothing.
    filled.detach()
    assert dyno("accelerate", "remove", filled.cache, "--yes").returncode == 0
    filled.attach()
    done = document(dyno("accelerate", "prewarm", filled.origin, "--record", trace, "--json"))
    assert done["blocks"] >= 128
    job(filled)
    told = filled.told()
    (table,) = [kind for kind in told["kinds"] if kind["kind"] == "table"]
    assert table["hits"] >= 128
    again = document(dyno("accelerate", "prewarm", filled.origin, "--record", trace, "--json"))
    assert again["blocks"] <= 1  # what the job wrote


def test_files_are_prewarmed_whole_but_for_those_that_are_not_cached(filled: Volume) -> None:
    prewarm = ("accelerate", "prewarm", filled.origin, "--json")
    done = document(dyno(*prewarm, "--files", "base/1", "--files", "pg_wal"))
    assert done["blocks"] == 2 * len(CONTENT) // 8192
    for name in ("base/1/10", "base/1/20"):
        forget(filled.origin / name)
        assert (filled.origin / name).read_bytes() == CONTENT
    (table,) = [kind for kind in filled.told()["kinds"] if kind["kind"] == "table"]
    assert table["misses"] == 0


def test_what_cannot_be_prewarmed(filled: Volume, tmp_path: Path) -> None:
    prewarm = ("accelerate", "prewarm", filled.origin)
    other = tmp_path / "other.parquet"
    pq.write_table(pa.table({"x": [1]}), other)
    escaping = tmp_path / "escaping.dyno.parquet"
    rows = {"t_ns": [1], "path": ["../secret"], "offset": [0], "bytes": [8192], "write": [False]}
    pq.write_table(pa.table(rows), escaping)
    (tmp_path / "secret").write_bytes(CONTENT)
    for options in (
        (),
        ("--record", other),
        ("--record", tmp_path / "none"),
        ("--files", "../secret"),
        ("--files", "none"),
    ):
        assert dyno(*prewarm, *options).returncode == 2
    found = document(dyno(*prewarm, "--record", escaping, "--json"))
    assert found["blocks"] == 0
    assert dyno("accelerate", "prewarm", tmp_path, "--files", "x").returncode == 2
    inside = filled.origin / "trace.parquet"
    assert dyno("accelerate", "record", filled.origin, "--to", inside).returncode == 2


def test_an_interrupted_record_is_kept(filled: Volume, tmp_path: Path) -> None:
    to = tmp_path / "job.dyno.parquet"
    process = start("accelerate", "record", filled.origin, "--for", "1h", "--to", to)
    wait_until((filled.cache / "trace").exists, "the record", 30)
    job(filled)
    process.send_signal(2)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert pq.read_table(to).num_rows > 0
    assert not (filled.cache / "record").exists()


@pytest.mark.long
def test_a_record_names_the_tables_of_a_database(volume: Volume, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("the server's user differs, so this needs root")
    cluster, trace = Cluster(volume.origin), tmp_path / "job.dyno.parquet"
    volume.attach()
    cluster.make()
    cluster.start()
    try:
        cluster.ask("CREATE TABLE noted AS SELECT generate_series(1, 300000) AS value")
        cluster.ask("CHECKPOINT")
        path = cluster.folder / cluster.ask("SELECT pg_relation_filepath('noted')")
        url = f"postgresql:///postgres?host={cluster.at[1]}&port={cluster.at[3]}&user=postgres"
        recording = start("accelerate", "record", volume.origin, "--for", "3s", "--to", trace,
                          "--target", url, "--json")  # fmt: skip
        wait_until((volume.cache / "trace").exists, "the record", 30)
        forget(path)
        assert cluster.ask("SELECT count(*) FROM noted") == "300000"
        _, error = recording.communicate(timeout=60)
        assert recording.returncode == 0, error
    finally:
        cluster.end()
    named = {row["path"]: row["relation"] for row in pq.read_table(trace).to_pylist()}
    assert named[str(path.relative_to(volume.origin))] == "noted (table)"
    wrong = dyno("accelerate", "record", volume.origin, "--to", trace, "--target", "sqlite:///x")
    assert wrong.returncode == 2
