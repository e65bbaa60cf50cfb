"""What limits a phase, from runs whose limit is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dyno.bundle.model import Confined, Finding, Location, TargetFacts
from dyno.decide.limits import rules
from tests import bundle_data as data
from tests.bundles import Builder, interrupted, only_io, quickstart
from tests.judged import Judged, judged

PHASE = "oltp-tpcc-postgresql-users-4"


def limit(found: Judged, phase: str = PHASE) -> Finding:
    return next(
        item for item in found.findings if item.phase == phase and item.code.startswith("limit-")
    )


def kept_on(*devices: str) -> TargetFacts:
    """A database on this machine, its data on these devices."""
    url = "postgresql:///bench"
    version = "PostgreSQL 18.1"
    return TargetFacts(url=url, version=version, place="machine", devices={"data": devices})


def level(path: Path, *, beside: TargetFacts | None = None, **load: float) -> Judged:
    """Four users under a given load of the machine (means over the phase)."""
    builder = Builder(path / "run").oltp(4)
    builder.targets["postgresql"] = kept_on("vda")
    if beside is not None:
        builder.targets["beside"] = beside
    names = {
        ("cpu", "busy"): load.get("busy", 30.0),
        ("cpu", "steal"): load.get("steal", 0.1),
        ("disk", "utilisation"): load.get("utilisation", 20.0),
        ("disk", "queue_length"): load.get("queue", 0.5),
        ("disk", "write_await"): load.get("write_await", 0.2),
        ("pressure", "some"): load.get("pressure", 3.0),
    }
    for row in builder.tables["samples"]:
        row["value"] = names.get((row["source"], row["metric"]), row["value"])
    processes = {"dyno": load.get("dyno"), "server": load.get("server")}
    moments = {row["t_ns"]: None for row in builder.tables["samples"]}
    for subject, value in processes.items():
        builder.tables["samples"] += [
            {
                "t_ns": moment,
                "source": "process",
                "subject": subject,
                "metric": "cpu",
                "value": value,
                "unit": "%",
            }
            for moment in moments
            if value is not None
        ]
    return judged(builder.write())


def test_every_rule_explains_itself() -> None:
    codes = [rule.code for rule in rules()]
    assert len(codes) == len(set(codes)) >= 5
    assert all(rule.definition.endswith(".") and rule.explanation for rule in rules())


@pytest.mark.parametrize(
    ("load", "code", "words"),
    [
        ({"busy": 91.0}, "limit-cpu", "91 % busy"),
        ({"utilisation": 97.0, "queue": 8.0}, "limit-storage", "vda was 97 % utilised"),
        ({"busy": 88.0, "utilisation": 98.0, "queue": 8.0}, "limit-storage", "queue length 8.0"),
        ({"write_await": 2.5}, "limit-synchronous-writes", "a write took 2.5 ms"),
        ({"pressure": 60.0}, "limit-synchronous-writes", "pressure was 60 %"),
        ({"utilisation": 97.0, "write_await": 3.0}, "limit-synchronous-writes", "97 % utilised"),
        ({"busy": 95.0, "dyno": 20.0, "server": 150.0}, "limit-cpu", "95 % busy"),
        (
            {"busy": 95.0, "dyno": 20.0, "server": 50.0},
            "limit-background-load",
            "60 % background load",
        ),
        ({"busy": 95.0, "dyno": 20.0}, "limit-cpu", "95 % busy"),
        ({"busy": 80.0, "steal": 9.0}, "limit-cpu", "80 % busy, 9 % steal"),
        ({"busy": 70.0, "steal": 9.0}, "limit-unattributed", "70 % busy, 9 % steal"),
        ({"busy": 60.0}, "limit-unattributed", "CPU was 60 % busy, vda 20 % utilised"),
    ],
)
def test_signs(tmp_path: Path, load: dict[str, float], code: str, words: str) -> None:
    found = limit(level(tmp_path, **load))
    assert found.code == code
    assert words in found.message
    assert found.level == "note"
    if code != "limit-unattributed":
        assert "not verified" in found.message
        assert found.evidence


def one_writer(path: Path, busy_share: float, users: int = 4) -> Finding:
    writer = {"busy_share": busy_share, "wait_ms": {"mean": 4.2, "p99": 30.0}}
    builder = Builder(path / "run").oltp(users, outcome={"writer": writer})
    return limit(judged(builder.write()), f"oltp-tpcc-postgresql-users-{users}")


def test_one_writer_who_is_always_at_work_is_named(tmp_path: Path) -> None:
    found = one_writer(tmp_path / "a", 0.93)
    assert found.code == "limit-one-writer"
    assert "93 % of the time; mean wait 4.2 ms" in found.message
    assert found.evidence[0] == "oltp.users-4.writer_busy_percent"
    assert one_writer(tmp_path / "b", 0.79).code != "limit-one-writer"
    # Alone, a user waits for nobody.
    assert one_writer(tmp_path / "c", 0.93, users=1).code != "limit-one-writer"


def test_other_work_spoils_a_run(tmp_path: Path) -> None:
    found = level(tmp_path / "a", busy=60.0, dyno=10.0, server=50.0)
    assert "background-load" in found.codes()
    assert found.validity.valid is False
    assert "background-load" not in level(tmp_path / "b", busy=60.0, dyno=10.0, server=90.0).codes()
    # Whether the server was watched is not known: nothing can be said.
    assert "background-load" not in level(tmp_path / "c", busy=60.0, dyno=10.0).codes()
    load = {"busy": 60.0, "dyno": 10.0, "server": 50.0}
    beside = kept_on("vda")
    assert "background-load" in level(tmp_path / "d", beside=beside, **load).codes()
    beside = beside.model_copy(update={"unseen": True})
    assert "background-load" not in level(tmp_path / "e", beside=beside, **load).codes()


def test_evidence_names_estimates(tmp_path: Path) -> None:
    found = judged(quickstart(tmp_path).write())
    evidence = {name for item in found.findings for name in item.evidence if "." in name}
    assert evidence
    assert evidence <= found.names()


def test_the_driver_goes_before_all_else(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "run").oltp(16, driver_share=0.95)
    found = limit(judged(builder.write()), "oltp-tpcc-postgresql-users-16")
    assert found.code == "limit-client"


def test_one_session_cannot_use_two_processors(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "run").power("postgresql", data.ROW_SECONDS)
    found = limit(judged(builder.write()), "power-tpch-postgresql")
    assert found.code == "limit-cpu-of-sessions"
    assert "1.1 of 2 CPUs" in found.message


@pytest.mark.parametrize(
    ("server", "busy", "code"),
    [
        (98.0, 60.0, "limit-cpu-of-sessions"),
        # Parallel workers of one session: it has more than one CPU.
        (150.0, 80.0, "limit-unattributed"),
        # The driver and others kept the CPUs busy, the session did not.
        (40.0, 60.0, "limit-unattributed"),
    ],
)
def test_the_cpu_of_one_session_is_named_only_where_it_used_one(
    tmp_path: Path, server: float, busy: float, code: str
) -> None:
    builder = Builder(tmp_path / "run").power("postgresql", data.ROW_SECONDS)
    rows = builder.tables["samples"]
    for row in rows:
        if row["source"] == "cpu" and row["metric"] == "busy":
            row["value"] = busy
    for moment in {row["t_ns"] for row in rows}:
        used = {"source": "process", "subject": "server", "metric": "cpu"}
        rows.append({"t_ns": moment, **used, "value": server, "unit": "%"})
    assert limit(judged(builder.write()), "power-tpch-postgresql").code == code


def test_a_short_phase_is_not_judged(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "run").power("duckdb", data.COLUMN_SECONDS)
    found = limit(judged(builder.write()), "power-tpch-duckdb")
    assert found.code == "limit-unattributed"
    assert "fewer than 3" in found.message


def test_writes_to_a_device_without_the_database_are_not_blamed(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "run").oltp(4)
    builder.targets["postgresql"] = kept_on("vdb")
    for row in builder.tables["samples"]:
        if (row["source"], row["metric"]) == ("disk", "write_await"):
            row["value"] = 2.5
    assert limit(judged(builder.write())).code == "limit-unattributed"


@pytest.mark.parametrize(
    ("device", "code"), [("vda", "limit-storage"), ("vdb", "limit-unattributed")]
)
def test_a_full_device_without_the_database_is_not_blamed(
    tmp_path: Path, device: str, code: str
) -> None:
    builder = Builder(tmp_path / "run").oltp(4)
    builder.targets["postgresql"] = kept_on(device)
    full = {"utilisation": 97.0, "queue_length": 8.0, "write_await": 0.2}
    for row in builder.tables["samples"]:
        if row["source"] == "disk":
            row["value"] = full.get(row["metric"], row["value"])
    assert limit(judged(builder.write())).code == code


EIGHT = {**data.HOST, "cpu": {**data.HOST["cpu"], "logical": 8, "usable": 8}}


def engine(path: Path, limits: dict[str, str], **load: Any) -> Judged:
    """A private engine on 8 CPUs, confined, under a given load."""
    builder = Builder(path / "run").oltp(4)
    builder.host = load.pop("host", EIGHT)
    builder.targets["postgresql"] = TargetFacts(
        url="embedded:postgresql", version="PostgreSQL 18.1", place="machine"
    )
    builder.confined = Confined(
        where="server", version=2, limits=limits, **load.pop("confined", {})
    )
    moments = {row["t_ns"] for row in builder.tables["samples"]}
    usual = {("cpu", "busy"): load["busy"], ("disk", "write_await"): 0.2, ("pressure", "some"): 3.0}
    for row in builder.tables["samples"]:
        row["value"] = usual.get((row["source"], row["metric"]), row["value"])
    for subject in ("dyno", "server"):
        known = {"source": "process", "subject": subject, "metric": "cpu", "unit": "%"}
        builder.tables["samples"] += [
            {"t_ns": moment, **known, "value": load[subject]} for moment in moments
        ]
    return judged(builder.write())


def test_an_engine_that_fills_its_own_cpus_is_limited_by_them(tmp_path: Path) -> None:
    found = limit(engine(tmp_path / "a", {"cpus": "0"}, busy=14.0, server=97.0, dyno=10.0))
    assert found.code == "limit-cpu"
    assert "97 % of the CPU that it may use" in found.message
    half = engine(tmp_path / "b", {"cpus": "0,1"}, busy=14.0, server=97.0, dyno=10.0)
    assert limit(half).code == "limit-unattributed"


def test_background_load_counts_all_cpus_also_if_dyno_may_use_few(tmp_path: Path) -> None:
    host = {**data.HOST, "cpu": {**data.HOST["cpu"], "logical": 8, "usable": 2}}
    # Dyno and the server use 2 of 8 CPUs, others 3.2 of them.
    found = engine(tmp_path, {}, busy=65.0, server=150.0, dyno=50.0, host=host)
    assert "background-load" in found.codes()


@pytest.mark.parametrize(("server", "code"), [(95.0, "limit-quota"), (20.0, "limit-unattributed")])
def test_a_quota_limits_the_phases_that_use_it(tmp_path: Path, server: float, code: str) -> None:
    """The counters are those of the run, in which the load was throttled."""
    throttled = {"periods": 1000, "throttled_periods": 900}
    found = engine(tmp_path, {"cpu": "1"}, busy=20.0, server=server, dyno=10.0, confined=throttled)
    assert limit(found).code == code


@pytest.mark.parametrize("place", ["machine", "elsewhere"])
def test_a_machine_that_was_not_observed_is_not_blamed(tmp_path: Path, place: Location) -> None:
    builder = Builder(tmp_path / "run").oltp(16)
    url = "postgresql:///bench?host=db1"
    builder.targets["postgresql"] = TargetFacts(url=url, version="PostgreSQL 18.1", place=place)
    found = limit(judged(builder.write()), "oltp-tpcc-postgresql-users-16")
    assert found.code == ("limit-cpu" if place == "machine" else "limit-unattributed")
    assert ("not monitored" in found.message) is (place == "elsewhere")


def test_the_verdict_speaks_of_the_best_level_and_of_each_target(tmp_path: Path) -> None:
    found = judged(quickstart(tmp_path).write())
    assert found.findings[0].message == (
        "Valid. Bottleneck: CPU for transactions (16 users); the CPU of one session for "
        "queries on PostgreSQL; not identified for queries on DuckDB."
    )
    assert [item.level for item in found.findings].count("verdict") == 1


def test_the_verdict_of_part_of_a_run(tmp_path: Path) -> None:
    only = judged(only_io(tmp_path).write())
    assert only.findings[0].message == "Valid. Only storage was measured."
    cut = judged(interrupted(tmp_path).write("interrupted"))
    assert cut.findings[0].message == (
        "Invalid: incomplete. Bottleneck: the CPU of one session for queries on PostgreSQL."
    )
    loaded = Builder(tmp_path / "load", verb="load").load("tpch", "duckdb", 4.0, 1.0)
    assert judged(loaded.write()).findings[0].message == "Valid. Only loads were measured."
    both = Builder(tmp_path / "both").io().load("tpch", "duckdb", 4.0, 1.0)
    words = judged(both.write()).findings[0].message
    assert words == "Valid. Only storage and loads were measured."
    checked = Builder(tmp_path / "check", verb="check").consistency()
    assert judged(checked.write()).findings[0].message == "Valid. Only checks were made."
    begun = Builder(tmp_path / "begun").oltp(4, status="failed")
    words = judged(begun.write("failed", "The server is gone.")).findings[0].message
    assert words.endswith("Neither queries nor transactions were measured to the end.")
