"""Where a server at a URL keeps its files on this machine, on real servers and file systems."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import psutil
import pytest

from dyno import targets
from dyno.host.storage import storage_facts
from dyno.servers.here import UNSEEN, shares_files
from dyno.targets.devices import devices, stored
from dyno.targets.mysql.target import MysqlTarget
from dyno.targets.postgresql.target import PostgresTarget
from tests.conftest import missing
from tests.process import wait_until
from tests.targets.conftest import LIMITS, ask, embedded_mariadb
from tests.targets.debian import as_server, debian_server, owned

SLEEP = (sys.executable, "-c", "input()")


@pytest.fixture
def searchable() -> Iterator[Path]:
    """A folder that the server's user can get into; pytest may close its own to others."""
    root = os.environ.get("PYTEST_DEBUG_TEMPROOT")
    with tempfile.TemporaryDirectory(prefix="dyno-test-", dir=root) as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@pytest.fixture
def volume(searchable: Path) -> Iterator[Path]:
    """A file system on a block device of its own, for the server's user."""
    if os.geteuid() != 0:
        missing("root, to mount a file system")
    image, folder = searchable / "image", searchable / "volume"
    folder.mkdir()
    with image.open("wb") as file:
        file.truncate(256 << 20)
    for command in (["mkfs.ext4", "-q", image], ["mount", "-o", "loop", image, folder]):
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            missing("a loop device, to mount a file system")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def opened(url: str) -> PostgresTarget:
    target = targets.open_target(targets.parse(url), Path("/nowhere"), LIMITS)
    assert isinstance(target, PostgresTarget)
    return target


def test_log_and_temporary_files_on_another_volume(searchable: Path, volume: Path) -> None:
    wal, spare, space = (owned(volume / name) for name in ("wal", "spare", "space"))
    with debian_server(searchable, wal=wal) as url:
        data = searchable / "debian"
        with opened(url) as admin:
            ask(admin, f"""CREATE TABLESPACE "Spare one" LOCATION '{spare}'""")
            ask(admin, f"CREATE TABLESPACE more LOCATION '{space}'")
            ask(admin, """ALTER ROLE dyno SET temp_tablespaces = "Spare one", more""")
        with opened(url) as target:
            assert target.storage() == {
                "data": [data, spare, space],
                "log": [wal],
                "temp": [spare, space],
                "tablespace:Spare one": [spare],
                "tablespace:more": [space],
            }
            found = devices(target, stored(target))
            first = (data / "postmaster.pid").read_text().split()[0]
            assert target.process_ids() == [int(first)]
    beside, apart = storage_facts(data)["subject"], storage_facts(volume)["subject"]
    assert apart is not None
    assert found["devices"]["log"] == found["devices"]["temp"] == (apart,)
    assert apart in found["disks"]
    if beside is not None:  # a file system on a block device that the kernel names
        assert found["devices"]["data"] == (beside, apart)
    assert found["device_notes"] == ()


def test_a_role_without_the_right_gets_the_grant_that_helps(searchable: Path) -> None:
    with debian_server(searchable) as url, opened(url) as admin:
        ask(admin, 'CREATE ROLE "plain one" LOGIN')
        plain = url.replace("user=dyno", "user=plain%20one")
        with opened(plain) as target:
            assert target.storage() == {}
            assert target.process_ids() == admin.process_ids()
            (note,) = devices(target, stored(target))["device_notes"]
            assert devices(target, stored(target))["devices"] == {}
        grant = note[note.index("GRANT ") :]
        assert "pg_read_all_settings" in grant
        ask(admin, grant)
        with opened(plain) as target:
            assert target.storage() == admin.storage()
            assert set(target.storage()) == {"data", "log", "temp"}
            assert target.unplaced() == []


@pytest.fixture
def free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as found:
        return int(found.getsockname()[1])


