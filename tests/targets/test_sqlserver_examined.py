"""What a SQL Server, or a product that speaks its protocol, is refused before any work."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from dyno.config.settings import parse
from dyno.contracts.flash import Wanted
from dyno.contracts.layout import Layout
from dyno.contracts.maintenance import NAMES, Maintenance
from dyno.contracts.needs import Needs
from dyno.contracts.target import QueryResult
from dyno.errors import DynoError, UsageError, error_of_kind
from dyno.plans.certify import CertifyPlan
from dyno.plans.fields import made
from dyno.runner import certify
from dyno.targets import parse as parse_url
from dyno.targets import tried
from dyno.targets.sqlserver import examined, facts, filegroups, flash, state
from dyno.targets.sqlserver.address import Address
from dyno.targets.sqlserver.connection import Session
from dyno.targets.sqlserver.tuned import Tuning
from dyno.targets.sqlserver.tuning import MAXDOP, OF_DATABASES, TEMP_FILES
from tests.targets.sqlserver_recorder import BABELFISH, SERVER_2022, Recorder

SERVER = "SQL Server at db1:1433"
URL = parse_url("mssql://dyno@db1.invalid/dyno_tpch")


def session(recorder: Recorder) -> Session:
    return cast("Session", recorder)


def lacks(recorder: Recorder, needs: Needs) -> str | None:
    return examined.lacks(session(recorder), SERVER, needs)


@pytest.mark.parametrize("task", NAMES)
def test_babelfish_has_no_maintenance(task: Maintenance) -> None:
    needs = Needs("tpcc", maintenance=task)
    assert str(BABELFISH) in str(lacks(Recorder(BABELFISH), needs))
    assert lacks(Recorder(SERVER_2022), needs) is None
    azure = Recorder(replace(SERVER_2022, product="Azure SQL Managed Instance"))
    assert (lacks(azure, needs) is None) is (task != "backup")


def test_a_managed_instance_keeps_its_recovery_model() -> None:
    azure = Recorder(replace(SERVER_2022, product="Azure SQL Managed Instance"))
    for text in ("recovery=simple", "memory=4GB"):
        with pytest.raises(UsageError):
            lacks(azure, Needs("tpcc", settings=parse([text], None, None)))
    assert lacks(azure, Needs("tpcc", settings=parse(["row_versions=on"], None, None))) is None
    assert azure.changing == []


def test_settings_are_examined_without_a_change() -> None:
    server = Recorder()
    needs = Needs("tpcc", settings=parse(["memory=4GB", "work_memory=1GB"], None, None))
    assert lacks(server, needs) is None
    assert server.changing == []
    for text in ("work_memory=1TB", "work_memory=1KB"):
        with pytest.raises(UsageError):
            lacks(server, Needs("tpcc", settings=parse([text], None, None)))
    with pytest.raises(UsageError, match="those of PostgreSQL"):
        lacks(Recorder(BABELFISH), needs)
    assert server.changing == []


@pytest.mark.parametrize(
    ("name", "grant"), [(MAXDOP, "GRANT ALTER SETTINGS"), (TEMP_FILES, "GRANT CONTROL SERVER")]
)
def test_a_setting_names_the_right_that_it_needs(name: str, grant: str) -> None:
    assert state.right(name).endswith(grant)
    assert {state.right(option) for option in OF_DATABASES} == {""}


class Denied(Recorder):
    """A server that denies every change of its settings, and records the required right."""

    needed = ""

    def execute(self, sql: str, needs: str = "") -> QueryResult:
        if sql.startswith("EXEC sys.sp_configure"):
            self.needed = needs
            raise error_of_kind("denied", "User does not have permission [error 15247].")
        return super().execute(sql, needs)


def test_a_denied_setting_is_sent_with_the_right_that_it_needs(tmp_path: Path) -> None:
    server = Denied()
    tuning = Tuning(parse(["parallelism=2"], None, None), tmp_path)
    with pytest.raises(DynoError) as caught:
        tuning.plan_sessions(session(server), SERVER)
    assert caught.value.kind == "denied"
    assert server.needed == state.right(MAXDOP)


@pytest.mark.parametrize(
    "placed",
    [
        Layout(name="mine", workload="tpch", temp="/mnt/temp"),
        Layout(name="mine", workload="tpch", data="tablespace:fast"),
    ],
)
def test_a_place_that_is_missing_is_refused_before_the_database_is_created(placed: Layout) -> None:
    server = Recorder()
    with pytest.raises(UsageError):
        filegroups.require(server, "dyno_tpch", placed, exists=False)
    assert server.changing == []


def test_the_log_of_a_new_database_will_be_in_its_place() -> None:
    new_log = Layout(name="mine", workload="tpch", log="/mnt/log")
    filegroups.require(Recorder(), "dyno_tpch", new_log, exists=False)


def test_a_certificate_changes_no_setting_that_nobody_named() -> None:
    asked = made(CertifyPlan, {"targets": ("mssql://dyno@db1.invalid/master",)})
    work = certify._work(asked, URL)  # pyright: ignore[reportPrivateUsage]
    assert work.parallelism is None
    assert work.note
    named = asked.model_copy(update={"settings": ("parallelism=4",)})
    work = certify._work(named, URL)  # pyright: ignore[reportPrivateUsage]
    assert work.parallelism is not None
    assert work.parallelism.value == 4


def test_a_record_says_what_dyno_was_tested_against() -> None:
    for version, untried in ((BABELFISH, ""), (SERVER_2022, tried("sqlserver"))):
        server = Recorder(version)
        server.known = []
        found = facts.read(session(server), URL, Address.parse(URL))
        assert found.untried == untried


def test_a_move_of_babelfish_and_of_a_system_database_is_refused() -> None:
    address = Address.parse(URL)
    with pytest.raises(UsageError):
        flash.planned(session(Recorder(BABELFISH)), address, Wanted("temp", "/flash"))
    server = Recorder()
    server.known.insert(0, (r"SELECT DB_NAME\(\)", lambda _: [("master",)]))
    with pytest.raises(UsageError):
        flash.planned(session(server), address, Wanted("log", "/flash"))
    assert server.changing == []


@pytest.mark.parametrize("folder", ["/flash", "E:\\flash"])
def test_what_is_on_flash_already_needs_no_commands(folder: str) -> None:
    server = Recorder()
    joined = f"{folder}\\dyno_flash_temp\\" if ":" in folder else f"{folder}/dyno_flash_temp/"
    server.temp = [("tempdev", f"{joined}tempdb.mdf", 8192, 8192, 0, None)]
    found = flash.planned(session(server), Address.parse(URL), Wanted("temp", folder))
    assert (found.on_flash, found.script) == (True, ())
