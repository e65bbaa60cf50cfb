"""The private server: started as anybody, stopped always, and never left behind."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import psutil
import pytest

from dyno.errors import TargetError
from dyno.servers import identity
from dyno.servers.identity import Identity
from dyno.servers.processes import working_in
from dyno.targets.postgresql.product import PROGRAM
from dyno.targets.postgresql.server import SOCKET
from dyno.targets.postgresql.target import PostgresTarget
from tests.conftest import missing
from tests.process import wait_until
from tests.targets.conftest import embedded

ROOT = os.geteuid() == 0
PACKAGE = Path(identity.__file__).parents[3]


def data_of(out: Path) -> Path:
    return out / "engines" / "postgresql" / "data"


def nothing_left(out: Path) -> None:
    wait_until(lambda: not working_in(data_of(out), PROGRAM), "the server to end")


def keep(target: PostgresTarget, value: int) -> None:
    session = target.connect()
    session.execute(f"CREATE TABLE kept AS SELECT {value} AS x")
    session.close()


def kept(target: PostgresTarget) -> int:
    session = target.connect()
    value = session.execute("SELECT x FROM kept").rows[0][0]
    session.close()
    return value


def test_it_starts_stops_and_keeps_its_data(out: Path) -> None:
    with embedded(out) as target:
        (pid,) = target.process_ids()
        assert psutil.Process(pid).uids().real != 0 or not ROOT or "namespace" in _kinds(out)
        assert os.getsid(pid) == pid  # Ctrl-C in the terminal passes it by
        folder = Path(target.wire()["host"])
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert stat.S_IMODE((folder / SOCKET).stat().st_mode) & 0o077 == 0
        keep(target, 5)
        session = target.connect()
        assert session.execute("SHOW listen_addresses").rows == [("",)]
        session.close()
    assert not psutil.pid_exists(pid)
    assert not folder.exists()
    with embedded(out) as target:
        assert kept(target) == 5
    nothing_left(out)


def _kinds(out: Path) -> set[str]:
    return {"namespace"} if data_of(out).stat().st_uid == 0 else {"user"}


@pytest.mark.skipif(not ROOT, reason="only root may choose whom to run as")
@pytest.mark.parametrize("public", [True, False])
def test_root_drops_its_privileges_or_enters_a_namespace(
    public: bool, out: Path, public_out: Path
) -> None:
    place = public_out if public else out  # pytest's own folder is closed to other users
    with embedded(place) as target:
        (pid,) = target.process_ids()
        status = Path(f"/proc/{pid}/status").read_text()
        assert "CapEff:\t0000000000000000" in status
        owner = data_of(place).stat().st_uid
        assert psutil.Process(pid).uids().real == owner
        assert (owner != 0) is public
        keep(target, 1)
    # A folder that changes hands is given to whoever can serve it now.
    other = place / "engines"
    other.chmod(0o700 if public else 0o755)
    if not public:
        return
    with embedded(place) as target:
        assert kept(target) == 1
        assert data_of(place).stat().st_uid == 0


@pytest.mark.skipif(not ROOT, reason="only root owns other users' folders")
def test_a_folder_of_another_user_is_served_as_that_user(public_out: Path) -> None:
    with embedded(public_out) as target:
        keep(target, 3)
    for path in [data_of(public_out), *data_of(public_out).rglob("*")]:
        os.chown(path, 12345, 12345, follow_symlinks=False)
    with embedded(public_out) as target:
        assert psutil.Process(target.process_ids()[0]).uids().real == 12345
        assert kept(target) == 3


def as_ordinary_user(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs Python as a user that is not root, in whatever way this machine allows."""
    command = [sys.executable, "-c", textwrap.dedent(script), *arguments]
    if ROOT:
        # Owns what root owns, so that it reaches this checkout, but has none of root's rights.
        prefix = ["unshare", "--user", "--map-user=65534", "--map-group=65534"]
        if subprocess.run([*prefix, "true"], check=False, capture_output=True).returncode != 0:
            missing("a user namespace")
        command = [*prefix, *command]
    env = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=env)


START = """
    import os, sys, time
    from pathlib import Path
    from dyno import targets
    from dyno.errors import DynoError
    from dyno.contracts.target import Limits
    out = Path(sys.argv[1])
    try:
        with targets.open_target(
            targets.parse("embedded:postgresql"), out, Limits(256 << 20, 2)
        ) as target:
            session = target.connect()
            print("user", os.geteuid(), session.execute("SELECT 42").rows[0][0], flush=True)
            if len(sys.argv) > 2:
                session.execute("CREATE TABLE kept AS SELECT 7 AS x")
                os.kill(os.getpid(), int(sys.argv[2]))
    except DynoError as error:
        print(error.exit_code, error)
"""


def test_an_ordinary_user_runs_it_as_himself(out: Path) -> None:
    done = as_ordinary_user(START, str(out))
    user = 65534 if ROOT else os.geteuid()
    assert done.stdout == f"user {user} 42\n", done.stderr
    assert data_of(out).stat().st_uid == os.geteuid()
    nothing_left(out)


def test_a_killed_dyno_leaves_no_server_and_loses_no_data(out: Path) -> None:
    command = [sys.executable, "-c", textwrap.dedent(START), str(out), str(int(signal.SIGKILL))]
    env = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == -signal.SIGKILL
    # The next start waits for the old server's end by itself.
    with embedded(out) as target:
        assert kept(target) == 7
    nothing_left(out)


def test_the_server_survives_the_thread_that_started_it(out: Path) -> None:
    target = embedded(out)
    thread = threading.Thread(target=target.__enter__)
    thread.start()
    thread.join()
    try:
        session = target.connect()
        assert session.execute("SELECT 1").rows == [(1,)]
        session.close()
    finally:
        target.__exit__()


