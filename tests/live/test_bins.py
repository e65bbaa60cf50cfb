"""Bins of time: sums, weighted means and percentiles at every width, in bounded memory."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dyno import _core
from dyno.bundle.histograms import SLOTS, Latencies, stored
from dyno.bundle.tables import Table, spool_to_parquet, to_arrow
from dyno.bundle.writer import Recorder
from dyno.errors import UsageError
from dyno.live.bins import LEVELS, NS, width_s
from dyno.live.operations import ALL, Operations, of_histograms, of_queries
from dyno.live.sampled import Samples, numbers
from dyno.live.tail import Tail
from tests.bundle_rows import histogram


def samples(rows: list[tuple[int, str, float]], subject: str = "vda") -> Any:
    records = [
        {"t_ns": second * NS, "source": "disk", "subject": subject, "metric": metric,
         "value": value, "unit": "1"}
        for second, metric, value in rows
    ]  # fmt: skip
    return to_arrow(records, Table.SAMPLES).combine_chunks().to_batches()[0]


def test_a_latency_is_weighted_by_its_requests() -> None:
    found = Samples(0)
    found.add(samples([(1, "read_iops", 1), (1, "read_await", 100),
                       (2, "read_iops", 99), (2, "read_await", 1)]))  # fmt: skip
    (mean,) = found.means([("disk", "vda", "read_await")], 1, 0, 1)
    assert mean[0] == pytest.approx((100 + 99) / 100)
    (rate,) = found.means([("disk", "vda", "read_iops")], 1, 0, 1)
    assert rate[0] == pytest.approx(50)


def test_bins_agree_however_the_rows_arrive() -> None:
    order = random.Random(3)
    rows = [(second, "write_mbps", order.uniform(0, 9)) for second in range(1, 3000)]
    at_once, one_by_one = Samples(0), Samples(0)
    at_once.add(samples(rows))
    for few in _batched(rows, 7):
        one_by_one.add(samples(few))
    key = [("disk", "vda", "write_mbps")]
    for level in range(LEVELS):
        count = 3000 // width_s(level) + 1
        one, other = (each.means(key, level, 0, count) for each in (at_once, one_by_one))
        np.testing.assert_allclose(one, other, rtol=1e-4)
        assert np.nanmean(one) == pytest.approx(4.5, rel=0.1)


def _batched(rows: list[Any], size: int) -> list[list[Any]]:
    return [rows[at : at + size] for at in range(0, len(rows), size)]


def test_memory_is_bounded_and_old_time_stays_coarse() -> None:
    found = Samples(0)
    for start in range(0, 100_000, 1000):
        found.add(samples([(start + second, "queue_length", 2.0) for second in range(1000)]))
    key = [("disk", "vda", "queue_length")]
    assert not found.covers(0, 0)
    assert np.isnan(found.means(key, 0, 0, 60)).all()
    level = next(level for level in range(LEVELS) if found.covers(level, 0))
    assert width_s(level) <= 64
    assert found.means(key, level, 0, 5) == pytest.approx(2.0)
    assert found.means(key, 0, 99_000, 1000) == pytest.approx(2.0)


def test_rows_before_a_known_end_are_skipped_only_where_they_would_be_dropped() -> None:
    order = random.Random(4)
    key, end = [("disk", "vda", "queue_length")], 50_000
    ahead, unknown = Samples(0), Samples(0)
    for start in range(0, end, 1000):
        rows = samples([(start + at, "queue_length", order.uniform(0, 9)) for at in range(1000)])
        ahead.add(rows, (end - 1) * NS)
        unknown.add(rows)
    assert not ahead.covers(0, 0)
    for level in range(LEVELS):
        last = (end - 1) // width_s(level)
        kept = [
            at for at in range(last + 1) if ahead.covers(level, at) and unknown.covers(level, at)
        ]
        assert len(kept) >= min(last + 1, 3000)
        one, other = (each.means(key, level, kept[0], len(kept)) for each in (ahead, unknown))
        np.testing.assert_allclose(one, other)


def test_percentiles_of_wide_bins_are_those_of_merged_histograms() -> None:
    encoded = [histogram(100 + 13 * second, 1 + second / 3) for second in range(40)]
    t_ns = (np.arange(40) + 100) * NS
    found = Operations(100 * NS)
    for at in range(40):  # one second at a time, as a run writes them
        one = slice(at, at + 1)
        number = np.ones(1)
        found.add(["pay"], np.zeros(1, int), of_histograms(t_ns[one], number, number, number * 0,
                                                           pa.array(encoded[one])))  # fmt: skip
    for level in range(3):
        width = width_s(level)
        for bin_ in range(40 // width):
            whole = Latencies()
            for text in encoded[bin_ * width : (bin_ + 1) * width]:
                whole.add(text)
            for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
                (value,) = found.values("pay", name, level, bin_, 1)
                assert value == pytest.approx(whole.quantile_ms(share), rel=1e-6)
    heat = found.values(ALL, "heat", 2, 0, 3)
    assert heat.sum() == sum(100 + 13 * second for second in range(40))


def test_a_whole_table_has_the_latencies_of_one_that_grew(tmp_path: Path) -> None:
    """Rows that are too old for narrow bins skip them, once the end is known."""
    seconds, step = 20_000, 10
    rows = [
        {"t_ns": (second + 1) * NS, "seconds": float(step), "op": "pay", "done": 9,
         "rolled_back": 0, "errors": {}, "response": histogram(9, 1 + second % 7)}
        for second in range(0, seconds, step)
    ]  # fmt: skip
    (tmp_path / "ops").mkdir()
    spool = tmp_path / "ops" / "users-4.jsonl"
    spool.write_text("".join(json.dumps(row) + "\n" for row in rows))

    def read() -> Operations:
        found, tail = Operations(0), Tail(tmp_path, "ops/users-4")
        for batch in tail.batches():
            for start in range(0, batch.num_rows, 300):
                part = batch.slice(start, 300)
                number = np.ones(part.num_rows)
                found.add(["pay"], np.zeros(part.num_rows, int), of_histograms(
                    numbers(part, "t_ns", np.int64), number, number, number, part["response"]
                ), tail.until_ns)  # fmt: skip
        return found

    grown = read()
    spool_to_parquet(spool, Table.OPS)
    whole = read()
    for level in range(LEVELS):
        count = seconds // width_s(level) + 1
        start = next(bin_ for bin_ in range(count) if whole.covers(level, bin_))
        for what in ("p50", "p99", "heat", "done"):
            one, other = (each.values("pay", what, level, start, count) for each in (whole, grown))
            np.testing.assert_array_equal(one, other)
            assert (np.nan_to_num(one) > 0).any()
    assert whole.by_name["pay"].quantiles_ms() == grown.by_name["pay"].quantiles_ms()


def test_rates_are_over_all_intervals_of_the_workload() -> None:
    """Eight seconds in two tables; the driver records no row of an operation that did nothing."""
    found = Operations(0)
    common, rare, other = np.arange(8), np.array([2]), np.array([0, 4])
    for name, seconds, done in (("pay", common, 10.0), ("feed", rare, 2.0), ("ch pay", other, 4.0)):
        number = np.ones(len(seconds))
        texts = pa.array([histogram(int(done), 2)] * len(seconds))
        rows = of_histograms(seconds * NS + 1, number, number * done, number * 0, texts)
        found.add([name], np.zeros(len(seconds), int), rows)
    for half in (slice(0, 4), slice(4, 8)):
        found.cover("", ["pay", "feed", None], common[half] * NS + 1, np.ones(4))
    found.cover("ch", ["ch pay"], other * NS + 1, np.full(2, 4.0))
    assert found.rates("pay", 1, 0, 3).tolist() == pytest.approx([10, 10, np.nan], nan_ok=True)
    assert found.rates("feed", 1, 0, 2).tolist() == [0.5, 0]
    assert found.rates("ch pay", 1, 0, 2).tolist() == [1, 1]
    assert found.rates(ALL, 1, 0, 2).tolist() == [11.5, 11]


def test_single_queries_have_the_percentiles_of_their_latencies() -> None:
    seconds = np.array([0.001, 0.002, 0.004, 9.0, 0.0])
    found = Operations(0)
    failed = np.array([False, False, False, True, True])
    found.add(["q"], np.zeros(5, int), of_queries(np.full(5, 7 * NS), seconds, failed))
    (p50,), (p99,) = (found.values("q", name, 0, 7, 1) for name in ("p50", "p99"))
    assert (p50, p99) == (pytest.approx(2, rel=1e-3), pytest.approx(4, rel=1e-3))
    assert found.by_name["q"].quantiles_ms() == pytest.approx(
        {"p50": 2, "p95": 4, "p99": 4}, rel=1e-3
    )
    assert (found.by_name["q"].done, found.by_name["q"].errors) == (3, 2)


def test_all_operations_have_the_latencies_of_those_without_a_name_too() -> None:
    found, number = Operations(0), np.ones(3)
    texts = [histogram(6, 2), histogram(3, 4), histogram(1, 8)]
    rows = of_histograms(np.full(3, 7 * NS), number, number, number * 0, pa.array(texts))
    whole = Latencies()
    for text in texts:
        whole.add(text)
    found.add(["pay", "ship", None], np.arange(3), rows)
    assert found.names == ["pay", "ship"]
    expected = {"p50": whole.quantile_ms(0.5), "p95": whole.quantile_ms(0.95)}
    assert found.by_name[ALL].quantiles_ms() == {**expected, "p99": whole.quantile_ms(0.99)}
    assert found.values(ALL, "heat", 0, 7, 1).sum() == 10
    assert (found.by_name[ALL].done, found.last_ns) == (3, 8 * NS)


@pytest.mark.parametrize("dictionary", [False, True])
def test_rows_find_their_histograms(dictionary: bool) -> None:
    texts = [None, histogram(9, 3), "", histogram(5, 1), None, histogram(9, 3)]
    column = pa.array([histogram(1, 1), *texts], pa.string())
    histograms, rows = stored((column.dictionary_encode() if dictionary else column)[1:])
    timeline = _core.Timeline(4, 1, 99, 99, [1.0], [0] * SLOTS)
    ((bins, _, heat),), _ = timeline.add(np.arange(6), rows, histograms, 0)
    assert np.frombuffer(bins, np.int64).tolist() == [1, 3, 5]
    assert np.frombuffer(heat, np.uint32).tolist() == [9, 5, 9]


def test_a_column_without_histograms_has_no_latencies() -> None:
    _, rows = stored(pa.nulls(3, pa.string()))
    assert rows.tolist() == [0, 0, 0]


def test_many_histograms_keep_their_order() -> None:
    """They are decoded by two threads."""
    texts = [histogram(1 + at, 1) for at in range(600)]
    histograms, rows = stored(pa.array(texts))
    timeline = _core.Timeline(4, 1, 999, 99, [1.0], [0] * SLOTS)
    ((_, _, heat),), _ = timeline.add(np.arange(600), rows, histograms, 0)
    assert np.frombuffer(heat, np.uint32).tolist() == list(range(1, 601))
    with pytest.raises(UsageError, match="damaged"):
        stored(pa.array(["damaged", *texts]))


@pytest.mark.parametrize("text", ["x", "AAAA", "HISTFAAAAB", histogram(5, 1)[:-8]])
def test_a_damaged_histogram_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="damaged"):
        stored(pa.array([histogram(5, 1), text]))


def line(value: int) -> str:
    return f'{{"t_ns": {value}, "source": "s", "subject": "x", "metric": "m", "value": {value}}}\n'


def values(tail: Tail) -> list[int]:
    return [value for batch in tail.batches() for value in batch.column("t_ns").to_pylist()]


def test_a_spool_is_read_once_to_its_end_as_parquet(tmp_path: Path) -> None:
    spool, tail = tmp_path / "samples.jsonl", Tail(tmp_path, "samples")
    assert values(tail) == []
    with spool.open("a") as file:
        file.write(line(1) + line(2)[:20])
        file.flush()
        assert values(tail) == [1]
        file.write(line(2)[20:])
        file.flush()
        assert values(tail) == [2]
        file.write(line(3))
    spool_to_parquet(spool, Table.SAMPLES)
    assert values(tail) == [3]
    assert values(tail) == []
    assert values(Tail(tmp_path, "samples")) == [1, 2, 3]


def test_a_spool_of_the_same_name_is_read_from_its_start(tmp_path: Path) -> None:
    spool, tail = tmp_path / "samples.jsonl", Tail(tmp_path, "samples")
    spool.write_text(line(1) + line(2))
    assert values(tail) == [1, 2]
    (tmp_path / "superseded").mkdir()
    spool.rename(tmp_path / "superseded" / "samples.jsonl")
    assert values(tail) == []
    spool.write_text(line(3))
    assert values(tail) + values(tail) == [3]


def test_a_spool_that_became_shorter_is_read_from_its_new_end(tmp_path: Path) -> None:
    spool, tail = tmp_path / "samples.jsonl", Tail(tmp_path, "samples")
    spool.write_text(line(1) + line(2) + line(3))
    assert values(tail) == [1, 2, 3]
    os.truncate(spool, len(line(1)))
    assert values(tail) == []
    with spool.open("a") as file:
        file.write(line(4))
    assert values(tail) == [4]


@pytest.mark.parametrize(
    "polled", [(1, 1, 1, 1, 1), (0, 1, 0, 0, 1), (1, 0, 0, 1, 1), (1, 0, 0, 0, 1)]
)
def test_a_recording_is_followed_while_pieces_are_written_and_joined(
    tmp_path: Path, polled: tuple[int, ...]
) -> None:
    """Each row is read once, however many pieces came since the last look."""
    found = Recorder(tmp_path, "watch", {}, ())
    tail, read = Tail(found.path, "samples"), []
    for piece, look in enumerate(polled):
        for value in (2 * piece + 1, 2 * piece + 2):
            found.add("samples", [json.loads(line(value))])
            read += values(tail) if look else []
        if piece < len(polled) - 1:
            found.rotate("samples")
    assert read == sorted(read)
    read += values(tail)
    assert sorted(read) == list(range(1, 11)) == sorted(values(Tail(found.path, "samples")))
    found.add("samples", [json.loads(line(11))])
    found.rotate("samples")
    found.add("samples", [json.loads(line(12))])
    found.finish("done")
    read += values(tail)
    assert sorted(read) == list(range(1, 13)) == sorted(values(Tail(found.path, "samples")))
    assert values(tail) == []
    found.close()


def test_a_latency_of_a_recording_is_weighted_by_the_requests_of_its_time(tmp_path: Path) -> None:
    """The rows of a recording are sorted by series: requests are far from their latency."""
    found = Recorder(tmp_path, "watch", {}, ())
    seconds = 1500
    same = {"source": "disk", "unit": "1"}
    for second in range(1, seconds):
        slow = second % 2
        found.add("samples", [
            {**same, "t_ns": second * NS, "subject": f"d{disk:02}", "metric": metric,
             "value": value}
            for disk in range(30)
            for metric, value in (("read_await", 100.0 if slow else 1.0), ("other", 0.0),
                                  ("read_iops", 1.0 if slow else 99.0))
        ])  # fmt: skip
    found.rotate("samples")
    found.finish("done")
    read = Samples(0)
    for batch in Tail(found.path, "samples").batches():
        read.add(batch)
    keys = [("disk", f"d{disk:02}", "read_await") for disk in range(30)]
    np.testing.assert_allclose(read.means(keys, 3, 1, 10), 199 / 100, rtol=0.05)
    found.close()


@pytest.mark.parametrize("text", ["nonsense\n", "[1]\n", '{"t_ns": "x"}\n', '{"t_ns": 1e400}\n'])
def test_a_damaged_spool_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "samples.jsonl").write_text(text)
    with pytest.raises(UsageError, match="damaged"):
        values(Tail(tmp_path, "samples"))


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "samples.jsonl").symlink_to("/etc/passwd")
    with pytest.raises(UsageError, match="link"):
        values(Tail(tmp_path, "samples"))
