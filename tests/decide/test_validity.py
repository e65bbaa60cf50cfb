"""Each rule: a run that breaks it, and the whole run that breaks none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from dyno.bundle.model import Check
from dyno.decide.validity import rules
from tests import bundle_data as data
from tests.bundles import Builder, interrupted, quickstart
from tests.judged import Judged, judged

OPEN = {"kind": "open", "rate_per_s": 500.0, "poisson": True}


def test_a_sound_run_is_valid(tmp_path: Path) -> None:
    found = judged(quickstart(tmp_path).write())
    assert found.validity.valid is True
    assert not found.validity.reasons
    assert found.warned() == {"thp-always", "steady-state-unknown"}


def test_a_window_that_is_too_short_to_judge_is_reported(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "run").machine().oltp(1, duration_s=49).oltp(4, duration_s=50)
    found = judged(builder.write())
    (warning,) = [item for item in found.findings if item.code == "steady-state-unknown"]
    assert "1 user" in warning.message and "50s" in warning.message
    assert found.validity.valid is True


def test_a_window_of_few_checkpoints_is_reported(tmp_path: Path) -> None:
    def waves(count: int) -> dict[str, object]:
        return {"count": count, "interval_s": 300.0, "setting": "a_setting", "source": "a counter"}

    builder = Builder(tmp_path / "run", verb="run").machine().oltp(1, duration_s=50)
    for users, count in ((4, 2), (8, 3), (16, 0)):
        builder.oltp(users, duration_s=50)
        detail = {**builder.phases[-1].detail, "checkpoints": waves(count)}
        builder.phases[-1] = builder.phases[-1].model_copy(update={"detail": detail})
    found = judged(builder.write())
    (warning,) = [item for item in found.findings if item.code == "few-checkpoints"]
    assert "4 users and 1 more" in warning.message
    assert "in the window: 2;" in warning.message
    assert "--duration 900s" in warning.message
    assert "a_setting" in warning.message
    assert warning.evidence == ("oltp.users-4.checkpoints", "oltp.users-16.checkpoints")
    assert found.validity.valid is True


@pytest.mark.parametrize(
    ("apart_s", "words"),
    [(0.9, None), (1.1, "1.10 s apart, 2.2 % of the window"), (None, "no transaction")],
)
def test_databases_at_once_were_measured_at_once(
    tmp_path: Path, apart_s: float | None, words: str | None
) -> None:
    builder = Builder(tmp_path / "run").machine().oltp(4, duration_s=50)
    detail = {**builder.phases[-1].detail, "databases": 2, "apart_s": apart_s}
    builder.phases[-1] = builder.phases[-1].model_copy(update={"detail": detail})
    found = judged(builder.write())
    messages = [item.message for item in found.findings if item.code == "misaligned-windows"]
    assert len(messages) == (words is not None)
    assert all((words or "") in message for message in messages)
    assert found.validity.valid is (words is None)


def test_a_product_that_dyno_was_not_tested_against_is_noted(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "run", verb="run").machine().target("third").oltp(4)
    facts = builder.targets["third"]
    assert "untried" not in {item.code for item in judged(builder.write()).findings}
    builder.path = tmp_path / "untried"
    builder.targets["third"] = facts.model_copy(update={"untried": "another product"})
    found = judged(builder.write())
    (note,) = [item for item in found.findings if item.code == "untried"]
    assert (note.level, note.evidence) == ("note", (facts.version,))
    assert "untried" not in {reason.code for reason in found.validity.reasons}


def test_every_rule_explains_itself() -> None:
    codes = [rule.code for rule in rules()]
    assert len(codes) == len(set(codes)) >= 9
    for rule in rules():
        for text in (rule.definition, rule.explanation):
            assert text.endswith(".")
            assert "\n" not in text


RAMP = {"kind": "open", "rate_per_s": [[0, 100.0], [60, 900.0]], "poisson": True}


def crowded(path: Path) -> Builder:
    # 64 users in five warehouses, which have places for 50.
    return Builder(path / "run").oltp(64, loop={"kind": "closed", "think": True})


def mixed(factor: float) -> Callable[[Path], Builder]:
    """A level with other payments than the workload prescribes."""

    def build(path: Path) -> Builder:
        builder = Builder(path / "run").machine().oltp(4)
        for row in builder.tables["ops/users-4"]:
            if row["op"] == "payment":
                row["done"] = round(row["done"] * factor)
        return builder

    return build


def level(**fields: object) -> Callable[[Path], Builder]:
    def build(path: Path) -> Builder:
        return Builder(path / "run").machine().oltp(4, **fields)  # pyright: ignore[reportArgumentType]

    return build


def broken_io(path: Path) -> Builder:
    builder = Builder(path / "run").io()
    builder.tables["io"][3]["errors"] = '{"io": 1}'
    return builder


def bad_rows(path: Path) -> Builder:
    builder = Builder(path / "run").load("tpch", "postgresql", 3.0, 1.0)
    builder.checks.append(
        Check(name="rows of orders", target="postgresql", passed=False, message="5 rows of 6")
    )
    return builder


def stolen(path: Path) -> Builder:
    builder = Builder(path / "run").oltp(4)
    for row in builder.tables["samples"]:
        if row["metric"] == "steal":
            row["value"] = 9.0
    return builder


def queries_failing(path: Path) -> Builder:
    return Builder(path / "run").power("duckdb", data.COLUMN_SECONDS, fails="q09")


def cut_off(path: Path) -> Builder:
    """Two seconds without any row: users lost the server and came back."""
    builder = Builder(path / "run").machine().oltp(4, outcome={"reconnects": 4})
    rows = builder.tables["ops/users-4"]
    moments = sorted({row["t_ns"] for row in rows if row["phase"] == "measure"})
    rows[:] = [row for row in rows if row["t_ns"] not in moments[6:8]]
    last = next(row for row in rows if row["t_ns"] == moments[5])
    last["errors"] = {"connection_lost": 4}
    return builder


def stood_still(path: Path) -> Builder:
    builder = cut_off(path)
    builder.phases[-1].detail["outcome"]["reconnects"] = 0
    for row in builder.tables["ops/users-4"]:
        row["errors"] = {}
    return builder


def nothing_ended(path: Path) -> Builder:
    builder = Builder(path / "run").oltp(4)
    for row in builder.tables["ops/users-4"]:
        row.update(done=0, rolled_back=0)
    return builder


def peaking(
    metric: str, value: float, loop: Mapping[str, object] = RAMP
) -> Callable[[Path], Builder]:
    """A minute whose averages are within the limits, though a value is not at its end."""
    worst = {metric: {"value": value, "at_s": 50.0, "seconds": 5.0}, "client_cpu_later": None}
    due = {"scheduled": 100_000, "late": 300, "unsent": 200}
    return level(loop=loop, duration_s=60, outcome={**due, "worst": worst})


@pytest.mark.parametrize(
    ("build", "code", "words"),
    [
        (level(driver_share=0.75), "client-bound", "75 %"),
        (level(outcome={"thread_utilisation_max": 0.95}), "client-bound", "95 %"),
        (level(loop=OPEN, outcome={"lag_p99_ms": 1.4}), "client-bound", "1.4 ms"),
        (peaking("thread_utilisation", 0.95), "client-bound", "50 s into the window its busiest"),
        (peaking("client_cpu", 0.8), "client-bound", "50 s into the window its threads"),
        (
            peaking("lag_p99_ms", 2.5),
            "client-bound",
            "50 s into the window p99 of its",
        ),
        (level(error_share=0.02), "errors", "deadlock detected"),
        (level(slope=0.4), "unsteady", "rose by 3"),
        (level(slope=-0.4), "unsteady", "fell by 3"),
        (level(slope=1.9, duration_s=120), "unsteady", "never settled"),
        (queries_failing, "errors", "q09"),
        (broken_io, "errors", "at 1 point of"),
        (bad_rows, "inconsistent", "rows of orders"),
        (nothing_ended, "incomplete", "no transaction"),
        (level(outcome={"behind_ms": 1400.0}), "workload-behind", "waited up to 1.4 s for a user"),
        (level(outcome={"lost": 9_000}), "lost-work", "9,000 orders"),
        (mixed(0.7), "other-mix", "payment 3"),
        (cut_off, "outage", "reconnected 4 times and no transaction ended for 2 s"),
        (level(outcome={"gone": 3}), "outage", "3 had no connection at the end"),
        (lambda path: quickstart(path).answers(wrong="q15"), "wrong-answers", "q15"),
        (lambda path: quickstart(path).consistency(broken=3), "inconsistent", "condition 3"),
        (lambda path: Builder(path / "run").io(direct=False), "untrusted-storage", "page cache"),
        (lambda path: Builder(path / "run").machine(), "incomplete", "nothing"),
        (interrupted, "incomplete", "did not complete"),
    ],
)
def test_a_broken_rule_makes_the_run_invalid(
    tmp_path: Path, build: Callable[[Path], Builder], code: str, words: str
) -> None:
    found = judged(build(tmp_path).write())
    assert found.validity.valid is False
    assert found.validity.verdict == "invalid"
    assert found.codes() == {code}
    assert any(words in reason.message for reason in found.validity.reasons), found.validity
    assert found.findings[0].level == "verdict"
    assert found.findings[0].message.startswith(f"Invalid: {code}.")
    assert code in found.warned()


def test_cpu_steal_disturbs_a_run_and_states_its_size(tmp_path: Path) -> None:
    found = judged(stolen(tmp_path).write())
    (reason,) = found.validity.reasons
    assert (found.validity.valid, found.validity.verdict) == (False, "disturbed")
    assert (reason.code, reason.kind) == ("cpu-steal", "disturbed")
    assert "CPU steal: 9 %" in reason.message
    assert found.findings[0].message.startswith("Disturbed: cpu-steal.")


def test_a_drift_is_invalid_unless_the_machine_may_be_the_reason(tmp_path: Path) -> None:
    assert judged(level(slope=0.4)(tmp_path / "quiet").write()).validity.verdict == "invalid"
    builder = level(slope=0.4)(tmp_path)
    for row in builder.tables["samples"]:
        if row["metric"] == "steal":
            row["value"] = 9.0
    found = judged(builder.write())
    assert found.codes() == {"cpu-steal", "unsteady"}
    assert found.validity.verdict == "disturbed"


def test_one_invalid_reason_makes_a_disturbed_run_invalid(tmp_path: Path) -> None:
    builder = stolen(tmp_path)
    builder.checks.append(
        Check(name="rows of orders", target="postgresql", passed=False, message="5 rows of 6")
    )
    found = judged(builder.write())
    kinds = {reason.code: reason.kind for reason in found.validity.reasons}
    assert kinds == {"cpu-steal": "disturbed", "inconsistent": "invalid"}
    assert found.validity.verdict == "invalid"


@pytest.mark.parametrize(
    ("build", "code"),
    [
        (level(error_share=0.008), "errors"),
        (level(slope=0.2), "unsteady"),
        (level(outcome={"stuck": 2}), "outage"),
        (level(outcome={"lost": 1}), "lost-work"),
        (mixed(0.88), "other-mix"),
        (stood_still, "outage"),
        (
            level(loop=OPEN, outcome={"scheduled": 1000, "late": 30, "unsent": 4}),
            "rate-not-sustained",
        ),
        (peaking("late", 0.06), "rate-not-sustained"),
        # Whatever its shape is, it follows the rate.
        (level(loop=RAMP, slope=0.9, duration_s=60), "steady-state-unknown"),
        (crowded, "too-many-users"),
    ],
)
def test_what_only_warns(tmp_path: Path, build: Callable[[Path], Builder], code: str) -> None:
    found = judged(build(tmp_path).write())
    assert found.validity.valid is True
    assert code in found.warned()


@pytest.mark.parametrize(
    "build",
    [
        level(driver_share=0.69),
        # A closed loop has no schedule to lag behind.
        level(outcome={"lag_p99_ms": 40.0}),
        level(loop=OPEN, outcome={"lag_p99_ms": 0.9, "scheduled": 1000, "late": 9}),
        level(slope=0.08),
        level(duration_s=120),
        level(outcome={"behind_ms": 900.0, "lost": 0}),
        mixed(0.97),
        # At one rate a part is only a shorter average.
        peaking("thread_utilisation", 0.95, OPEN),
        peaking("late", 0.06, OPEN),
    ],
)
def test_what_is_within_the_limits(tmp_path: Path, build: Callable[[Path], Builder]) -> None:
    found = judged(build(tmp_path).write())
    assert found.validity.valid is True
    seconds = found.bundle.run.phases[-1].detail.duration_s
    assert found.warned() == {"thp-always", *(["steady-state-unknown"] if seconds < 50 else [])}


def test_the_mix_of_a_replay_or_of_few_transactions_is_not_judged(tmp_path: Path) -> None:
    builder = mixed(0.5)(tmp_path)
    detail = {**builder.phases[-1].detail, "loop": {"kind": "log", "speed": 1.0}}
    builder.phases[-1] = builder.phases[-1].model_copy(update={"detail": detail})
    assert "other-mix" not in judged(builder.write()).warned()
    builder = level()(tmp_path / "few")
    for row in builder.tables["ops/users-4"]:
        row.update(done=int(row["op"] in {"new_order", "payment"}), rolled_back=0)
    found = judged(builder.write())
    assert "other-mix" not in found.codes() | found.warned()


@pytest.mark.parametrize(
    ("limit", "source", "warned"),
    [
        ("new_order p95 < 20 ms", "asked for", True),
        ("new_order p95 < 0.5 s", "asked for", False),
        ("new_order p95 < 20 ms", "a paper", False),
        ("log_write < 5 ms", "asked for", False),
    ],
)
def test_a_lag_that_is_much_of_a_response_time_asked_for_is_warned_of(
    tmp_path: Path, limit: str, source: str, warned: bool
) -> None:
    builder = level(loop=OPEN, outcome={"lag_p99_ms": 0.3, "scheduled": 1000})(tmp_path)
    builder.plan = {"criteria": [{"text": limit, "source": source}]}
    found = judged(builder.write())
    assert found.validity.valid is True
    assert ("client-bound" in found.warned()) is warned


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("interrupted", "interrupted during TPC-C-derived, 1 user"),
        ("failed", "the server went away"),
        ("running", "was killed during"),
    ],
)
def test_a_run_that_did_not_end_says_where(tmp_path: Path, status: str, words: str) -> None:
    builder = interrupted(tmp_path)
    found = judged(builder.write(status, error="the server went away"))  # pyright: ignore
    assert found.codes() == {"incomplete"}
    assert len(found.validity.reasons) == 1
    assert words in found.validity.reasons[0].message
    assert found.validity.reasons[0].phase == "oltp-tpcc-postgresql-users-1"


def test_profiler_notes_warn_unless_they_have_their_own_rule(
    tmp_path: Path,
) -> None:
    builder = Builder(tmp_path / "run").io()
    notes = [
        "not steady after: a note of an earlier version, which has words only",
        {"code": "fallback", "text": "psync is used"},
        {"code": "content", "text": "zeroes"},
        {"code": "unsettled", "text": "never steady"},
    ]
    detail = {**builder.phases[0].detail, "notes": notes}
    builder.phases[0] = builder.phases[0].model_copy(update={"detail": detail})
    found = judged(builder.write())
    assert found.validity.valid is True
    messages = [item.message for item in found.findings if item.code == "untrusted-storage"]
    assert messages == [f"Storage profile: {notes[0]}", "Storage profile: psync is used"]


@pytest.mark.parametrize(
    ("asked", "huge_percent", "level"),
    [
        ("huge", [0.0, 0.0], "invalid"),
        ("huge", [96.0, 100.0], None),
        ("huge", None, "warning"),
        ("ordinary", [0.0, 30.0], "invalid"),
        ("auto", [40.0, 100.0], "warning"),
        ("auto", [0.0, 0.0], "note"),
        ("auto", [100.0, 100.0], None),
        ("auto", None, None),
    ],
)
def test_buffers_in_other_pages_than_asked_for(
    tmp_path: Path, asked: str, huge_percent: list[float] | None, level: str | None
) -> None:
    builder = Builder(tmp_path / "run").io()
    detail = {**builder.phases[0].detail, "pages": asked, "huge_percent": huge_percent}
    builder.phases[0] = builder.phases[0].model_copy(update={"detail": detail})
    found = judged(builder.write())
    assert found.codes() == ({"buffer-pages"} if level == "invalid" else set())
    levels = [item.level for item in found.findings if item.code == "buffer-pages"]
    assert level == "invalid" or levels == ([] if level is None else [level])


def test_all_reasons_are_kept(tmp_path: Path) -> None:
    builder = quickstart(tmp_path).answers(wrong="q02").consistency(broken=7)
    found: Judged = judged(builder.write())
    assert found.codes() == {"wrong-answers", "inconsistent"}
    assert found.findings[0].message.startswith("Invalid: wrong-answers, inconsistent.")


def test_errors_come_before_faults_of_the_measurement(tmp_path: Path) -> None:
    builder = queries_failing(tmp_path).oltp(4, driver_share=0.75, slope=0.4)
    found = judged(builder.write("failed", error="the server was killed"))
    codes = ["errors", "incomplete", "client-bound", "unsteady"]
    assert [reason.code for reason in found.validity.reasons] == codes
    assert found.findings[0].message.startswith(f"Invalid: {', '.join(codes)}.")


def test_a_slow_driver_is_distinguished_from_a_slow_target(tmp_path: Path) -> None:
    def message_of(name: str, build: Callable[[Path], Builder], code: str) -> str:
        found = judged(build(tmp_path / name).write())
        (message,) = [item.message for item in found.findings if item.code == code]
        return message

    late: dict[str, object] = {"scheduled": 1000, "late": 300}
    lags = level(loop=OPEN, outcome={**late, "lag_p99_ms": 40.0})
    assert "or reduce --rate" in message_of("lags", lags, "client-bound")
    assert "the driver fell behind" in message_of("late", lags, "rate-not-sustained")
    behind = message_of("behind", level(loop=OPEN, outcome=late), "rate-not-sustained")
    assert "the target fell behind" in behind and "Add users" in behind
    assert "the target fell behind the rate:" in behind
    end = message_of("end", peaking("late", 0.06), "rate-not-sustained")
    assert "the target fell behind the rate by 6 % 50 s into the window: of" in end
    closed = level(outcome={"thread_utilisation_max": 0.95})
    assert "or use fewer users" in message_of("closed", closed, "client-bound")


def test_facts_of_another_shape_spoil_nothing(tmp_path: Path) -> None:
    builder = quickstart(tmp_path)
    builder.host = {"cpu": 5, "memory": "much", "storage": [], "activity": None}
    assert judged(builder.write()).validity.valid is True


def unproven(*others: Check) -> Callable[[Path], Builder]:
    skipped = Check(name="expected answers", target="duckdb", passed=None, message="skipped: none")

    def build(path: Path) -> Builder:
        builder = quickstart(path)
        builder.checks = [skipped, *others]
        return builder

    return build


PAIR = Check(name="answers-q01", target="duckdb and postgresql", passed=True, message="equal")
ITSELF = Check(name="answers-streams-q01", target="the streams on duckdb", passed=True, message="")


OTHER = PAIR.model_copy(update={"workload": "tpch"})


@pytest.mark.parametrize(
    ("others", "count"), [((), 1), ((ITSELF,), 1), ((PAIR,), 0), ((OTHER,), 1)]
)
def test_unverified_answers_are_reported(
    tmp_path: Path, others: tuple[Check, ...], count: int
) -> None:
    found = judged(unproven(*others)(tmp_path / "run").write())
    messages = [item.message for item in found.findings if item.code == "unverified-answers"]
    assert len(messages) == count
    assert all("answers of duckdb were not verified: none" in message for message in messages)
    assert found.validity.valid is True
