"""What the supervisor takes from its daemons, and which processes use a folder."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
from pathlib import Path

import pytest

from dyno.accelerate.attach import attached
from dyno.accelerate.attach.supervisor import Supervisor
from tests.conftest import missing
from tests.process import wait_until


def talked(*messages: str, empty: bool = False) -> tuple[bool, bool]:
    """Whether a daemon with these messages served, and whether the next one begins empty."""
    supervisor = Supervisor.__new__(Supervisor)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    null = os.open("/dev/null", os.O_RDWR)
    supervisor._fuse = supervisor._root = null
    supervisor._kept, supervisor._backings = {}, {}
    supervisor._empty, supervisor._continued = empty, True

    def daemon() -> None:
        with theirs:
            while theirs.recv(128) != b"go":
                pass
            for message in messages:
                theirs.send(message.encode())

    thread = threading.Thread(target=daemon)
    thread.start()
    with ours:
        served = supervisor._talk(ours, null)
    thread.join()
    os.close(null)
    return served, supervisor._empty


@pytest.mark.parametrize(
    ("messages", "empty"),
    [
        (("ready",), False),
        (("ready", "spoiled"), True),
        # It could not open the cache, and serves the folder alone: files change without marks.
        (("spoiled", "ready"), True),
    ],
)
def test_a_cache_that_a_daemon_did_not_use_is_not_used_again(
    messages: tuple[str, ...], empty: bool
) -> None:
    assert talked(*messages) == (True, empty)


def test_the_cache_stays_empty_until_a_daemon_serves_it() -> None:
    assert talked(empty=True) == (False, True)
    assert talked("ready", empty=True) == (True, False)


def test_a_database_in_a_container_uses_the_folder(tmp_path: Path) -> None:
    """Its mount namespace has the folder elsewhere."""
    if os.geteuid() != 0:
        missing("root")
    origin, inside = tmp_path / "origin", tmp_path / "inside"
    (origin / "base").mkdir(parents=True)
    (origin / "base" / "1").write_text("rows")
    inside.mkdir()
    script = 'mount --bind "$1" "$2" && exec 3<"$2/base/1" && echo open && read line'
    with subprocess.Popen(
        ["unshare", "--mount", "sh", "-c", script, "sh", origin, inside],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        assert [one for one in attached.users(origin) if f"({process.pid})" in one]
        other = tmp_path / "other"
        other.mkdir()
        assert attached.users(other) == []
        process.communicate("\n")
    wait_until(lambda: attached.users(origin) == [], "the process to end")
