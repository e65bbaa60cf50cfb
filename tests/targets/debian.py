"""The operating system's PostgreSQL, which has the extensions that the private one lacks."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import missing

SERVER_UID = 65534
"""Whom the server runs as when the tests run as root, whom it refuses."""


def as_server() -> list[str]:
    """What a command line begins with that is to run as the server's user."""
    if os.geteuid() != 0:
        return []
    return ["setpriv", f"--reuid={SERVER_UID}", f"--regid={SERVER_UID}", "--clear-groups"]


@contextlib.contextmanager
def debian_server(
    folder: Path, *lines: str, wal: Path | None = None, inside: tuple[str, ...] = ()
) -> Iterator[str]:
    """URL of a server with its data in ``folder``, and its socket there; stopped at the end.

    ``lines`` go to the end of its ``postgresql.conf``. Unless they say otherwise it does not listen
    on the network. The write-ahead log lies in ``wal``, an empty folder, by a link. ``inside`` is
    the prefix of commands in a namespace.
    """
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not places:
        missing("the operating system's PostgreSQL (apt-get install postgresql)")
    bin_folder = places[-1].parent
    data = folder / "debian"
    data.mkdir()
    if os.geteuid() == 0:
        os.chown(data, SERVER_UID, SERVER_UID)
    become = as_server()
    data.chmod(0o700)

    def run(*command: str) -> None:
        whole = [*inside, *become, *command]
        subprocess.run(whole, cwd="/", check=True, capture_output=True, timeout=120)

    apart = [] if wal is None else ["-X", str(wal)]
    command = (str(bin_folder / "initdb"), "-D", str(data), "-U", "dyno", "-A", "trust")
    run(*command, "--no-sync", *apart)
    settings = ["listen_addresses = ''", "fsync = off", f"unix_socket_directories = '{data}'"]
    with (data / "postgresql.conf").open("a") as conf:
        conf.writelines(f"{line}\n" for line in (*settings, *lines))
    control = [str(bin_folder / "pg_ctl"), "-D", str(data), "-w"]
    run(*control, "-l", str(data / "log"), "start")
    try:
        yield f"postgresql:///postgres?host={data}&user=dyno"
    finally:
        run(*control, "-m", "immediate", "stop")


def owned(folder: Path) -> Path:
    """A new folder of the server's user."""
    folder.mkdir(mode=0o700)
    if os.geteuid() == 0:
        os.chown(folder, SERVER_UID, SERVER_UID)
    return folder
