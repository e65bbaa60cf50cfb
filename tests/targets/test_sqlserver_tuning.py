"""Settings of SQL Server: changed, verified, restored, also after a kill. Against a recorder."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import cast

import pytest

from dyno.errors import DynoError, TargetError, UsageError
from dyno.targets.sqlserver import settling, tuned
from dyno.targets.sqlserver.connection import Session
from dyno.targets.sqlserver.settingsjournal import Changed, Journal
from dyno.targets.sqlserver.tuned import is_own
from dyno.targets.sqlserver.tuning import changes
from dyno.targets.sqlserver.version import Version
from tests.targets.sqlserver_recorder import BABELFISH, SERVER_2019, SERVER_2022, Recorder
from tests.targets.sqlserver_tuned import SERVER, asked, entered, killed, leave, left_behind, values

EVERYTHING = (
    "memory=4GB",
    "parallelism=8",
    "parallel_cost=50",
    "work_memory=1GB",
    "temp_files=4",
    "checksums=off",
    "commit=relaxed",
    "recovery=simple",
    "row_versions=on",
)
GIB = 1 << 30


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settling, "PERIOD_S", 0.0)
    monkeypatch.setattr(tuned, "_EMPTIED_S", 0.0)
    monkeypatch.setattr(tuned, "_POLL_S", 0.0)


def test_every_setting_is_applied_read_back_and_restored(tmp_path: Path) -> None:
    server = Recorder()
    before = values(server)
    tuning = entered(server, tmp_path, *EVERYTHING)
    assert server.configured["max server memory (MB)"] == 4096
    assert server.configured["max degree of parallelism"] == 8
    assert server.configured["cost threshold for parallelism"] == 50
    assert server.governor == {"enabled": 1, "stored": 40, "used": 40}
    assert len(server.temp) == 4
    assert server.options["dyno_tpch"] == ["NONE", "FORCED", "SIMPLE", "ON"]
    assert {item.word: item.found for item in tuning.applied} == {
        "memory": "4096",
        "parallelism": "8",
        "parallel_cost": "50",
        "work_memory": "40",
        "temp_files": "4",
        "checksums": "NONE",
        "commit": "FORCED",
        "recovery": "SIMPLE",
        "row_versions": "ON",
    }
    assert {item.before for item in tuning.applied if item.word == "memory"} == {"2147483647"}
    leave(tuning, server)
    assert values(server) == before
    assert all(item.restored for item in tuning.applied)
    assert left_behind(tmp_path) == []


@pytest.mark.parametrize(
    "texts", [("memory=4GB", "work_memory=1GB"), ("work_memory=1GB", "memory=4GB")]
)
def test_the_share_of_work_memory_is_of_the_memory_that_the_run_has(
    tmp_path: Path, texts: tuple[str, ...]
) -> None:
    """The server frees its memory over some readings."""
    server = Recorder()
    server.frees = 3 << 30
    before = values(server)
    tuning = entered(server, tmp_path, *texts)
    assert server.governor["used"] == 40
    assert server.memory == 4 << 30
    notes = {item.word: item.note for item in tuning.applied}
    assert notes["memory"] == ""
    assert notes["work_memory"].startswith("of 2560MB")
    leave(tuning, server)
    assert values(server) == before


def test_a_run_begins_when_the_server_has_freed_its_memory(tmp_path: Path) -> None:
    server = Recorder()
    server.frees = 3 << 30
    entered(server, tmp_path, "memory=4GB")
    assert server.memory == 4 << 30


def test_memory_that_the_server_does_not_free_is_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settling, "LIMIT_S", 0.0)
    server = Recorder()
    server.frees = 1 << 30
    tuning = entered(server, tmp_path, "memory=4GB")
    assert "15GB of memory" in tuning.applied[0].note


def test_without_the_right_to_see_the_memory_it_is_unknown_whether_it_settled(
    tmp_path: Path,
) -> None:
    server = Recorder()
    server.known = [one for one in server.known if one[0] != r"SELECT CAST\(committed_kb"]
    tuning = entered(server, tmp_path, "memory=4GB")
    assert "it is unknown" in tuning.applied[0].note
    assert tuning.applied[0].found == "4096"


def test_work_memory_beyond_the_new_memory_restores_the_old(tmp_path: Path) -> None:
    server = Recorder()
    before = values(server)
    with pytest.raises(UsageError, match="2560MB for sorts and hashes"):
        entered(server, tmp_path, "memory=4GB", "work_memory=3GB")
    assert values(server) == before
    assert left_behind(tmp_path) == []


@pytest.mark.parametrize(
    ("database", "own"),
    [
        ("dyno_tpch", True),
        ("dyno_tpcc_2", True),
        ("dyno_own_shop", True),
        ("dyno_tpchx", False),
        ("dyno", False),
        ("shop", False),
        ("tpch", False),
    ],
)
def test_dynos_databases_are_known_by_their_names(database: str, own: bool) -> None:
    assert is_own(database) is own


def test_the_next_run_restores_what_a_killed_one_left(tmp_path: Path) -> None:
    server = Recorder()
    before = values(server)
    killed(entered(server, tmp_path, *EVERYTHING))
    assert values(server) != before
    after = entered(server, tmp_path)
    assert values(server) == before
    assert after.applied == ()
    assert left_behind(tmp_path) == []


def test_a_run_that_is_under_way_keeps_its_settings(tmp_path: Path) -> None:
    server = Recorder()
    first = entered(server, tmp_path, "memory=4GB")
    other = entered(server, tmp_path)  # such as `dyno advise` meanwhile
    leave(other, server)
    assert server.configured["max server memory (MB)"] == 4096
    with pytest.raises(UsageError, match="Another run of Dyno has changed settings"):
        entered(server, tmp_path, "memory=8GB")
    leave(first, server)
    assert server.configured["max server memory (MB)"] == 2147483647
    leave(entered(server, tmp_path, "memory=8GB"), server)


def test_a_value_that_somebody_changed_meanwhile_stays(tmp_path: Path) -> None:
    server = Recorder()
    tuning = entered(server, tmp_path, "memory=4GB", "parallelism=8")
    server.configured["max server memory (MB)"] = 9000
    leave(tuning, server)
    assert server.configured["max server memory (MB)"] == 9000
    assert server.configured["max degree of parallelism"] == 0
    assert left_behind(tmp_path) == []


def test_a_rejected_change_restores_those_before(tmp_path: Path) -> None:
    server = Recorder()
    before = values(server)
    server.refused = "ALTER WORKLOAD GROUP"
    with pytest.raises(DynoError, match="5042"):
        entered(server, tmp_path, "memory=4GB", "work_memory=1GB")
    assert values(server) == before
    assert left_behind(tmp_path) == []


def test_a_value_that_is_not_in_effect_is_an_error(tmp_path: Path) -> None:
    """The server takes the statement, and its value in use stays."""
    server = Recorder()
    server.deaf = {"max degree of parallelism"}
    with pytest.raises(TargetError, match=r"parallelism=8 was not applied.*has 0"):
        entered(server, tmp_path, "memory=4GB", "parallelism=8")
    assert server.configured["max server memory (MB)"] == 2147483647


def test_what_cannot_be_restored_is_named_and_tried_again(tmp_path: Path) -> None:
    server = Recorder()
    before = values(server)
    tuning = entered(server, tmp_path, "temp_files=2", "memory=4GB")
    server.refused = "REMOVE FILE"
    with pytest.raises(TargetError, match=r"REMOVE FILE \[dyno_temp_2\]") as caught:
        tuning.restore(lambda: cast("Session", server))
    assert "was 1 before the run" in str(caught.value)
    tuning.left(restored=True)
    assert not any(item.restored for item in tuning.applied)
    server.refused = ""
    entered(server, tmp_path)
    assert values(server) == before


def test_what_cannot_be_restored_does_not_hold_up_the_rest(
    tmp_path: Path,
) -> None:
    server = Recorder()
    before = values(server)
    tuning = entered(server, tmp_path, "memory=4GB", "temp_files=2", "checksums=off")
    server.refused = "SHRINKFILE"
    with pytest.raises(TargetError, match="FREEPROCCACHE"):
        leave(tuning, server)
    assert len(server.temp) == 2
    assert server.configured["max server memory (MB)"] == 2147483647
    assert server.options["dyno_tpch"][0] == "CHECKSUM"
    server.refused = ""
    entered(server, tmp_path)
    assert values(server) == before


def test_a_file_of_tempdb_that_is_emptied_late_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuned, "_EMPTIED_S", 60.0)
    server = Recorder()
    before = values(server)
    tuning = entered(server, tmp_path, "temp_files=2")
    server.refused, server.refusals = "SHRINKFILE", 3
    leave(tuning, server)
    assert values(server) == before


def test_files_of_tempdb_are_added_like_the_first_and_never_taken_away(tmp_path: Path) -> None:
    server = Recorder()
    entered(server, tmp_path, "temp_files=2")
    (added,) = [text for text in server.changing if "ADD FILE" in text]
    assert "FILENAME = N'/var/opt/mssql/data/dyno_temp_2.ndf'" in added
    assert "SIZE = 8192KB, FILEGROWTH = 65536KB)" in added
    server.temp[0] = (*server.temp[0][:2], 8200, 16, 0, 1 << 20)
    entered(server, tmp_path / "second", "temp_files=3")
    (added,) = [text for text in server.changing if "N'dyno_temp_3'" in text]
    assert "SIZE = 8200KB, MAXSIZE = 1048576KB, FILEGROWTH = 128KB)" in added
    with pytest.raises(UsageError, match="removes only its own"):
        entered(server, tmp_path / "other", "temp_files=1")


def test_files_of_tempdb_that_could_not_be_removed_again_are_not_added(tmp_path: Path) -> None:
    server = Recorder()
    server.sysadmin = False
    with pytest.raises(UsageError, match="sysadmin"):
        entered(server, tmp_path, "temp_files=2")
    assert server.changing == []


def test_files_of_tempdb_that_were_added_before_a_failure_are_removed(tmp_path: Path) -> None:
    server = Recorder()
    before = values(server)
    server.refused = "(NAME = N'dyno_temp_4'"  # such as a full disk
    with pytest.raises(DynoError, match="5042"):
        entered(server, tmp_path, "temp_files=6")
    assert values(server) == before
    assert left_behind(tmp_path) == []


def test_files_of_tempdb_whose_removal_stopped_are_removed_by_the_next_run(tmp_path: Path) -> None:
    server = Recorder()
    before = values(server)
    tuning = entered(server, tmp_path, "temp_files=4")
    server.refused = "SHRINKFILE (N'dyno_temp_3'"  # it is in use
    with pytest.raises(TargetError, match=r"REMOVE FILE \[dyno_temp_2\]"):
        leave(tuning, server)
    assert [file[0] for file in server.temp] == ["tempdev", "dyno_temp_2", "dyno_temp_3"]
    server.refused = ""
    entered(server, tmp_path)
    assert values(server) == before
    assert left_behind(tmp_path) == []


def test_a_file_of_tempdb_that_somebody_added_meanwhile_stays(tmp_path: Path) -> None:
    server = Recorder()
    tuning = entered(server, tmp_path, "temp_files=3")
    theirs = ("temp3", "/var/opt/mssql/data/temp3.ndf", 8192, 8192, 0, None)
    server.temp.append(theirs)
    leave(tuning, server)
    assert [file[0] for file in server.temp] == ["tempdev", "temp3"]


def test_a_value_that_the_server_has_is_not_changed(tmp_path: Path) -> None:
    server = Recorder()
    tuning = entered(server, tmp_path, "parallelism=1024", "parallel_cost=5", "recovery=full")
    assert [item.how for item in tuning.applied if item.word == "parallel_cost"] == [
        "the server's value"
    ]
    assert not [text for text in server.changing if "cost threshold" in text or "RECOVERY" in text]


def test_a_database_that_the_run_creates_gets_the_options(tmp_path: Path) -> None:
    server = Recorder()
    del server.options["dyno_tpch"]
    tuning = entered(server, tmp_path, "commit=relaxed", "memory=4GB")
    (commit,) = [item for item in tuning.applied if item.word == "commit"]
    assert (commit.found, commit.note.startswith("set when Dyno creates")) == ("", True)
    server.options["dyno_tpch"] = ["CHECKSUM", "DISABLED", "FULL", "OFF"]
    tuning.adopt(cast("Session", server), "dyno_tpch")
    assert server.options["dyno_tpch"][1] == "FORCED"
    leave(tuning, server)
    assert server.options["dyno_tpch"][1] == "DISABLED"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("memory=100MB", "128MB to"),
        ("work_memory=20GB", "10GB for sorts and hashes"),
        ("work_memory=1MB", "1 to 100 %"),
    ],
)
def test_values_out_of_range_are_refused_before_any_change(
    tmp_path: Path, text: str, message: str
) -> None:
    server = Recorder()
    with pytest.raises(UsageError, match=message):
        entered(server, tmp_path, "recovery=simple", text)
    assert server.changing == []


def test_the_stored_share_of_work_memory_is_restored(tmp_path: Path) -> None:
    """While the governor is off, 25 % are in effect, whatever is stored."""
    server = Recorder()
    server.governor = {"enabled": 0, "stored": 12.5, "used": 25}
    before = values(server)
    tuning = entered(server, tmp_path, "work_memory=1GB")
    assert server.governor == {"enabled": 1, "stored": 10, "used": 10}
    assert [item.before for item in tuning.applied] == ["12.5"]
    killed(tuning)
    entered(server, tmp_path)
    assert values(server) == before


def test_a_stored_share_that_is_not_in_effect_is_applied(tmp_path: Path) -> None:
    server = Recorder()
    server.governor = {"enabled": 0, "stored": 10, "used": 25}
    before = values(server)
    tuning = entered(server, tmp_path, "work_memory=1GB")
    assert server.governor["used"] == 10
    leave(tuning, server)
    assert values(server) == before


def test_the_share_of_work_memory_is_a_whole_number_before_2019(tmp_path: Path) -> None:
    for major, numeric in ((14, False), (15, True)):
        server = Recorder(Version("SQL Server", (major, 0), "Enterprise Edition (64-bit)"))
        entered(server, tmp_path / str(major), "work_memory=1GB")
        assert any("grant_percent_numeric" in text for text in server.sent) is numeric


@pytest.mark.parametrize(
    ("version", "governed", "message"),
    [
        (SERVER_2019, (0, 0, 0, 0), r"Standard Edition \(64-bit\) has no resource governor"),
        (Version("SQL Server", (17, 0), "Express Edition (64-bit)"), (0, 0, 0, 0), "Express"),
        (SERVER_2022, (1, 1637580872, 0, 0), "classifier"),
        (SERVER_2022, (0, 1637580872, 0, 0), "classifier"),
        (SERVER_2022, (1, 0, 1, 0), "pending changes"),
        (SERVER_2022, (0, 0, 0, 1), "stored limits"),
    ],
)
def test_work_memory_is_refused_if_more_than_it_would_change(
    tmp_path: Path, version: Version, governed: tuple[int, ...], message: str
) -> None:
    server = Recorder(version)
    server.governed = governed
    with pytest.raises(UsageError, match=message):
        entered(server, tmp_path, "recovery=simple", "work_memory=1GB")
    assert server.changing == []


@pytest.mark.parametrize(
    ("version", "governed"),
    [
        (Version("SQL Server", (17, 0), "Standard Edition (64-bit)"), (0, 0, 0, 0)),
        (Version("SQL Server", (17, 0), "Standard Developer Edition (64-bit)"), (0, 0, 0, 0)),
        (Version("SQL Server", (14, 0), "Enterprise Evaluation Edition"), (0, 0, 0, 0)),
        (SERVER_2022, (1, 0, 0, 2)),  # its pools are in effect already
    ],
)
def test_work_memory_is_set_where_nothing_else_changes(
    tmp_path: Path, version: Version, governed: tuple[int, ...]
) -> None:
    server = Recorder(version)
    server.governed = governed
    entered(server, tmp_path, "work_memory=1GB")
    assert server.governor["used"] == 10


def test_a_login_that_cannot_see_the_governor_is_told_the_right(tmp_path: Path) -> None:
    server = Recorder()
    server.governed = ()
    with pytest.raises(DynoError, match=r"GRANT CONTROL SERVER TO \[dyno\]") as caught:
        entered(server, tmp_path, "work_memory=1GB")
    assert caught.value.kind == "denied"


@pytest.mark.parametrize(
    ("edition", "text", "note"),
    [
        ("Standard Edition (64-bit)", "memory=8GB", ""),
        ("Standard Edition (64-bit)", "memory=200GB", "Standard Edition caps.* 128GB"),
        ("Express Edition with Advanced Services", "memory=8GB", "Express Edition caps.* 1410MB"),
        ("Enterprise Edition (64-bit)", "memory=200GB", ""),
        ("Standard Edition (64-bit)", "parallelism=2", ""),
        ("Standard Edition (64-bit)", "parallelism=8", "batch mode .* to 2"),
        ("Web Edition (64-bit)", "parallelism=2", "batch mode .* to 1"),
        ("Developer Edition (64-bit)", "parallelism=8", ""),
    ],
)
def test_what_an_edition_does_not_use_is_noted(
    tmp_path: Path, edition: str, text: str, note: str
) -> None:
    server = Recorder(Version("SQL Server", (16, 0), edition))
    (found,) = entered(server, tmp_path, text).applied
    assert re.search(note, found.note) if note else not found.note


def test_babelfish_has_none_of_these_settings(tmp_path: Path) -> None:
    server = Recorder(BABELFISH)
    with pytest.raises(UsageError, match="those of PostgreSQL"):
        entered(server, tmp_path, "memory=4GB")
    assert server.changing == []


def test_the_share_of_work_memory_is_of_what_the_server_has() -> None:
    (change,) = changes(asked("work_memory=3GB"), 10 * GIB)
    assert (change.value, change.amount) == ("30", 30)


def journal(home: Path) -> Path:
    return Journal(home, SERVER).path


@pytest.mark.parametrize(
    "entry",
    [
        {"name": "xp_cmdshell", "database": "", "before": "0", "value": "1"},
        {"name": "RECOVERY", "database": "x] SET OFFLINE --", "before": "FULL", "value": "SIMPLE"},
        {"name": "RECOVERY", "database": "dyno_tpch", "before": "FULL; DROP", "value": "SIMPLE"},
        {"name": "max server memory (MB)", "database": "", "before": "1; x", "value": "4096"},
        {"name": "max server memory (MB)"},
        {"name": "max server memory (MB)", "database": "", "before": "0.5", "value": "4096"},
        {
            "name": "request_max_memory_grant_percent",
            "database": "",
            "before": "12.5)",
            "value": "10",
        },
        7,
    ],
)
def test_nothing_of_a_foreign_journal_becomes_a_statement(tmp_path: Path, entry: object) -> None:
    path = journal(tmp_path)
    path.write_text(json.dumps({"changed": [entry]}), encoding="utf-8")
    server = Recorder()
    with pytest.raises(TargetError, match="restore these settings yourself"):
        entered(server, tmp_path)
    assert server.changing == []


def test_a_journal_is_read_as_it_was_written(tmp_path: Path) -> None:
    own = Journal(tmp_path / "deep", SERVER)
    assert own.read() == []
    listed = [Changed("RECOVERY", "dyno_tpch", "FULL", "SIMPLE")]
    own.write(listed)
    assert own.read() == listed
    assert Journal(tmp_path / "deep", "another server").read() == []
    own.write([])
    assert not own.path.exists()
