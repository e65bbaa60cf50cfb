"""What a machine lacks is reported before the build, in one line."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TOOLS = ["sh", "cut", "printf", "cat"]


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A PATH on which everything is as it should be."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        if found:
            (folder / tool).symlink_to(found)
    fake(folder, "python3", "exit 0")
    fake(folder, "cc", "exit 0")
    fake(folder, "cargo", "exit 0")
    fake(folder, "rustc", "echo 'rustc 1.95.0 (59807616e 2026-04-14)'")
    return folder


def fake(folder: Path, name: str, body: str) -> None:
    path = folder / name
    path.unlink(missing_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def preflight(folder: Path) -> tuple[int, str]:
    done = subprocess.run(
        ["/bin/sh", ROOT / "tools" / "preflight.sh"],
        env={"PATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr


def test_a_fit_machine_passes(machine: Path) -> None:
    assert preflight(machine) == (0, "")


@pytest.mark.parametrize(
    ("tool", "message"),
    [("python3", "Python is missing"), ("cc", "C compiler is missing"), ("cargo", "Rust is")],
)
def test_a_missing_tool(machine: Path, tool: str, message: str) -> None:
    (machine / tool).unlink()
    code, errors = preflight(machine)
    assert code == 2
    assert message in errors
    assert len(errors.splitlines()) == 1


def test_an_old_python(machine: Path) -> None:
    fake(machine, "python3", '[ "$1" = --version ] && echo Python 3.9.2 || exit 1')
    code, errors = preflight(machine)
    assert code == 2
    assert "3.9.2" in errors
    assert "3.11" in errors


@pytest.mark.parametrize("version", ["1.70.0", "1.87.0-nightly"])
def test_an_old_rust(machine: Path, version: str) -> None:
    fake(machine, "rustc", f"echo 'rustc {version} (abc 2020-01-01)'")
    code, errors = preflight(machine)
    assert code == 2
    assert "1.88" in errors


def test_a_broken_rust(machine: Path) -> None:
    fake(machine, "rustc", "exit 1")
    assert "does not run" in preflight(machine)[1]
