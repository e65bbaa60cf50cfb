"""The operating system's PostgreSQL, which has the extensions that the private one lacks."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import missing


@contextlib.contextmanager
def debian_server(folder: Path) -> Iterator[str]:
    """URL of a server with its data in ``folder``, and its socket there; stopped at the end."""
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not places:
        missing("the operating system's PostgreSQL (apt-get install postgresql)")
    bin_folder = places[-1].parent
    data = folder / "debian"
    data.mkdir()
    become: list[str] = []
    if os.geteuid() == 0:
        # The server refuses to be run by root.
        os.chown(data, 65534, 65534)
        become = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    data.chmod(0o700)

    def run(*command: str) -> None:
        subprocess.run([*become, *command], cwd="/", check=True, capture_output=True, timeout=120)

    run(str(bin_folder / "initdb"), "-D", str(data), "-U", "dyno", "-A", "trust", "--no-sync")
    options = f"-c listen_addresses= -c fsync=off -c unix_socket_directories={data}"
    control = [str(bin_folder / "pg_ctl"), "-D", str(data), "-w"]
    run(*control, "-l", str(data / "log"), "-o", options, "start")
    try:
        yield f"postgresql:///postgres?host={data}&user=dyno"
    finally:
        run(*control, "-m", "immediate", "stop")