def test_a_port_of_this_machine_with_its_server_here(searchable: Path, free_port: int) -> None:
    listens = ("listen_addresses = '127.0.0.1'", f"port = {free_port}")
    with (
        debian_server(searchable, *listens),
        opened(f"postgresql://dyno@127.0.0.1:{free_port}/postgres") as target,
    ):
        assert target.storage()["data"] == [searchable / "debian"]
        assert target.storage()["log"] == [searchable / "debian" / "pg_wal"]


def test_an_ordinary_user_of_the_system_learns_what_it_may(
    searchable: Path, free_port: int
) -> None:
    """The data folder is the server's alone: where the link of the log leads is not to be seen."""
    if os.geteuid() != 0:
        missing("root, to become an ordinary user")
    listens = ("listen_addresses = '127.0.0.1'", f"port = {free_port}")
    with debian_server(searchable, *listens):
        os.seteuid(12345)
        try:
            with opened(f"postgresql://dyno@127.0.0.1:{free_port}/postgres") as target:
                found = devices(target, stored(target))
                assert set(target.storage()) == {"data", "temp"}
                assert target.storage()["data"] == [searchable / "debian"]
                (note,) = found["device_notes"]
                assert "pg_wal" in note
        finally:
            os.seteuid(0)


def test_a_server_with_processes_of_its_own_is_not_taken_for_one_here(searchable: Path) -> None:
    """As in a container: its backend has another number there."""
    if os.geteuid() != 0:
        missing("root, to give a server a name space of its own")
    with debian_server(searchable) as url:
        pass
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    data = searchable / "debian"
    command = [*as_server(), str(places[-1]), "-D", str(data)]
    inside = ["unshare", "--pid", "--fork", "--kill-child=SIGKILL", "--mount-proc", *command]
    with (data / "inside.log").open("wb") as log:
        process = subprocess.Popen(inside, cwd="/", stdout=log, stderr=log)
    try:
        wait_until(lambda: answers(url) or process.poll() is not None, "the server")
        if process.poll() is not None:
            missing("the right to make a name space of processes")
        with opened(url) as target:
            assert (target.storage(), target.process_ids()) == ({}, [])
            assert tuple(target.unplaced()) == UNSEEN.notes
    finally:
        process.kill()
        process.wait()


def answers(url: str) -> bool:
    import psycopg

    try:
        psycopg.connect(url).close()
    except psycopg.Error:
        return False
    return True


def test_a_process_shares_the_folder_that_it_works_in(tmp_path: Path) -> None:
    with subprocess.Popen(SLEEP, cwd=tmp_path, stdin=subprocess.PIPE) as process:
        seen = psutil.Process(process.pid)
        assert shares_files(seen, tmp_path)
        other = tmp_path / "other"
        other.mkdir()
        assert not shares_files(seen, other)
        assert not shares_files(seen, tmp_path / "none")
        process.communicate(b"\n")
    assert not shares_files(seen, tmp_path)


@pytest.fixture(scope="module")
def mariadb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MysqlTarget]:
    with embedded_mariadb(tmp_path_factory.mktemp("my")) as target:
        yield target


def by_url(mariadb: MysqlTarget, user: str = "root") -> MysqlTarget:
    path = quote(mariadb.wire()["unix_socket"], safe="")
    text = f"mysql://{user}@localhost/?unix_socket={path}"
    target = targets.open_target(targets.parse(text), Path("/nowhere"), LIMITS)
    assert isinstance(target, MysqlTarget)
    return target


def test_mariadb_at_a_url_has_the_places_of_its_server(mariadb: MysqlTarget) -> None:
    with by_url(mariadb) as target:
        assert target.storage() == mariadb.storage()
        assert set(target.storage()) == {"data", "log", "temp"}
        assert target.process_ids() == mariadb.process_ids()
        assert (
            devices(target, stored(target))["devices"]
            == devices(mariadb, stored(mariadb))["devices"]
        )


def test_mariadb_of_a_user_without_privileges(mariadb: MysqlTarget) -> None:
    with closing(mariadb.connect()) as admin:
        admin.execute("CREATE USER plain@localhost")
        try:
            with by_url(mariadb, "plain") as target:
                assert target.storage() == mariadb.storage()
        finally:
            admin.execute("DROP USER plain@localhost")
