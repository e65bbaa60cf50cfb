"""Certificates for tests, made by ``openssl``: they are good for two days."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tests.conftest import missing


def require_openssl() -> None:
    """Skips where there is no ``openssl``; under the gate that is a failure."""
    if shutil.which("openssl") is None:
        missing("openssl")


def openssl(*arguments: object) -> None:
    subprocess.run(
        ["openssl", *map(str, arguments)],
        check=True,
        capture_output=True,
    )


def authority(folder: Path, name: str, subject: str) -> Path:
    """A certificate that signs itself (``CA:TRUE``); its key lies beside it."""
    file = folder / f"{name}.pem"
    openssl(
        *("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", 2, "-subj", f"/CN={subject}"),
        *("-keyout", file.with_suffix(".key"), "-out", file),
    )
    return file


def signed(
    folder: Path,
    name: str,
    ca: Path,
    extension: str = "",
    *,
    subject: str = "",
    days: int = 2,
    version: int = 3,
) -> tuple[Path, Path]:
    """A certificate that ``ca`` signed, and its key.

    Args:
        folder: Where to put them.
        name: Of the files, and in the certificate unless there is a ``subject``.
        ca: See :func:`authority`.
        extension: In the words of ``openssl``, such as ``subjectAltName=IP:127.0.0.1``.
        subject: The common name.
        days: How long it is good for; below 0 it is so no more.
        version: Of X.509; 1 has no extensions at all.
    """
    file, request, words = (folder / f"{name}{end}" for end in (".pem", ".csr", ".ext"))
    key = file.with_suffix(".key")
    openssl(
        *("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={subject or name}"),
        *("-keyout", key, "-out", request),
    )
    words.write_text(f"basicConstraints=CA:FALSE\n{extension}\n")
    extensions = ("-extfile", words) if version == 3 else ()
    openssl(
        *("x509", "-req", "-in", request, "-CA", ca, "-CAkey", ca.with_suffix(".key")),
        *("-CAcreateserial", "-days", days, *extensions, "-out", file),
    )
    return file, key
