"""Means of what the probes sampled: one number, however uneven the seconds are."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest

from dyno.bundle.observed import sampled
from dyno.decide.judge import definitions
from dyno.report import document, run_report
from dyno.report.kit.formats import rounded
from tests.bundle_data import SECOND
from tests.bundles import Builder
from tests.judged import Judged, judged
from tests.report.html import Page

LEVEL = "resource.oltp-tpcc-postgresql-users-4"


def uneven(path: Path, *, missed: bool = False) -> Builder:
    """A level with few requests in slow seconds; with ``missed``, each fourth tick did not come.

    Every fifth second has 10 writes of 100 ms, the others 1,000 of 1 ms.
    """
    builder = Builder(path / "run", verb="run").machine().target("postgresql")
    facts = builder.targets["postgresql"]
    devices = {"data": ("vda",), "log": ("vda",)}
    builder.targets["postgresql"] = facts.model_copy(update={"devices": devices})
    builder.plan = {
        "criteria": [
            {"text": text, "source": "asked for"}
            for text in ("data_write < 20 ms", "data_read < 20 ms", "cpu < 99 %",
                         "retransmits < 90 %")
        ]
    }  # fmt: skip
    builder.oltp(4)
    rows = builder.tables["samples"]
    for moment in sorted({row["t_ns"] for row in rows}):
        slow = moment // SECOND % 5 == 0
        for metric, value in (
            ("segments_out", 10.0 if slow else 10_000.0),
            ("segments_retransmitted", 1.0 if slow else 10.0),
            ("retransmitted", 10.0 if slow else 0.1),
        ):
            rows.append({"t_ns": moment, "source": "network", "subject": "tcp", "metric": metric,
                         "value": value, "unit": "1/s"})  # fmt: skip
    values = {
        "write_await": (100.0, 1.0), "write_iops": (10.0, 1000.0), "write_mbps": (0.1, 8.0),
        "read_await": (50.0, 2.0), "read_iops": (5.0, 400.0), "busy": (90.0, 40.0),
        "queue_length": (9.0, 1.0), "utilisation": (95.0, 30.0),
    }  # fmt: skip
    for row in rows:
        if row["metric"] in values:
            row["value"] = values[row["metric"]][row["t_ns"] // SECOND % 5 != 0]
    if missed:
        ticks = sorted({row["t_ns"] for row in rows})
        gone = set(ticks[1::4])
        after = {ticks[at + 1] for at in range(1, len(ticks) - 1, 4)}
        rows = [row for row in rows if row["t_ns"] not in gone]
        rows += [
            {"t_ns": moment, "source": "dyno", "subject": "sampler", "metric": "missed_ticks",
             "value": 1.0 if moment in after else 0.0, "unit": "count"}
            for moment in ticks if moment not in gone
        ]  # fmt: skip
        builder.tables["samples"] = sorted(rows, key=lambda row: row["t_ns"])
    return builder


def cells(found: Judged, *columns: str) -> list[str]:
    """What the report's table of the phase shows of the level."""
    html = run_report(found.bundle, found.estimates, found.findings, definitions())
    head, *rows = Page(html).table("Volumes by phase")
    (row,) = rows
    return [row[head.index(name)] for name in columns]


@pytest.mark.parametrize("missed", [False, True])
def test_every_place_gives_one_latency(tmp_path: Path, missed: bool) -> None:
    builder = uneven(tmp_path, missed=missed)
    found = judged(builder.write())
    made = document(found.bundle, found.estimates, found.findings)
    judgement = {
        item.result.criterion.split()[0]: item.result for item in found.findings if item.result
    }
    listed = {item["criterion"].split()[0]: item["value"] for item in made["criteria"]}
    shown = dict(
        zip(("data_read", "data_write"), cells(found, "Read ms", "Write ms"),
            strict=True)
    )  # fmt: skip
    for name, side in (("data_read", "read"), ("data_write", "write")):
        value = found.value(f"{LEVEL}.disk.vda.{side}_await.mean")
        assert judgement[name].value == pytest.approx(value, rel=1e-9)
        assert listed[name] == pytest.approx(value, rel=1e-9)
        assert shown[name] == rounded(value)
    cpu, sent = f"{LEVEL}.cpu.host.busy.mean", f"{LEVEL}.network.tcp.retransmitted.mean"
    assert judgement["cpu"].value == pytest.approx(found.value(cpu), rel=1e-9)
    assert judgement["retransmits"].value == pytest.approx(found.value(sent), rel=1e-9)


