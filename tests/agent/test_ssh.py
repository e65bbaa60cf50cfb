"""An agent started through ``ssh``, by a real server on this machine."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from dyno.agent.address import agent_address
from dyno.agent.ssh import SshAgent
from dyno.errors import TargetError
from tests import forked
from tests.conftest import missing
from tests.process import wait_until


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A URL that leads to this machine through ``ssh``."""
    server = shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin")
    if server is None or shutil.which("ssh") is None or os.geteuid() != 0:
        missing("sshd and ssh, and root to start it (apt-get install openssh-server)")
    Path("/run/sshd").mkdir(exist_ok=True)
    with closing(socket.create_server(("127.0.0.1", 0))) as found:
        port = found.getsockname()[1]
    for name in ("host", "user"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)]
        subprocess.run(command, check=True)
    keys = tmp_path / "keys"
    keys.write_text((tmp_path / "user.pub").read_text())
    (tmp_path / "sshd").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {tmp_path / 'host'}\nStrictModes no\n"
        f"AuthorizedKeysFile {keys}\nPidFile none\nUsePAM no\nPermitRootLogin yes\n"
    )
    (tmp_path / "config").write_text(
        f"Host *\n HostName 127.0.0.1\n Port {port}\n IdentityFile {tmp_path / 'user'}\n"
        f" StrictHostKeyChecking accept-new\n UserKnownHostsFile {tmp_path / 'known'}\n"
    )
    tools = tmp_path / "bin"
    tools.mkdir()
    real = shutil.which("ssh")
    (tools / "ssh").write_text(f'#!/bin/sh\nexec {real} -F {tmp_path / "config"} "$@"\n')
    exports = "".join(
        f"export {key}='{value}'\n" for key, value in forked.light().items() if "DYNO" in key
    )
    own = Path(__file__).parents[2]
    (tools / "dyno").write_text(
        f'#!/bin/sh\n{exports}cd {own} && exec {sys.executable} -m dyno "$@"\n'
    )
    for tool in tools.iterdir():
        tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    process = subprocess.Popen([str(server), "-D", "-f", str(tmp_path / "sshd")])
    try:

        def answers() -> bool:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port)).close()
                return True
            return False

        wait_until(answers, "sshd")
        yield f"ssh://db1?program={tools / 'dyno'}"
    finally:
        process.terminate()
        process.wait()


def agents() -> list[psutil.Process]:
    """Agents on this machine that end with their input."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            words = process.cmdline()
            if "--with-stdin" in words and "python" in process.name():
                found.append(process)
    return found


def test_an_agent_through_ssh_ends_with_the_run(host: str) -> None:
    with SshAgent(agent_address(host)) as started:
        hello = started.client.hello()
        assert wait_until(lambda: started.client.entries(hello.instance, hello.last), "a tick")
        (process,) = agents()
        words = " ".join(process.cmdline())
        assert len(words) < 400
        assert "token" not in words
    assert not process.is_running()


def test_an_agent_through_ssh_ends_with_a_killed_run(host: str) -> None:
    script = (
        "import sys; from dyno.agent.address import agent_address; "
        "from dyno.agent.ssh import SshAgent\n"
        f"with SshAgent(agent_address({host!r})) as started:\n"
        "    print(started.client.hello().machine, flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as run:
        assert run.stdout is not None
        assert run.stdout.readline()
        (process,) = agents()
        run.kill()
        run.wait()
    wait_until(lambda: not process.is_running(), "the end of the agent", 30)


def test_a_machine_without_dyno_says_so(host: str) -> None:
    url = host.partition("?")[0] + "?program=/no/such/dyno"
    with pytest.raises(TargetError) as caught:
        SshAgent(agent_address(url)).__enter__()
    assert "/no/such/dyno" in str(caught.value)
    assert "--version" in str(caught.value)
