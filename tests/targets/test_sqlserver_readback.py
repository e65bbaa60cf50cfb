"""What is read of a SQL Server's settings, for the record and for advice. Against a recorder."""

from __future__ import annotations

from typing import cast

from dyno.targets.sqlserver import readback
from dyno.targets.sqlserver.connection import Session
from tests.targets.sqlserver_recorder import BABELFISH, SERVER_2019, SERVER_2022, Recorder

OPTIONS = (
    "FULL",
    "DISABLED",
    "CHECKSUM",
    False,
    True,
    True,
    True,
    False,
    True,
    "LOG_BACKUP",
    60,
    160,
)


def test_in_a_system_database_the_options_are_those_of_dynos_databases() -> None:
    server = Recorder()
    others = [("dyno_tpch", 6, 1, *OPTIONS), ("dyno_tpcc", 7, 1, "SIMPLE", *OPTIONS[1:])]
    server.known = [
        (
            r"SELECT name, database_id",
            lambda _: [("master", 1, 1, "SIMPLE", *OPTIONS[1:]), *others],
        ),
        (r"SELECT COUNT", lambda _: [(7,)]),
        (
            r"SELECT name, CAST\(value AS nvarchar\(60\)\) FROM \[dyno_tpcc\]",
            lambda _: [("MAXDOP", "2"), ("PARAMETER_SNIFFING", "1")],
        ),
        (r"SELECT effective_max_dop", lambda _: [(8,)]),
    ]
    found = readback.settings(cast("Session", server))
    assert found["page_verify_option_desc"] == "CHECKSUM"
    assert "recovery_model_desc" not in found  # they differ
    assert found["dyno_tpcc: recovery_model_desc"] == "SIMPLE"
    assert found["tempdb data files"] == "7"
    assert found["dyno_tpcc: MAXDOP"] == "2"
    assert found["effective_max_dop"] == "8"
    assert "dyno_tpch: MAXDOP" not in found  # it could not be read
    assert readback.PERCENT_GROWTH not in found


def test_what_a_server_has_set_is_read_for_advice() -> None:
    server = Recorder()
    server.known = [
        (r"SELECT name, CAST\(value_in_use", lambda _: [("max server memory (MB)", "4096")]),
        (r"SELECT name, database_id, DB_ID\(\), recovery", lambda _: [
            ("master", 1, 5, "SIMPLE", *OPTIONS[1:]), ("shop", 5, 5, *OPTIONS),
            ("dyno_tpch", 6, 5, "BULK_LOGGED", *OPTIONS[1:])]),
        (r"SELECT sql_memory_model_desc", lambda _: [("LOCK_PAGES",)]),
        (r"SELECT instant_file", lambda _: [("Y",)]),
        (r"SELECT host_platform", lambda _: [("Windows",)]),
        (r"SELECT COUNT\(\*\) FROM tempdb", lambda _: [(8,)]),
        (r"SELECT MAX\(found\.columns\)", lambda _: [(None,)]),
        (r"SELECT CAST\(value_data AS nvarchar\(4000\)\)", lambda _: [
            ("-dC:\\master.mdf\x00",), ("-E\x00",), ("-T834\x00",)]),
        (r"DBCC TRACESTATUS", lambda _: [(834, 1, 1, 0), (3226, 1, 1, 0), (1222, 1, 0, 1)]),
        (r"SELECT CAST\(DATEDIFF_BIG", lambda _: [(7200,)]),
    ]  # fmt: skip
    found = readback.settings(cast("Session", server))
    assert found["max server memory (MB)"] == "4096"
    assert found["recovery_model_desc"] == "FULL"
    assert found["dyno_tpch: recovery_model_desc"] == "BULK_LOGGED"
    assert (found["is_auto_shrink_on"], found["is_auto_close_on"]) == ("OFF", "ON")
    assert found["sql_memory_model_desc"] == "LOCK_PAGES"
    assert found["tempdb data files"] == "8"
    assert found["startup -E"] == "ON"
    flags = {name: value for name, value in found.items() if name.startswith("trace flag")}
    assert flags == {
        "trace flag 834": "ON",
        "trace flag 1117": "OFF",
        "trace flag 1118": "OFF",
        "trace flag 3226": "ON",
    }
    assert readback.WIDEST not in found  # no column store
    assert readback.counters(cast("Session", server)) == {"log_backup_age_s": 7200.0}
    assert readback.impossible(found, SERVER_2022) == {}
    linux = {"host_platform": "Linux", "max server memory (MB)": "4096"}
    own = {"locked_memory", "large_extents", "instant_files"}
    assert readback.impossible(linux, SERVER_2022).keys() == own
    linux["max server memory (MB)"] = "2147483647"
    assert readback.impossible(linux, SERVER_2022).keys() == {*own, "cache"}
    assert readback.impossible({}, SERVER_2019).keys() == {"build_memory"}


def test_start_up_parameters_that_cannot_be_read_are_absent() -> None:
    server = Recorder()
    server.known = [(r"SELECT host_platform", lambda _: [("Windows",)])]
    assert readback.EXTENTS not in readback.settings(cast("Session", server))


def test_what_a_user_may_not_read_is_absent() -> None:
    server = Recorder()
    server.known = []
    assert readback.settings(cast("Session", server)) == {}
    assert readback.counters(cast("Session", server)) == {}


def test_constants_of_babelfish_are_not_settings() -> None:
    server = Recorder(BABELFISH)
    server.known = [
        (r"SELECT name, CAST\(value_in_use", lambda _: [("user options", "0")]),
        (r"", lambda _: [("FULL",) * 12]),
    ]
    assert readback.settings(cast("Session", server)) == {"user options": "0"}
