"""Criteria against whole bundles: kept, broken, and never kept without data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dyno.bundle.model import CriterionResult
from dyno.criteria import asked
from dyno.decide.case import Case
from dyno.decide.judge import broken
from dyno.decide.trial import trial
from dyno.studies.metrics import METRICS
from tests import bundle_data as data
from tests.bundles import Builder
from tests.judged import judged
from tests.searched import searched

APART = {"data": ("vdb",), "log": ("vda",)}
DEVICES = {"data": ("vda",), "log": ("vda",)}


def built(path: Path, *texts: str, users: int = 4, **fields: Any) -> Builder:
    builder = Builder(path / "run", verb="run").machine().target("postgresql")
    facts = builder.targets["postgresql"]
    builder.targets["postgresql"] = facts.model_copy(update={"devices": DEVICES})
    builder.plan = {"criteria": [{"text": text, "source": "asked for"} for text in texts]}
    return builder.oltp(users, **fields)


def results(builder: Builder) -> list[CriterionResult]:
    findings = judged(builder.write()).findings
    return [item.result for item in findings if item.result is not None]


@pytest.mark.parametrize(
    ("text", "passed", "value"),
    [
        ("cpu < 80 %", True, 74),
        ("cpu < 70 %", False, 74),
        ("new_order p95 < 50 ms", True, 7.8),
        ("new_order p95 < 5 ms", False, 7.8),
        ("new_order p95 < 0.005 s", False, 7.8),
        ("response p95 < 20 ms", True, 16.5),  # of Delivery, the slowest
        ("payment p50 > 1 s", False, 2.2),
        ("errors = 0", True, 0),
        ("errors < 1 %", True, 0),
        ("throughput > 1000 /s", True, 1204),
        ("throughput > 90000 /min", False, 1204),
        ("data_write < 20 ms", True, 1.4),
        ("data_read < 0.4 ms", True, 0.3),
    ],
)
def test_a_limit_is_kept_or_not(tmp_path: Path, text: str, passed: bool, value: float) -> None:
    (result,) = results(built(tmp_path, text))
    assert result.passed is passed
    assert result.value == pytest.approx(value, rel=0.06)
    assert result.intervals >= 14


def test_log_writes_on_the_data_device_are_not_separable(tmp_path: Path) -> None:
    builder = built(tmp_path, "log_write < 1 ms", "data_write < 20 ms")
    found = judged(builder.write())
    log, written = [item.result for item in found.findings if item.result is not None]
    assert (log.passed, log.value, log.reason) == (None, None, "log and data share vda")
    assert (written.passed, written.note.endswith("vda, including the log")) == (True, True)
    assert not broken(found.findings)


def test_a_log_on_a_device_of_its_own_is_judged(tmp_path: Path) -> None:
    builder = built(tmp_path, "log_write < 1 ms")
    facts = builder.targets["postgresql"]
    builder.targets["postgresql"] = facts.model_copy(update={"devices": APART})
    (result,) = results(builder)
    assert (result.passed, result.value) == (False, pytest.approx(1.4, rel=0.06))


def test_a_shared_device_stops_no_search(tmp_path: Path) -> None:
    """The limit does not count in a window, and the maximum says that it was not evaluated."""
    builder = searched(tmp_path)
    facts = builder.targets["postgresql"]
    builder.targets["postgresql"] = facts.model_copy(update={"devices": DEVICES})
    builder.plan["slo"] = [
        {"text": text, "source": "asked for"} for text in ("log_write < 1 ms", "errors = 0")
    ]
    found = judged(builder.write())
    case = Case.of(found.bundle, found.estimates)
    window = trial(case, "users-10", asked(found.bundle.run), strict=True)
    assert window.passed and not window.unjudged
    assert "log and data share vda" in window.words()
    assert found.validity.valid is True
    (message,) = [item.message for item in found.findings if item.code == "unconfirmed-maximum"]
    assert "log and data share vda" in message
    assert not broken(found.findings)


def test_of_several_databases_the_machine_is_judged_once(tmp_path: Path) -> None:
    builder = built(tmp_path, "cpu < 70 %", "throughput > 1000 /s", "new_order p95 < 50 ms")
    for number in (1, 2):
        builder.oltp(4, level=f"users-4-db-{number}")
        builder.phases[-1].detail.update(database=number, part_of="users-4")
    found = results(builder)
    assert [(one.level, one.criterion.split()[0]) for one in found] == [
        ("users-4", "cpu"),
        ("users-4", "throughput"),
        ("users-4", "new_order"),
        ("users-4-db-1", "new_order"),
        ("users-4-db-2", "new_order"),
    ]


def test_a_broken_criterion_leaves_the_run_valid(tmp_path: Path) -> None:
    found = judged(built(tmp_path, "cpu < 70 %").write())
    assert found.validity.valid is True
    assert broken(found.findings)
    assert "failed: cpu mean < 70 %." in found.findings[0].message
    kept = judged(built(tmp_path / "kept", "cpu < 80 %").write())
    assert not broken(kept.findings)
    assert "Criteria passed: 1." in kept.findings[0].message


def test_a_usual_limit_is_shown_and_decides_nothing(tmp_path: Path) -> None:
    builder = built(tmp_path, "new_order p95 < 50 ms", users=16)
    usual = {"text": "cpu < 80 %", "source": "a paper"}
    builder.plan["criteria"].append(usual)
    found = judged(builder.write())
    named, cpu = [item.result for item in found.findings if item.result is not None]
    assert (named.binding, named.passed) == (True, True)
    assert (cpu.binding, cpu.passed) == (False, False)
    assert not broken(found.findings)
    head = found.findings[0].message
    assert head.startswith("Valid. Criteria passed: 1. Default limits failed: cpu mean < 80 %. ")
    (message,) = [item.message for item in found.findings if item.result is cpu]
    assert "default limit cpu mean < 80 % failed: 9" in message
    # In a search the same limit decides: it looks for the maximum within it.
    other = built(tmp_path / "slo", users=16)
    other.plan = {"slo": [usual]}
    assert broken(judged(other.write()).findings)


def test_a_limit_on_what_did_not_happen_is_not_judged(tmp_path: Path) -> None:
    builder = built(tmp_path, "data_read < 20 ms", "data_write < 20 ms")
    rows = builder.tables["samples"]
    for row in rows:
        if row["metric"] == "read_iops":
            row["value"] = 0.0
    builder.tables["samples"] = [row for row in rows if row["metric"] != "read_await"]
    found = judged(builder.write())
    read, write = [item.result for item in found.findings if item.result is not None]
    assert (read.passed, read.idle, write.passed) == (None, True, True)
    assert read.reason == "no reads reached vda"
    assert any("not evaluated: no reads" in item.message for item in found.findings)
    assert not broken(found.findings)


def test_the_worst_interval_is_named(tmp_path: Path) -> None:
    builder = built(tmp_path, "errors = 0", "throughput > 1000 /s", "cpu < 90 %")
    rows = [row for row in builder.tables["ops/users-4"] if row["phase"] == "measure"]
    seventh = sorted({row["t_ns"] for row in rows})[6]
    for row in rows:
        if row["t_ns"] == seventh and row["op"] == "new_order":
            row["errors"], row["done"] = {"deadlock": 3}, 40
    for row in builder.tables["samples"]:
        if row["metric"] == "busy" and row["t_ns"] == seventh + data.SECOND:
            row["value"] = 99.5
    errors, throughput, cpu = results(builder)
    assert (errors.passed, errors.value, errors.worst) == (False, 3, 3)
    assert (throughput.passed, throughput.failing) == (True, 1)
    assert throughput.worst is not None and throughput.worst < 1000
    assert (cpu.passed, cpu.worst, cpu.failing) == (True, 99.5, 1)
    assert errors.worst_t_ns == throughput.worst_t_ns == seventh
    # A reading covers the second before it.
    assert cpu.worst_t_ns is not None
    assert abs(cpu.worst_t_ns - seventh) <= data.SECOND


def test_latency_of_volumes_counts_by_requests(tmp_path: Path) -> None:
    builder = built(tmp_path, "data_write < 5 ms")
    for row in builder.tables["samples"]:
        if row["metric"] == "write_await":
            row["value"] = 100.0 if row["t_ns"] // data.SECOND % 5 == 0 else 1.0
        if row["metric"] == "write_iops":
            row["value"] = 1.0 if row["t_ns"] // data.SECOND % 5 == 0 else 1000.0
    (result,) = results(builder)
    assert result.value == pytest.approx(1.03, rel=0.05)  # the mean over seconds is above 20
    assert result.worst == 100.0
    assert result.passed is True


@pytest.mark.parametrize(
    ("change", "text", "reason"),
    [
        ({"place": "elsewhere"}, "cpu < 80 %", "no samples of the server's machine"),
        ({"place": "process"}, "cpu < 80 %", "no server"),
        ({"devices": {}}, "log_write < 5 ms", "the server's log is unknown"),
        ({"place": "elsewhere"}, "data_read < 20 ms", "no samples"),
        ({"devices": {"data": ("sdz",)}}, "data_read < 20 ms", "fewer than 3 samples"),
        ({}, "retransmits < 0.5 %", "fewer than 3 samples"),
    ],
)
def test_without_data_nothing_is_kept(
    tmp_path: Path, change: dict[str, Any], text: str, reason: str
) -> None:
    builder = built(tmp_path, text)
    facts = builder.targets["postgresql"]
    builder.targets["postgresql"] = facts.model_copy(update=change)
    found = judged(builder.write())
    (result,) = [item.result for item in found.findings if item.result is not None]
    assert result.passed is None
    assert reason in result.reason
    assert not broken(found.findings)
    assert "No criterion could be evaluated." in found.findings[0].message


def test_retransmits_are_a_share_of_what_was_sent(tmp_path: Path) -> None:
    builder = built(tmp_path, "retransmits < 0.5 %")
    rows = builder.tables["samples"]
    for moment in sorted({row["t_ns"] for row in rows}):
        busy = moment // data.SECOND % 2
        for metric, value in (
            ("segments_out", 10_000.0 if busy else 10.0),
            ("segments_retransmitted", 10.0 if busy else 1.0),
        ):
            rows.append({"t_ns": moment, "source": "network", "subject": "tcp", "metric": metric,
                         "value": value, "unit": "1/s"})  # fmt: skip
    (result,) = results(builder)
    assert result.value == pytest.approx(0.11, rel=0.05)
    assert (result.passed, result.worst) == (True, 10.0)


@pytest.mark.parametrize("plan", [5, ["x"], [{"text": 5}], [{"text": "no such < 1"}], None, {}])
def test_a_plan_of_another_shape_asks_nothing(tmp_path: Path, plan: Any) -> None:
    builder = built(tmp_path)
    builder.plan = {"criteria": plan}
    bundle = builder.write()
    assert asked(bundle.run) == []
    assert judged(bundle).validity.valid is True


def test_of_a_search_only_the_maximum_has_to_keep_the_limits(tmp_path: Path) -> None:
    found = judged(searched(tmp_path).write())
    assert found.validity.valid is True
    kept = [item.result for item in found.findings if item.result is not None]
    assert {item.level for item in kept} == {"users-10", "users-10-window-2"}
    assert all(item.passed for item in kept)
    users = next(item for item in found.estimates if item.name == "capacity.users")
    assert (users.value, users.low, users.high) == (10, 10, 11)
    assert found.value("capacity.tps") == pytest.approx(1570, rel=0.02)


def test_windows_of_a_maximum_count_by_their_length(tmp_path: Path) -> None:
    builder = searched(tmp_path)
    builder.oltp(1, duration_s=60, level="users-10-window-3")
    builder.phases[-2].detail["counted"].append("users-10-window-3")
    found = judged(builder.write())
    # Two windows of 15 s at 1,570/s, one of 60 s at 412/s.
    assert found.value("capacity.tps") == pytest.approx((30 * 1570 + 60 * 412) / 90, rel=0.02)


def test_a_search_without_a_confirmed_maximum_is_not_valid(tmp_path: Path) -> None:
    found = judged(searched(tmp_path, confirmed=False, stopped="time").write())
    assert found.codes() == {"unconfirmed-maximum"}


def test_a_wide_gap_and_a_curve_that_is_not_monotone_are_warned_of(tmp_path: Path) -> None:
    builder = searched(tmp_path, stopped="time")
    builder.phases[-1].detail["monotone"] = False
    found = judged(builder.write())
    assert found.validity.valid is True
    warned = [item.message for item in found.findings if item.code == "unconfirmed-maximum"]
    assert ["--time-limit" in words for words in warned] == [True, False]
    assert "not monotone" in warned[1]


def unread(builder: Builder, *texts: str) -> Builder:
    """Limits of a search that reads nothing from its volume."""
    facts = builder.targets["postgresql"]
    builder.targets["postgresql"] = facts.model_copy(update={"devices": DEVICES})
    builder.plan["slo"] = [{"text": text, "source": "asked for"} for text in texts]
    rows = builder.tables["samples"]
    builder.tables["samples"] = [row for row in rows if row["metric"] != "read_await"]
    return builder


def test_a_maximum_that_a_limit_was_not_judged_at_says_so(tmp_path: Path) -> None:
    found = judged(unread(searched(tmp_path), "data_read < 20 ms", "errors = 0").write())
    assert found.validity.valid is True
    (message,) = [item.message for item in found.findings if item.code == "unconfirmed-maximum"]
    assert "data_read mean < 20 ms: no reads" in message
    assert not broken(found.findings)


def test_a_maximum_at_which_no_limit_was_judged_is_none(tmp_path: Path) -> None:
    found = judged(unread(searched(tmp_path), "data_read < 20 ms").write())
    assert found.codes() == {"unconfirmed-maximum"}
    assert "there is no maximum" in found.validity.reasons[0].message


def test_a_search_that_met_nothing_steady(tmp_path: Path) -> None:
    builder = searched(tmp_path)
    builder.phases[-1].detail["unsettled"] = True
    found = judged(builder.write())
    assert found.validity.valid is True
    assert "unconfirmed-maximum" in found.warned()
    other = searched(tmp_path / "none")
    other.phases[-1].detail.update(best=None, unsettled=True, confirmed=False)
    assert judged(other.write()).codes() == {"unconfirmed-maximum"}


@pytest.mark.parametrize(("users", "valid"), [(16, True), (11, False), (10, False), (9, True)])
def test_the_driver_spoils_a_search_only_at_its_bounds(
    tmp_path: Path, users: int, valid: bool
) -> None:
    builder = searched(tmp_path)
    phase = next(one for one in builder.phases if one.detail.get("level") == f"users-{users}")
    phase.detail["outcome"]["thread_utilisation_max"] = 0.97
    found = judged(builder.write())
    assert found.validity.valid is valid
    assert found.codes() == (set() if valid else {"client-bound"})


def test_a_load_that_the_server_refused_is_a_part_of_the_search(tmp_path: Path) -> None:
    builder = searched(tmp_path)
    place = next(n for n, one in enumerate(builder.phases) if one.detail.get("users") == 16)
    builder.phases[place] = builder.phases[place].model_copy(update={"status": "failed"})
    builder.phases[-1].detail["refused"] = ["users-16"]
    found = judged(builder.write())
    assert found.validity.valid is True
    assert "unconfirmed-maximum" not in found.warned()
    builder = searched(tmp_path / "at the bound")
    builder.phases[-1].detail["refused"] = ["users-11"]
    found = judged(builder.write())
    assert any("refused sessions" in item.message for item in found.findings)


def placed(path: Path, devices: dict[str, tuple[str, ...]], *texts: str) -> Builder:
    builder = built(path, *texts)
    facts = builder.targets["postgresql"]
    builder.targets["postgresql"] = facts.model_copy(update={"devices": devices})
    return builder


@pytest.mark.parametrize(
    ("text", "metric"),
    [
        ("data_read_ms < 1000", ("data_read_ms",)),
        ("data_write_ms < 1 s", ("data_write_ms",)),
        ("iops.data > 0", ("iops", "data")),
        ("mbps.data > 0 MB/s", ("mbps", "data")),
        ("queue.data >= 0", ("queue", "data")),
        ("cpu_max < 100 %", ("cpu_max",)),
    ],
)
def test_a_criterion_has_the_value_of_the_study_metric_of_its_name(
    tmp_path: Path, text: str, metric: tuple[str, ...]
) -> None:
    found = judged(placed(tmp_path, {"data": ("vda",)}, text).write())
    (result,) = [item.result for item in found.findings if item.result is not None]
    studied = METRICS[metric[0]].of(found.estimates)
    assert result.passed is True
    assert result.value == pytest.approx(studied[".".join(metric)])


@pytest.mark.parametrize("text", ["log_write_ms < 5", "iops.log > 1", "queue.log < 9"])
def test_a_role_on_the_device_of_another_is_not_judged(tmp_path: Path, text: str) -> None:
    (result,) = results(placed(tmp_path, DEVICES, text))
    assert (result.passed, result.idle) == (None, True)
    assert result.reason == "shared device: log and data share vda"
    (data,) = results(
        placed(
            tmp_path / "data",
            DEVICES,
            text.replace("log_write", "data_write").replace(".log", ".data"),
        )
    )
    assert data.value is not None and data.note.endswith("vda, including log")


def test_roles_that_are_unknown_or_idle_are_not_judged(tmp_path: Path) -> None:
    builder = placed(
        tmp_path, {"data": ("vda",)}, "iops.temp < 9", "read_kb.data > 1", "iops.partition-7 > 1"
    )
    builder.tables["samples"] = [
        row for row in builder.tables["samples"] if row["metric"] != "read_size"
    ]
    temp, size, seventh = results(builder)
    assert (temp.reason, temp.idle) == ("the device of the server's temp is unknown", False)
    assert (size.reason, size.idle) == ("no reads reached vda", True)
    assert "partition-7 is unknown" in seventh.reason


def test_the_least_available_memory_is_judged(tmp_path: Path) -> None:
    builder = placed(tmp_path, {"data": ("vda",)}, "memory_available > 3 GiB")
    moments = sorted({row["t_ns"] for row in builder.tables["samples"]})
    rows = [row for row in builder.tables["samples"] if row["source"] != "memory"]
    for number, moment in enumerate(moments):
        left = 2.0 if number == len(moments) // 2 else 4.0
        rows.append({"t_ns": moment, "source": "memory", "subject": "host", "metric": "available",
                     "value": left * 2**30, "unit": "B"})  # fmt: skip
    builder.tables["samples"] = rows
    (result,) = results(builder)
    assert (result.passed, result.value) == (False, 2.0 * 2**30)
