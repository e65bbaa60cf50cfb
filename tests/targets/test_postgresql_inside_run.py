"""A run records what PostgreSQL counted, from its load to its bundle."""

from __future__ import annotations

from pathlib import Path

import pyarrow.compute
import pytest

from dyno.bundle.inside import SESSIONS, SOURCE, WAIT_CLASSES, Inside
from dyno.bundle.reader import Bundle
from dyno.bundle.tables import read_table
from tests.process import document, dyno, events

TARGET = ("--target", "embedded:postgresql")


@pytest.mark.long
def test_samples_and_relations_of_a_run(out: Path) -> None:
    done = dyno("load", "tpcc", *TARGET, "--scale", "1", "--quiet", "--out", out)
    assert done.returncode in {0, 1}, done.stderr
    options = ("--users", "4", "--warmup", "1s", "--duration", "4s", "--no-criteria", "--json")
    done = dyno("run", "tpcc", *TARGET, *options, "--out", out)
    assert done.returncode in {0, 1}, done.stderr
    bundle = Path(document(done)["bundle"])
    failures = {"probe-failed", "probe-refused", "probe-unavailable", "inspection-failed"}
    assert not [event for event in events(out) if event["event"] in failures]

    samples = read_table(bundle, "samples").to_pylist()
    found = [one for one in samples if one["source"] == SOURCE]
    assert {one["subject"] for one in found} == {"postgresql"}
    absent = {
        "lock_waits",
        "memory",
        "temp_file",
        "batches",
        "blocked",
        "memory_waits",
        "page_life",
    }
    assert {one["metric"] for one in found} >= {one.value for one in Inside} - absent
    commits = max(one["value"] for one in found if one["metric"] == "commits")
    rows = read_table(bundle, "ops/users-4").to_pylist()
    payments = sum(row["done"] or 0 for row in rows if row["op"] == "payment")
    assert payments > 0
    assert commits > payments / 5

    times = {one["t_ns"] for one in samples if one["source"] == SESSIONS}
    assert 3 <= len(times) <= 7  # one reading a second, not ten
    classes = {one["metric"].split("/")[0] for one in samples if one["source"] == SESSIONS}
    assert classes <= set(WAIT_CLASSES)
    assert "log" in classes
    (offset,) = [one["value"] for one in samples if one["metric"] == "offset"]
    assert abs(offset) < 0.1

    (load,) = [one for one in out.glob("*/run.json") if Bundle.open(one.parent).run.verb == "load"]
    loaded = read_table(load.parent, "relations").to_pylist()
    # A session that ends late reports its rows in the period of the indexes.
    assert sum(one["writes"] or 0 for one in loaded if one["relation"] == "dyno_tpcc.item") == 1e5
    relations = read_table(bundle, "relations")
    used = {one["relation"]: one for one in relations.to_pylist()}
    assert used["dyno_tpcc.stock_pkey"]["of_table"] == "dyno_tpcc.stock"
    # Each payment adds one row; the warm-up's are among them.
    assert payments <= used["dyno_tpcc.history"]["writes"] <= 3 * payments
    assert pyarrow.compute.sum(relations["logical_reads"]).as_py() > 100 * payments
    notes = Bundle.open(bundle).run.targets["postgresql"].inside_notes
    assert [note for note in notes if "pg_stat_statements" in note] == list(notes)
    assert used["dyno_tpcc.stock"]["bytes"] == pytest.approx(36e6, rel=0.3)
