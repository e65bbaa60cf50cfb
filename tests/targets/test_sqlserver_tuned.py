"""What ``--set`` changes in which databases, and what may override it. Against a recorder."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from dyno.contracts import tuning
from dyno.contracts.target import Limits, QueryResult
from dyno.errors import DynoError, TargetError, UsageError, error_of_kind
from dyno.plans.fields import made
from dyno.plans.run import RunPlan
from dyno.runner.session import Job
from dyno.targets import parse as parse_url
from dyno.targets.sqlserver import alone, logchain, scoped
from dyno.targets.sqlserver.connection import Session
from dyno.targets.sqlserver.target import SqlServerTarget
from dyno.targets.sqlserver.tuned import Tuning
from tests.targets.sqlserver_recorder import Recorder
from tests.targets.sqlserver_tuned import SERVER, asked, entered, killed, leave, left_behind, values


class Busy(Recorder):
    """A server whose database another session uses at the first two tries."""

    tries = 0

    def execute(self, sql: str, needs: str = "") -> QueryResult:
        if "READ_COMMITTED_SNAPSHOT ON" in sql:
            assert sql.endswith(" WITH NO_WAIT")
            self.tries += 1
            if self.tries < 3:
                raise error_of_kind("database", "Other users are using it [error 5070].")
        return super().execute(sql, needs)


class Unready(Recorder):
    """A server that denies the backup, and records the required right."""

    needed = ""

    def execute(self, sql: str, needs: str = "") -> QueryResult:
        if sql.startswith("IF EXISTS"):
            self.needed = needs
            raise error_of_kind("denied", "BACKUP DATABASE is terminating abnormally [error 3013].")
        return super().execute(sql, needs)


def test_databases_of_the_user_keep_their_options(tmp_path: Path) -> None:
    server = Recorder()
    entered(server, tmp_path, "recovery=simple", "commit=relaxed", "checksums=on")
    assert server.options["shop"] == ["NONE", "DISABLED", "FULL", "OFF"]
    assert not [text for text in server.changing if "[shop]" in text]


def test_databases_of_other_jobs_keep_their_options(tmp_path: Path) -> None:
    server = Recorder()
    before = list(server.options["dyno_tpch"])
    server.options["dyno_tpcc"] = list(before)
    entered(server, tmp_path, "recovery=simple", "row_versions=on")
    assert server.options["dyno_tpch"] != before
    assert server.options["dyno_tpcc"] == before


def test_the_databases_of_a_job_are_those_of_its_workloads(tmp_path: Path) -> None:
    target = SqlServerTarget(parse_url("mssql://dyno@db/x"), tmp_path, Limits(1 << 30, 1))
    tuning.tune(target, asked("recovery=full"), ["tpcc", "tpcc@2", "ch"])
    found = target._changed()  # pyright: ignore[reportPrivateUsage]
    assert found.places == {"dyno_tpcc", "dyno_tpcc_2"}


def test_a_job_names_all_its_databases(tmp_path: Path) -> None:
    plan = made(RunPlan, {"target": ("null:",), "workload": "tpcc", "out": tmp_path,
                          "databases": 2, "users": (1,)})  # fmt: skip
    job = Job(plan, {}, ("tpcc",), tmp_path, lambda _: None)
    assert job.databases == ["tpcc", "tpcc@2"]


@pytest.mark.parametrize(("text", "model"), [("full", "FULL"), ("bulk", "BULK_LOGGED")])
def test_a_recovery_model_that_keeps_the_log_begins_with_a_backup(
    tmp_path: Path, text: str, model: str
) -> None:
    server = Recorder()
    server.options["dyno_tpch"][2] = "SIMPLE"
    tuning = entered(server, tmp_path, f"recovery={text}")
    altered, backup = server.changing
    assert f"SET RECOVERY {model}" in altered
    assert backup == logchain.start("dyno_tpch")
    assert "COPY_ONLY" not in backup
    assert "not begun" not in tuning.applied[0].note
    leave(tuning, server)
    assert server.options["dyno_tpch"][2] == "SIMPLE"
    assert sum("BACKUP" in sent for sent in server.sent) == 1


def test_a_new_database_begins_its_chain_too(tmp_path: Path) -> None:
    server = Recorder()
    del server.options["dyno_tpch"]
    tuning = entered(server, tmp_path, "recovery=full")
    server.options["dyno_tpch"] = ["CHECKSUM", "DISABLED", "SIMPLE", "OFF"]
    tuning.adopt(cast("Session", server), "dyno_tpch")
    assert server.backed_up >= {"dyno_tpch"}


def test_a_database_in_full_that_was_never_backed_up_is_noted(tmp_path: Path) -> None:
    server = Recorder()
    found = entered(server, tmp_path, "recovery=full").applied[0]
    assert server.changing == []
    assert logchain.note(cast("Session", server), ["dyno_tpch"], "FULL") in found.note
    server.backed_up.add("dyno_tpch")
    assert logchain.note(cast("Session", server), ["dyno_tpch"], "FULL") == ""
    assert logchain.note(cast("Session", server), ["dyno_tpcc"], "FULL") != ""  # not visible


def test_simple_breaks_the_chain_of_a_database_in_full(tmp_path: Path) -> None:
    server = Recorder()
    found = entered(server, tmp_path, "recovery=simple").applied[0]
    assert found.note == logchain.broken({"dyno_tpch": "FULL"}, "SIMPLE") != ""
    assert logchain.broken({"dyno_tpch": "SIMPLE"}, "SIMPLE") == ""


def test_a_login_that_may_not_back_up_is_told_the_right(tmp_path: Path) -> None:
    server = Unready()
    server.options["dyno_tpch"][2] = "SIMPLE"
    with pytest.raises(DynoError):
        entered(server, tmp_path, "recovery=full")
    assert server.needed == "USE [dyno_tpch]; GRANT BACKUP DATABASE"
    assert server.options["dyno_tpch"][2] == "SIMPLE"
    assert left_behind(tmp_path) == []


@pytest.mark.parametrize("own", ["0", "8"])
def test_a_database_that_has_no_degree_of_its_own_follows_the_instance(
    tmp_path: Path, own: str
) -> None:
    server = Recorder()
    server.scoped = {"dyno_tpch": own, "shop": "2"}
    assert entered(server, tmp_path, "parallelism=8").applied[0].note == ""


def test_a_degree_of_parallelism_that_a_database_overrides_is_an_error(tmp_path: Path) -> None:
    server = Recorder()
    before = values(server)
    server.scoped = {"dyno_tpch": "4"}
    with pytest.raises(TargetError, match="dyno_tpch"):
        entered(server, tmp_path, "parallelism=8")
    assert values(server) == before
    del server.options["dyno_tpch"]
    tuning = entered(server, tmp_path / "second", "parallelism=8")
    server.options["dyno_tpch"] = before[2]["dyno_tpch"]  # type: ignore[index]
    with pytest.raises(TargetError, match="dyno_tpch"):
        tuning.adopt(cast("Session", server), "dyno_tpch")


def test_a_degree_that_the_workload_group_limits_is_noted(tmp_path: Path) -> None:
    server = Recorder()
    server.most_cpus = 4
    assert scoped.EFFECTIVE in entered(server, tmp_path, "parallelism=8").applied[0].note
    server.known = [one for one in server.known if "scoped" not in one[0]]
    assert "unknown" in entered(server, tmp_path / "b", "parallelism=2").applied[0].note


def test_the_journal_is_that_of_the_server_under_whatever_name(tmp_path: Path) -> None:
    server = Recorder()
    server.called = "DB1\\SALES"
    before = values(server)
    killed(entered(server, tmp_path, "parallelism=8"))
    tuning = Tuning(asked("memory=4GB"), tmp_path)
    tuning.plan_sessions(cast("Session", server), "SQL Server at 10.0.0.7:1433")
    assert server.configured["max degree of parallelism"] == 0
    with pytest.raises(UsageError, match="db:1433"):  # the name in messages is that of the URL
        entered(server, tmp_path, "memory=8GB")
    leave(tuning, server)
    assert values(server) == before


def test_two_servers_have_two_journals(tmp_path: Path) -> None:
    server, other = Recorder(), Recorder()
    server.called, other.called = "DB1", "DB2"
    killed(entered(server, tmp_path, "parallelism=8"))
    other.configured["max degree of parallelism"] = 8
    entered(other, tmp_path)
    assert other.configured["max degree of parallelism"] == 8


def test_what_others_have_staged_is_not_applied(tmp_path: Path) -> None:
    server = Recorder()
    server.pending = {"cost threshold for parallelism": 50}
    with pytest.raises(UsageError, match="cost threshold"):
        entered(server, tmp_path, "parallelism=8")
    assert server.changing == []
    entered(server, tmp_path / "other", "commit=relaxed")  # an option needs no RECONFIGURE


def test_what_a_killed_run_has_staged_itself_is_reverted_first(tmp_path: Path) -> None:
    server = Recorder()
    server.refused = "RECONFIGURE"
    tuning = Tuning(asked("parallelism=8"), tmp_path)
    with pytest.raises(DynoError):
        tuning.plan_sessions(cast("Session", server), SERVER)
    killed(tuning)
    server.refused = ""
    assert server.pending != {}
    assert entered(server, tmp_path, "parallelism=4").applied[0].found == "4"


@pytest.mark.parametrize("closed", [True, False])
def test_a_database_that_this_login_cannot_use_is_left_alone(tmp_path: Path, closed: bool) -> None:
    server = Recorder()
    server.closed = {"dyno_tpch"} if closed else set()
    entered(server, tmp_path, "recovery=simple")
    assert bool(server.changing) is not closed


def test_what_was_changed_in_a_database_that_is_now_offline_is_not_forgotten(
    tmp_path: Path,
) -> None:
    server = Recorder()
    tuning = entered(server, tmp_path, "recovery=simple")
    server.closed = {"dyno_tpch"}
    server.refused = "ALTER DATABASE [dyno_tpch]"
    with pytest.raises(TargetError):
        leave(tuning, server)
    server.closed, server.refused = set(), ""
    entered(server, tmp_path)
    assert server.options["dyno_tpch"][2] == "FULL"


def test_row_versions_wait_for_sessions_and_end_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alone, "_AGAIN_S", 0.0)
    server = Busy()
    entered(server, tmp_path, "row_versions=on")
    assert server.tries == 3
    assert server.options["dyno_tpch"][3] == "ON"
    assert not [text for text in server.sent if "ROLLBACK" in text]


def test_row_versions_of_a_database_in_use_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alone, "RELEASE_S", 0.0)
    with pytest.raises(DynoError, match="dyno_tpch") as caught:
        entered(Busy(), tmp_path, "row_versions=on")
    assert caught.value.kind == "database"
    assert left_behind(tmp_path) == []