def lost_while(target: PostgresTarget, statement: str, kill: int) -> TargetError:
    """What a statement under way meets when the process ``kill`` is killed."""
    session, other = target.connect(), target.connect()
    caught: list[TargetError] = []

    def run() -> None:
        try:
            session.execute(statement)
        except TargetError as error:
            caught.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    pid = session.raw.info.backend_pid
    wait_until(
        lambda: (
            other.execute(
                f"SELECT 1 FROM pg_stat_activity WHERE pid = {pid} AND state = 'active'"
            ).rows
        ),
        "the statement",
    )
    os.kill(kill or pid, signal.SIGKILL)
    thread.join(30)
    session.close()
    other.close()
    (error,) = caught
    return error


def test_a_killed_server_is_named_as_the_cause(out: Path) -> None:
    with embedded(out) as target:
        # A backend that computes would not notice its postmaster's end for minutes.
        busy = "SELECT count(*) FROM generate_series(1, 10000000000)"
        error = lost_while(target, busy, target.process_ids()[0])
        assert error.kind == "connection_lost"
        assert str(error) == "PostgreSQL was killed (signal 9)."
        with pytest.raises(TargetError, match="killed") as caught:
            target.connect()
        assert caught.value.kind == "connection_lost"
        assert target.process_ids() == []
    nothing_left(out)
    with embedded(out):
        pass


def test_a_killed_backend_is_named_as_the_cause(out: Path) -> None:
    with embedded(out) as target:
        error = lost_while(target, "SELECT pg_sleep(60)", 0)
        assert error.kind == "connection_lost"
        assert str(error) == "PostgreSQL stopped: one of its processes was killed (signal 9)."


def test_a_second_dyno_is_refused_and_the_first_goes_on(out: Path) -> None:
    with embedded(out) as target:
        with pytest.raises(TargetError) as caught, embedded(out):
            pass
        assert caught.value.exit_code == 3
        assert f"process {os.getpid()}" in str(caught.value)
        assert "--out" in str(caught.value)
        session = target.connect()
        assert session.execute("SELECT 1").rows == [(1,)]
        session.close()


def test_a_long_path_works(out: Path) -> None:
    deep = out / ("x" * 60) / ("y" * 60)
    deep.mkdir(parents=True)
    with embedded(deep) as target:
        folder = Path(target.wire()["host"])
        assert folder.exists()
        assert len(str(folder)) < 100
        session = target.connect()
        assert session.execute("SELECT 1").rows == [(1,)]
        session.close()
    assert not folder.exists()


@pytest.mark.parametrize("name", ["""a 'b" \\c ü""", "a,b"])
def test_odd_characters_in_the_path_work(public_out: Path, name: str) -> None:
    odd = public_out / name
    odd.mkdir()
    with embedded(odd) as target:
        session = target.connect()
        assert session.execute("SELECT 1").rows == [(1,)]
        session.close()


def test_a_line_break_in_the_path_is_a_clear_line(public_out: Path) -> None:
    odd = public_out / "a\nb"
    odd.mkdir()
    with pytest.raises(TargetError, match="line break"), embedded(odd):
        pass


def test_a_half_made_data_folder_is_made_anew(out: Path) -> None:
    partial = data_of(out).with_name("data.partial")
    partial.mkdir(parents=True)
    (partial / "PG_VERSION").write_text("18\n")
    with embedded(out) as target:
        assert target.process_ids()
    assert not partial.exists()


def test_a_stale_pid_file_does_not_matter(out: Path) -> None:
    with embedded(out):
        pass
    # As after a kill, when another process of the same user has the number by now.
    (data_of(out) / "postmaster.pid").write_text(f"{os.getpid()}\n{data_of(out)}\n1\n5432\n\n\n")
    with embedded(out):
        pass


@pytest.mark.parametrize(
    ("file", "content", "expected"),
    [("PG_VERSION", "17\n", "PostgreSQL 17"), ("global/pg_control", "", "did not start")],
)
def test_damaged_data_is_a_clear_line(out: Path, file: str, content: str, expected: str) -> None:
    with embedded(out):
        pass
    (data_of(out) / file).write_text(content)
    with pytest.raises(TargetError, match=expected) as caught, embedded(out):
        pass
    assert "\n" not in str(caught.value)
    nothing_left(out)


def test_an_unwritable_place_is_a_clear_line(out: Path) -> None:
    (out / "engines").write_text("a file")
    with pytest.raises(TargetError, match="--out") as caught, embedded(out):
        pass
    assert caught.value.exit_code == 3


def test_nobody_able_to_run_it_is_a_clear_line(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unable = Identity("user", 54321, 54321)
    monkeypatch.setattr(identity, "candidates", lambda uid, owner: [unable])
    with pytest.raises(TargetError) as caught, embedded(out):
        pass
    assert "as user id 54321" in str(caught.value)
    assert "Permission denied" in str(caught.value) or not ROOT
    assert "\n" not in str(caught.value)


def test_candidates() -> None:
    nobody = identity.candidates(0, None)[0]
    assert nobody.kind == "user"
    assert [item.kind for item in identity.candidates(0, None)] == ["user", "namespace"]
    assert identity.candidates(0, 4242)[0].uid == 4242
    assert identity.candidates(0, 0)[0] == nobody
    assert [item.kind for item in identity.candidates(54321, None)] == ["namespace", "self"]


def test_a_link_planted_in_the_data_folder_is_not_followed(out: Path) -> None:
    with embedded(out):
        pass
    precious = out / "precious"
    precious.write_text("kept")
    conf = data_of(out) / "postgresql.conf"
    conf.unlink()
    conf.symlink_to(precious)
    with embedded(out):
        pass
    assert precious.read_text() == "kept"
