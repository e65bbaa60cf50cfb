"""What several drivers did at once, added up."""

from __future__ import annotations

from typing import Any

from hdrh.histogram import HdrHistogram

from dyno.analyse.series import throughput
from dyno.bundle.histograms import Latencies
from dyno.stages.drive.sums import interval_sums, summed_outcome

S = 1_000_000_000
START = 1_700_000_000 * S + 123


def histogram(*values: int) -> str:
    found: Any = HdrHistogram(1, 3600 * S, 3)
    for value in values:
        found.record_value(value)
    return found.encode().decode()


def row(t_ns: int, done: int, phase: str = "measure", **fields: Any) -> dict[str, Any]:
    return {
        "t_ns": t_ns, "seconds": 1.0, "op": "new_order", "done": done, "rolled_back": 1,
        "errors": {}, "retries": {}, "response": histogram(*range(1000, 1000 + done)),
        "service": histogram(*range(500, 500 + done)), "phase": phase, **fields,
    }  # fmt: skip


def test_intervals_are_added_one_by_one_whatever_began_a_little_later() -> None:
    late = 30_000_000
    one = [
        row(START - S, 1, "warmup"),
        row(START, 10),
        row(START + S, 20, errors={"database": 2}),
        row(START + S, 5, op="delivery"),
    ]
    # The first interval of a warm-up is cut short.
    other = [
        row(START + late - S // 2, 2, "warmup", seconds=0.5),
        row(START + late, 100),
        row(START + late + S, 200, errors={"database": 1, "deadlock": 3}),
        row(START + late + 2 * S, 7),
    ]
    sums = interval_sums([one, other])
    found = {(item["t_ns"], item["op"]): item for item in sums}
    assert {key: item["done"] for key, item in found.items()} == {
        (START - S, "new_order"): 3,
        (START, "new_order"): 110,
        (START + S, "new_order"): 220,
        (START + S, "delivery"): 5,
        (START + 2 * S, "new_order"): 7,
    }
    # In the driver's order, which is the order in the report.
    assert [op for t_ns, op in found if t_ns == START + S] == ["new_order", "delivery"]
    assert found[START - S, "new_order"]["phase"] == "warmup"
    both = found[START + S, "new_order"]
    assert both["errors"] == {"database": 3, "deadlock": 3}
    assert both["rolled_back"] == 2
    merged = Latencies()
    merged.add(both["response"])
    assert merged.count == 220
    assert 1.1 < merged.max_ms * 1000 < 1.21
    rates = throughput([item for item in sums if item["phase"] == "measure"])
    assert rates is not None
    assert rates.values == (112, 228, 8)


def test_one_in_whose_first_second_nothing_ended_keeps_its_place() -> None:
    one = [row(START, 1), row(START + S, 1), row(START + 2 * S, 1)]
    other = [row(START + 5 + S, 10), row(START + 5 + 2 * S, 10)]
    assert [item["done"] for item in interval_sums([one, other])] == [1, 11, 11]
    assert [item["done"] for item in interval_sums([one, []])] == [1, 1, 1]
    assert interval_sums([[], []]) == []


PEAKS = ("client_cpu", "thread_utilisation", "lag_p99_ms", "late")


def outcome(done: int, **fields: Any) -> dict[str, Any]:
    return {
        "seconds": 10.0, "tps": done / 10,
        "ops": {"new_order": {"done": done, "rolled_back": 0}}, "client_cpu_s": 1.0, "late": 0,
        "unsent": 0, "stuck": 1, "gone": 0, "unfinished": 2, "reconnects": 0, "threads": 2,
        "thread_utilisation_max": 0.1, "lag_p99_ms": 0.2, "errors_first": {}, "scheduled": None,
        "carried_over": 0, "worst": dict.fromkeys(PEAKS), **fields,
    }  # fmt: skip


def test_costs_are_added_and_of_shares_the_worst_counts() -> None:
    early, late = ({"value": value, "at_s": at, "seconds": 5} for value, at in ((0.4, 0), (0.9, 5)))
    worst = dict.fromkeys(PEAKS)
    first = outcome(
        1000, errors_first={"database": "first"}, worst={**worst, "client_cpu": early, "late": late}
    )
    second = outcome(
        3000, thread_utilisation_max=0.95, lag_p99_ms=3.0, errors_first={"database": "later"},
        worst={**worst, "client_cpu": late},
    )  # fmt: skip
    found = summed_outcome([first, second])
    assert found["tps"] == 400
    assert found["client_cpu_s"] == 2
    assert found["client_cpu_ms_per_1000"] == 500
    assert found["threads"] == 4
    assert found["unfinished"] == 4
    assert (found["stuck"], found["gone"]) == (2, 0)
    assert found["thread_utilisation_max"] == 0.95
    assert found["lag_p99_ms"] == 3
    assert found["errors_first"] == {"database": "first"}
    assert found["scheduled"] is None
    assert found["worst"] == {**worst, "client_cpu": late, "late": late}


def test_a_delay_of_nothing_is_a_delay_and_what_was_lost_is_added() -> None:
    def both(*outcomes: dict[str, Any]) -> tuple[Any, Any]:
        found = summed_outcome([outcome(9, **fields) for fields in outcomes])
        return found["behind_ms"], found["lost"]

    assert both({"behind_ms": 0.0, "lost": 0}, {"behind_ms": 0.0, "lost": 0}) == (0, 0)
    assert both({"behind_ms": 0.0, "lost": 2}, {"behind_ms": 3.0, "lost": 1}) == (3, 3)
    assert both({}, {"behind_ms": 0.0}) == (0, None)
    assert both({}, {}) == (None, None)


def test_what_was_due_in_open_loops_is_added() -> None:
    found = summed_outcome([outcome(9, scheduled=10, unsent=1), outcome(20, scheduled=20)])
    assert (found["scheduled"], found["unsent"]) == (30, 1)
    assert summed_outcome([outcome(9, scheduled=10), outcome(20)])["scheduled"] is None


def test_measured_is_what_each_measured_in_short_intervals_too() -> None:
    step = S // 10
    one = [row(START + place * step, 1, seconds=0.1) for place in range(4)]
    # It began almost two intervals later, and settled in one more.
    late = START + 2 * step - 5
    other = [row(late - step, 7, "warmup", seconds=0.1), row(late, 7, "settling", seconds=0.1)]
    other += [row(late + place * step, 10, seconds=0.1) for place in range(1, 5)]
    sums = interval_sums([one, other], 0.1)
    by_phase = {
        name: sum(item["done"] for item in sums if item["phase"] == name)
        for name in ("warmup", "settling", "measure")
    }
    assert by_phase == {"warmup": 7, "settling": 7, "measure": 4 + 40}
    assert all((item["t_ns"] - START) % step == 0 for item in sums)
