"""A page as PDF, printed by an installed browser: the same page, with its styles for paper.

The page has no scripts and no network access, so the browser only lays it out.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from dyno.bundle.writer import file_error
from dyno.errors import TargetError, UsageError
from dyno.safety import safefiles

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_LONGEST_S = 120.0
_LARGEST = 64 << 20


def browser() -> str:
    """The path of an installed browser that can print.

    Raises:
        UsageError: If there is none.
    """
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        raise UsageError(
            "--pdf needs Chromium or Chrome on this machine; install one, or print the HTML page "
            "from any browser."
        )
    return found


def write(html: str, path: Path) -> None:
    """Replaces ``path`` by the PDF of a page, atomically.

    Raises:
        UsageError: If no browser is installed, or ``path`` is not a regular file.
        TargetError: If the browser fails.
        DiskFullError, TargetError: If it cannot be written.
    """
    made = printed(html)
    try:
        with safefiles.replacing(path) as file:
            file.write(made)
    except OSError as error:
        raise file_error(error, path) from error


def printed(html: str) -> bytes:
    """The PDF of a page.

    Raises:
        UsageError: If no browser is installed.
        TargetError: If the browser fails.
    """
    program = browser()
    with tempfile.TemporaryDirectory(prefix="dyno-pdf-") as folder:
        page, made = Path(folder) / "page.html", Path(folder) / "page.pdf"
        page.write_text(html, encoding="utf-8")
        command = [
            program, "--headless", "--disable-gpu", "--disable-extensions", "--no-first-run",
            "--no-pdf-header-footer", f"--user-data-dir={folder}/profile",
            f"--print-to-pdf={made}", page.as_uri(),
        ]  # fmt: skip
        if os.geteuid() == 0:  # its sandbox refuses root
            command.insert(1, "--no-sandbox")
        try:
            subprocess.run(
                command, check=True, timeout=_LONGEST_S, stdin=subprocess.DEVNULL,
                capture_output=True, env={**os.environ, "HOME": folder},
            )  # fmt: skip
            if made.stat().st_size > _LARGEST:
                raise TargetError(f"{program} made a PDF of more than {_LARGEST:,} bytes.")
            return made.read_bytes()
        except (OSError, subprocess.SubprocessError) as error:
            reason = str(error).splitlines()[0][:200] if not isinstance(error, OSError) else (
                error.strerror or "no file"
            )  # fmt: skip
            raise TargetError(
                f"{Path(program).name} could not print the page: {reason}."
            ) from error
