"""Addresses of agents and exporters on the command line: ``[NAME=]URL``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from dyno.agent.protocol import DEFAULT_PORT
from dyno.errors import UsageError, nearest
from dyno.safety.redaction import redact

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")
_FILES = ("ca", "cert", "key", "token_file")
_ASIDE = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True)
class Address:
    """Where an agent or exporter answers.

    Attributes:
        name: The machine's name in the record; empty for the one that it has itself.
        scheme: ``http``, ``https`` or ``ssh``.
        port: None if the URL has none.
        path: Of an exporter.
        ca, cert, key: PEM files: whom to trust, and the client's own certificate.
        token_file: File with the token; None for the environment.
        program: The command ``dyno`` on a machine reached by ``ssh``.
        text: The URL without passwords.
    """

    name: str
    scheme: str
    host: str
    port: int | None
    text: str
    user: str = ""
    path: str = ""
    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None
    token_file: Path | None = None
    program: str = "dyno"


def agent_address(text: str) -> Address:
    """Parses the address of an agent.

    Raises:
        UsageError: If it is invalid, or has a secret.
    """
    return _parsed(text, "--agent", ("http", "https", "ssh"), [*_FILES, "program"])


def exporter_address(text: str) -> Address:
    """Parses the address of an exporter.

    Raises:
        UsageError: If it is invalid, or has a secret.
    """
    return _parsed(text, "--exporter", ("http", "https"), ["ca", "cert", "key"])


def machine_name(text: str) -> str:
    """A name of a machine for sources of samples: a host's first label, of letters and digits."""
    return _ASIDE.sub("-", text.partition(".")[0]).strip("-_")[:63] or "server"


def _parsed(text: str, option: str, schemes: tuple[str, ...], options: list[str]) -> Address:
    head, equals, rest = text.partition("=")
    name, url = (head, rest) if equals and "://" not in head else ("", text)
    shown = redact(text)
    if name and not _NAME.fullmatch(name):
        raise UsageError(f"{option}: {name!r} is not a valid name; use letters, digits, - and _.")
    try:
        split = urlsplit(url)
        port, host = split.port, split.hostname or ""
    except ValueError as error:
        raise UsageError(f"{option} {shown}: {error}.") from error
    if split.scheme not in schemes or not host:
        words = ", ".join(f"{one}://HOST" for one in schemes)
        raise UsageError(f"{option} {shown}: give {words}, with an optional NAME= before it.")
    if split.password is not None or (split.username and split.scheme != "ssh"):
        raise UsageError(
            f"{option} {shown}: no secrets in the URL; use DYNO_AGENT_TOKEN or ?token_file=FILE."
        )
    # ssh(1) would take such a host or user for an option.
    if any(word.startswith("-") for word in (host, unquote(split.username or ""))):
        raise UsageError(f"{option} {shown}: a host or user does not begin with a dash.")
    given = dict(parse_qsl(split.query, keep_blank_values=True))
    for key in given:
        if key not in options:
            raise UsageError(f"{option} {shown}: unknown parameter {key}. {nearest(key, options)}")
    files = {key: Path(given[key]).expanduser() for key in _FILES if key in given}
    return Address(
        name,
        split.scheme,
        host,
        port,
        shown,
        unquote(split.username or ""),
        split.path,
        program=given.get("program", "dyno"),
        **files,
    )


def port_of(address: Address) -> int:
    """The port of an agent over HTTP."""
    return address.port or DEFAULT_PORT