def test_a_latency_is_that_of_the_requests(tmp_path: Path) -> None:
    """Σ ms / Σ requests, and not the mean of the seconds, which is above 20 ms."""
    found = judged(uneven(tmp_path).write())
    assert found.value(f"{LEVEL}.disk.vda.write_await.max") == 100
    assert found.value(f"{LEVEL}.disk.vda.write_await.mean") == pytest.approx(
        (10 * 100 + 4 * 1000 * 1) / (10 + 4 * 1000), rel=0.1
    )
    assert found.value(f"{LEVEL}.network.tcp.retransmitted.mean") == pytest.approx(
        100 * (1 + 4 * 10) / (10 + 4 * 10_000), rel=0.1
    )


def readings(builder: Builder, metric: str) -> list[tuple[int, float]]:
    return [(row["t_ns"], row["value"]) for row in builder.tables["samples"]
            if row["metric"] == metric]  # fmt: skip


@pytest.mark.parametrize("metric", ["queue_length", "utilisation", "write_iops", "write_mbps"])
def test_rates_and_shares_are_of_the_time(tmp_path: Path, metric: str) -> None:
    """A reading after a missed tick is of two seconds."""
    builder = uneven(tmp_path, missed=True)
    found = judged(builder.write())
    phase = next(one for one in found.bundle.run.phases if one.kind == "oltp")
    start, end = phase.end_ns - 15 * SECOND, phase.end_ns  # pyright: ignore[reportOptionalOperand]
    pairs = readings(builder, metric)
    spans = [
        (t_ns - before, value)
        for (before, _), (t_ns, value) in pairwise(pairs)
        if start <= (before + t_ns) / 2 < end
    ]
    whole = sum(length * value for length, value in spans) / sum(length for length, _ in spans)
    plain = sum(value for _, value in spans) / len(spans)
    value = found.value(f"{LEVEL}.disk.vda.{metric}.mean")
    assert value == pytest.approx(whole, rel=0.02)
    assert abs(value - plain) > 0.02 * plain


def test_an_old_bundle_without_counts_weighs_by_time(tmp_path: Path) -> None:
    builder = uneven(tmp_path)
    rows = builder.tables["samples"]
    builder.tables["samples"] = [row for row in rows if not row["metric"].endswith("iops")]
    found = judged(builder.write())
    value = found.value(f"{LEVEL}.disk.vda.write_await.mean")
    assert value == pytest.approx((100 + 4) / 5, rel=0.25)


def test_what_is_read_at_times_of_its_own_leaves_the_ticks_as_long_as_they_are() -> None:
    def row(at_s: float, source: str, subject: str, metric: str, value: float) -> dict[str, object]:
        return {
            "t_ns": round(at_s * SECOND),
            "source": source,
            "subject": subject,
            "metric": metric,
            "value": value,
            "unit": "%",
        }

    rows = [row(at, "cpu", "host", "busy", 10.0 * at) for at in (0, 1, 2, 3)]
    rows += [row(at, "dyno", "sampler", "missed_ticks", 0.0) for at in (1, 2, 3)]
    rows += [row(at, "checkpoints", "server", "begun", 1.0) for at in (0.9, 1.9, 3.9)]
    missed = ((0.9, 0.0), (1.9, 0.0), (3.9, 1.0))
    rows += [row(at, "dyno", "checkpoints", "missed_periods", count) for at, count in missed]
    rows += [row(2.2, "maintenance", "reindex", "space", 5.0)]
    found = sampled(pa.Table.from_pylist(rows))

    def lengths(*key: str) -> list[float]:
        source, subject, metric = key
        readings = found[source, subject, metric].readings
        return [round((one.t_ns - one.start_ns) / SECOND, 3) for one in readings]

    assert lengths("cpu", "host", "busy") == [1, 1, 1, 1]
    assert lengths("dyno", "sampler", "missed_ticks") == [1, 1, 1]
    # A reading after a missed one covers the time of both.
    assert lengths("checkpoints", "server", "begun") == [1, 1, 2]
    assert lengths("maintenance", "reindex", "space") == [1]
