"""Temporary files and the log of a MariaDB at a URL on flash, by the commands that Dyno prints."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dyno import targets
from dyno.contracts import flash
from dyno.contracts.flash import Move, Part, Wanted
from dyno.errors import DynoError
from tests.mariadb import require_mariadb
from tests.process import document, dyno
from tests.targets.conftest import LIMITS, ask, embedded_mariadb, public_folder
from tests.targets.debian import SERVER_UID, as_server
from tests.targets.flash.byhand import administer, parted

START = (
    "i=0; {run} >/dev/null 2>&1 & "
    "until mariadb-admin --no-defaults -S {socket} ping >/dev/null 2>&1; "
    "do i=$((i+1)); test $i -lt 600; sleep 0.1; done"
)
STOP = (
    "mariadb-admin --no-defaults -S {socket} shutdown; "
    "while test -S {socket} || test -e {pid}; do sleep 0.05; done"
)


@dataclass
class Server:
    """A server with a configuration file, as a user's own has."""

    url: str
    data: Path
    folder: Path
    stop: str
    start: str

    def plan(self, part: Part, *, back: bool = False) -> Move:
        target = targets.open_target(targets.parse(self.url), Path("/nowhere"), LIMITS)
        return flash.planned(target, Wanted(part, "" if back else str(self.folder), back))

    def ask(self, statement: str) -> list[Any]:
        target = targets.open_target(targets.parse(self.url), Path("/nowhere"), LIMITS)
        return ask(target, statement)

    def check(self, part: Part, code: int) -> None:
        words = ("accelerate", "move", part, self.url, "--flash", self.folder, "--check", "--json")
        done = dyno(*words)
        assert done.returncode == code, done.stderr
        assert document(done)["on_flash"] is (code == 0)

    def administer(
        self, script: list[str], *, restart: bool = True
    ) -> subprocess.CompletedProcess[str]:
        how = (self.stop, self.start) if restart else ("true", "true")
        return administer(self.folder.parent, script, *how)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    require_mariadb()
    with public_folder() as folder:
        data, conf, flash_folder = folder / "data", folder / "conf.d", folder / "flash"
        for place in (data, conf, flash_folder):
            place.mkdir()
        if os.geteuid() == 0:
            os.chown(data, SERVER_UID, SERVER_UID)
        socket, pid = data / "socket", data / "server.pid"
        (conf / "50-server.cnf").write_text(
            f"[mysqld]\ndatadir={data}\nsocket={socket}\npid-file={pid}\nskip-networking\n"
            "tmpdir=/tmp\ninnodb_buffer_pool_size=32M\nskip-grant-tables\n"
        )
        (folder / "my.cnf").write_text(f"!includedir {conf}\n")
        defaults = f"--defaults-file={folder / 'my.cnf'}"
        program = next(
            path for path in ("/usr/sbin/mariadbd", "/usr/libexec/mariadbd") if Path(path).exists()
        )
        made = [*as_server(), "mariadb-install-db", defaults, "--skip-test-db"]
        subprocess.run(made, cwd="/", check=True, capture_output=True, timeout=120)
        run = shlex.join([*as_server(), program, defaults])
        places = {"socket": socket, "pid": pid, "run": run}
        url = f"mysql://root@localhost/?unix_socket={str(socket).replace('/', '%2F')}"
        found = Server(url, data, flash_folder, STOP.format(**places), START.format(**places))
        subprocess.run(["sh", "-ec", found.start], check=True, timeout=120, cwd="/")
        try:
            yield found
        finally:
            subprocess.run(["sh", "-ec", found.stop], check=True, timeout=120, cwd="/")


def test_the_commands_move_it_and_back(server: Server) -> None:
    server.ask("CREATE TABLE mysql.item AS SELECT 1 AS i")
    before = {path.name for path in server.data.iterdir()}
    server.check("log", 1)
    temp, _ = parted(server.plan("temp").script)
    log, clean = parted(server.plan("log").script)
    assert "/etc/" not in "".join(temp + log)
    # As if an attempt had been cut off after its last rename.
    (server.data / "dyno-before-ib_logfile0").touch()
    server.administer(temp, restart=False)
    done = server.administer(log)
    assert done.returncode == 0, done.stderr
    server.check("log", 0)
    server.check("temp", 0)
    assert server.administer(clean).returncode == 0
    assert (server.folder / "dyno_flash_log" / "ib_logfile0").stat().st_size > 0
    assert not (server.data / "ib_logfile0").exists()
    server.ask("INSERT INTO mysql.item VALUES (2)")
    temp, clean_temp = parted(server.plan("temp", back=True).script)
    log, clean_log = parted(server.plan("log", back=True).script)
    server.administer(temp, restart=False)
    done = server.administer(log)
    assert done.returncode == 0, done.stderr
    for part in ("temp", "log"):
        assert server.plan(part, back=True).on_flash is False
        assert not server.plan(part, back=True).script
    assert server.administer(clean_temp + clean_log).returncode == 0
    assert server.ask("SELECT sum(i) FROM mysql.item") == [(3,)]
    assert {path.name for path in server.data.iterdir()} == before
    assert not any(server.folder.iterdir())
    assert len(list((server.folder.parent / "conf.d").iterdir())) == 1


def test_the_log_of_a_server_that_runs_is_not_copied(server: Server) -> None:
    move, _ = parted(server.plan("log").script)
    done = administer(server.folder.parent, move, "true", "true")
    assert done.stderr.splitlines()[-1].endswith("server.pid")
    assert (server.data / "ib_logfile0").exists()
    assert len(list((server.folder.parent / "conf.d").iterdir())) == 1
    (server.folder / "dyno_flash_log").rmdir()


def test_folders_and_parts_that_are_refused(server: Server) -> None:
    target = targets.open_target(targets.parse(server.url), Path("/nowhere"), LIMITS)
    for folder in ("relative", "/a#b", str(server.folder / "none"), str(server.data)):
        with pytest.raises(DynoError) as error:
            flash.planned(target, Wanted("temp", folder))
        assert error.value.exit_code == 2
    done = dyno("accelerate", "move", "database", server.url, "--flash", server.folder)
    assert done.returncode == 2
    assert str(flash.lacks("mysql", "database")) in done.stderr


@pytest.mark.long
def test_a_setting_on_the_command_line_is_noticed(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """A private server has its settings there; it is a server at a URL here."""
    with embedded_mariadb(tmp_path_factory.mktemp("my")) as private, public_folder() as folder:
        socket = str(private.wire()["unix_socket"]).replace("/", "%2F")
        url = f"mysql://root@localhost/?unix_socket={socket}"
        target = targets.open_target(targets.parse(url), folder, LIMITS)
        assert any(
            "command line" in note
            for note in flash.planned(target, Wanted("temp", str(folder))).notes
        )
