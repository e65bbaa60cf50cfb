"""The data directory of ClickHouse: location and contents."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from dyno.contracts.target import TargetUrl
from dyno.errors import TargetError, UsageError

_OWN = {"metadata", "store", "data"}
CHDB_READS = "?&=#"
"""Characters that a path must not contain, as chdb interprets them."""


def locate(url: TargetUrl, out: Path) -> Path:
    """The directory that a URL names, or the private one under ``out``.

    Raises:
        UsageError: If the URL has no directory, or one that chdb does not support.
    """
    if url.scheme == "embedded":
        folder = (out / "engines" / "clickhouse").absolute()
    else:
        parts = urlsplit(url.text)
        if parts.netloc:
            raise UsageError(
                "Dyno runs ClickHouse in-process (chdb), on a directory, not over the network: "
                "write clickhouse:///absolute/directory or clickhouse:relative/directory."
            )
        path = unquote(parts.path)
        if parts.query or not path.strip("/"):
            raise UsageError(
                "The URL has no directory: write clickhouse:///absolute/directory or "
                "clickhouse:relative/directory."
            )
        folder = Path(f"/{path.lstrip('/')}" if path.startswith("/") else path).absolute()
    if found := set(CHDB_READS) & set(str(folder)):
        raise UsageError(f"{folder}: chdb does not support {' '.join(sorted(found))} in a path.")
    return folder


def prepare(folder: Path, *, private: bool) -> None:
    """Creates the directory if necessary; rejects one with other contents.

    Raises:
        TargetError: If it is not a ClickHouse directory, or cannot be created or read.
    """
    try:
        folder.mkdir(parents=private, exist_ok=True)
        names = {entry.name for entry in folder.iterdir()}
    except FileExistsError as error:
        raise TargetError(f"{folder} is a file; use a directory.") from error
    except OSError as error:
        advice = "another --out DIR" if private else "another directory"
        message = f"Cannot use {folder}: {error.strerror}. Use {advice}."
        raise TargetError(message, kind="io") from error
    if names - {"tmp", "status"} and not names & _OWN:
        raise TargetError(
            f"{folder} contains files that are not ClickHouse's ({min(names)} …); use an "
            "empty directory or a ClickHouse directory."
        )
