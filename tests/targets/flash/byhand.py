"""Commands that Dyno prints for an administrator, run as printed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.targets.debian import as_server

CHECK = "# --check"
"""How the comment begins before the commands that remove what is left."""


def administer(
    folder: Path, script: Sequence[str], stop: str, start: str
) -> subprocess.CompletedProcess[str]:
    """Runs commands with a ``sudo`` and a ``systemctl`` of this test's, to the first failure.

    ``stop`` and ``start`` are shell commands that do it to the server.
    """
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    become = " ".join(as_server())
    (tools / "sudo").write_text(
        f'#!/bin/sh\nif [ "$1" = -u ]; then shift 2; exec {become} "$@"; fi\nexec "$@"\n'
    )
    (tools / "systemctl").write_text(
        "#!/bin/sh -e\ncd /\n"
        f"case $1 in stop|restart) {stop};; esac\ncase $1 in start|restart) {start};; esac\n"
    )
    for tool in tools.iterdir():
        tool.chmod(0o755)
    return subprocess.run(
        ["sh", "-e"], check=False, capture_output=True, text=True, timeout=120, cwd="/",
        input="\n".join([*script, ""]),
        env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"},
    )  # fmt: skip


def parted(script: Sequence[str]) -> tuple[list[str], list[str]]:
    """The commands that move, and those that remove what is left after the check."""
    at = next(number for number, line in enumerate(script) if line.startswith(CHECK))
    return [*script[:at]], [*script[at:]]
