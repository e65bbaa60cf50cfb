"""The log of a PostgreSQL at a URL on flash, by the commands that Dyno prints."""

from __future__ import annotations

from dataclasses import replace
from subprocess import CompletedProcess

from dyno.targets.postgresql.flash.log import NAME
from tests.targets.flash.byhand import administer, parted
from tests.targets.flash.conftest import Server


def administered(server: Server, script: list[str], stop: str = "") -> CompletedProcess[str]:
    stop = stop or server.control("-m", "fast", "stop") + " || true"
    return administer(server.folder.parent, script, stop, server.control("start"))


def test_the_commands_move_the_log_and_back(server: Server) -> None:
    server.ask("CREATE TABLE item AS SELECT 1 AS i")
    log = server.data / "pg_wal"
    move, clean = parted(server.said("log")["script"])
    # Beside a server that runs they change nothing.
    refused = administered(server, move, stop="true")
    assert refused.returncode != 0
    assert "postmaster.pid" in refused.stderr
    assert not log.is_symlink()
    done = administered(server, move)
    assert done.returncode == 0, done.stderr
    assert server.said("log", "--check")["on_flash"] is True
    assert log.resolve() == server.folder / NAME / "pg_wal"
    server.ask("INSERT INTO item VALUES (2)", "CHECKPOINT")
    assert administered(server, clean).returncode == 0
    move, clean = parted(list(server.plan("log", back=True).script))
    # As if it had been cut off between the last two renames.
    cut = [line for line in move if "pg_wal.new pg_wal" not in line]
    assert administered(server, cut).returncode != 0
    done = administered(server, move)
    assert done.returncode == 0, done.stderr
    assert server.plan("log", back=True).on_flash is False
    assert administered(server, clean).returncode == 0
    assert not log.is_symlink()
    assert server.ask("SELECT sum(i) FROM item", "DROP TABLE item") == []
    assert sorted(path.name for path in server.data.glob("pg_wal*")) == ["pg_wal"]
    (server.folder / NAME).rmdir()


def test_a_role_that_may_not_know_the_folder_gets_the_grant(server: Server) -> None:
    clerk = replace(server, url=server.url.replace("user=dyno", "user=clerk"))
    error = clerk.refused(3, "log")
    server.ask(error[error.index("GRANT") :])
    found = clerk.plan("log")
    assert found.on_flash is False
    assert any(str(server.data) in line for line in found.script)
