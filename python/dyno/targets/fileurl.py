"""File URLs of databases: ``name:///absolute`` or ``name:relative``."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from dyno.contracts.target import TargetUrl
from dyno.errors import TargetError, UsageError


def file_of(url: TargetUrl, product: str) -> Path:
    """The absolute path of the file of a URL.

    Args:
        url: The URL; its scheme is also the usual file extension.
        product: The database system, for messages.

    Raises:
        UsageError: If the URL names no file.
    """
    scheme = url.scheme
    parts = urlsplit(url.text)
    if parts.netloc:
        raise UsageError(
            f"A {product} file has no host, user or password: write "
            f"{scheme}:///absolute/file or {scheme}:relative-file."
        )
    path = unquote(parts.path)
    if parts.query or not path or path.endswith((":memory:", "/")):
        raise UsageError(
            f"The URL has no file: write {scheme}:///absolute/file.{scheme} or "
            f"{scheme}:relative.{scheme}."
        )
    return Path(f"/{path.lstrip('/')}" if path.startswith("/") else path).absolute()


def missing(file: Path) -> TargetError:
    """The error for a missing file, if nothing will be loaded into it."""
    return TargetError(f"No such file: {file}. Create it with `dyno load`.")
