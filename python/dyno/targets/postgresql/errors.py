"""PostgreSQL errors, mapped to the classes of a bundle (as in the Rust driver)."""

from __future__ import annotations

import psycopg

from dyno.errors import DynoError, error_of_kind
from dyno.targets.reach import no_answer

_EXACT = {
    "40P01": "deadlock",
    "40001": "serialization",
    "53100": "disk_full",
    "53400": "disk_full",
    "53200": "out_of_memory",
    "53300": "too_many_connections",
    "57014": "timeout",
    "55P03": "lock_timeout",
    "42501": "denied",
    "08P01": "protocol",
    "57P03": "unreachable",
    "3D000": "unreachable",
    "58030": "io",
    "25P03": "connection_lost",
    "25P04": "connection_lost",
}
_PREFIXES = {"28": "denied", "08": "connection_lost", "57P0": "connection_lost"}

# Exhausted resources with a misleading SQLSTATE, and advice.
_WORDS = (
    (
        "temp_file_limit",
        "disk_full",
        "; raise temp_file_limit, or raise work_mem to spill less",
    ),
    ("shared memory segment", "out_of_memory", "; give the server more shared memory (/dev/shm)"),
    ("out of shared memory", "out_of_memory", "; raise max_locks_per_transaction on the server"),
    ("No space left on device", "disk_full", "; free space on the server's volume"),
)

_STOPPED = "The statement exceeded its time limit and was cancelled"
_CANCELLED = "; another session or an administrator cancelled it"

_ADVICE = {
    "lock_timeout": "; another session held a lock for the whole timeout",
    "disk_full": "; free space on the server's volume",
    "too_many_connections": "; raise max_connections on the server or use fewer sessions",
    "out_of_memory": "; give the server more memory or lower work_mem",
}


def kind_of(sqlstate: str) -> str:
    """The class of an SQLSTATE (PostgreSQL manual, appendix A)."""
    if sqlstate in _EXACT:
        return _EXACT[sqlstate]
    for prefix, kind in _PREFIXES.items():
        if sqlstate.startswith(prefix):
            return kind
    return "database"


def statement_error(error: psycopg.Error, *, lost: bool, stopped: bool = False) -> DynoError:
    """The error for a failed statement.

    Args:
        error: The driver's exception.
        lost: Whether the session broke.
        stopped: Whether Dyno asked the server to stop the statement.
    """
    state = error.sqlstate or ""
    kind = kind_of(state)
    advice = _ADVICE.get(kind, "")
    message = error.diag.message_primary or _first_line(str(error))
    if lost:
        kind, advice = "connection_lost", ""
    elif state == "57014" and stopped:
        message = _STOPPED
    elif state == "57014" and "user request" in message:
        advice = _CANCELLED
    else:
        for words, known, what_to_do in _WORDS:
            if words in str(error):
                kind, advice = known, what_to_do
                break
    label = f" [SQLSTATE {state}]" if state else ""
    return error_of_kind(kind, f"{_sentence(message)}{advice}{label}.")


def connect_error(error: psycopg.Error, server: str, host: str = "") -> DynoError:
    """The error for a failed connection, with advice.

    libpq has the SQLSTATE only in its text, so Dyno parses the text.

    Args:
        error: The driver's exception.
        server: The server, such as ``PostgreSQL at db1:5432``, without a password.
        host: Its host; empty for libpq's default socket.
    """
    silent = no_answer(server, host, "host and port", "listen_addresses, pg_hba.conf")
    text = " ".join(str(error).split())
    for words, kind, message in (
        ("no password supplied", "denied", f"{server} requires a password; {_PASSWORD}"),
        (
            "password authentication failed",
            "denied",
            f"{server} rejected the password; {_PASSWORD}",
        ),
        (
            ", no encryption",  # also without TLS: libpq does not report sslmode here
            "denied",
            f"{server} requires TLS from this client: {_after_fatal(text)}; use "
            "sslmode=require (or verify-full) in the URL, or add an entry on the server",
        ),
        (
            "does not have CONNECT privilege",
            "denied",
            f"{server}: {_after_fatal(text)}; an administrator must run GRANT CONNECT ON "
            "DATABASE for this role",
        ),
        (
            "no pg_hba.conf entry",
            "denied",
            f"{server} does not accept this client: {_after_fatal(text)}; add an entry on "
            "the server",
        ),
        (
            "requires a valid client certificate",
            "denied",
            f"{server} requires a client certificate; set sslcert and sslkey in the URL",
        ),
        (
            "does not support SSL",
            "unreachable",
            f"{server} does not offer TLS; turn it on there (ssl = on), or connect without "
            "it (sslmode=disable)",
        ),
        (
            "certificate verify failed",
            "unreachable",
            f"The certificate of {server} is not trusted; it must be valid now and signed "
            "by an authority in the URL's sslrootcert",
        ),
        (
            "does not match host name",
            "unreachable",
            f"The certificate of {server} is for another host: {_after_failed(text)}; use "
            "the certificate's host name in the URL",
        ),
        ("certificate", "unreachable", f"TLS with {server} failed: {_after_failed(text)}"),
        ("private key", "unreachable", f"TLS with {server} failed: {_after_failed(text)}"),
        (
            "does not exist",
            "unreachable",
            f"{server} is up, but {_after_fatal(text)}; create it, or correct the URL",
        ),
        ("Connection refused", "unreachable", silent),
        ("No such file", "unreachable", silent),
        ("could not translate host name", "unreachable", f"The host of {server} {_UNKNOWN}"),
        ("failed to resolve host", "unreachable", f"The host of {server} {_UNKNOWN}"),
        (
            "server closed the connection unexpectedly",
            "unreachable",
            f"{server} accepted the connection and closed it; is it PostgreSQL?",
        ),
        ("timeout expired", "unreachable", silent),
        ("expected authentication request", "unreachable", f"{server} {_FOREIGN}"),
        ("invalid authentication request", "unreachable", f"{server} {_FOREIGN}"),
        ("invalid response to SSL negotiation", "unreachable", f"{server} {_FOREIGN}"),
        ("unexpected message from server", "unreachable", f"{server} {_FOREIGN}"),
        ("lost synchronization with server", "unreachable", f"{server} {_FOREIGN}"),
        ("too many clients", "too_many_connections", f"{server} has no free connection"),
        ("remaining connection slots", "too_many_connections", f"{server} has no free connection"),
        ("starting up", "unreachable", f"{server} is still starting; try again"),
        ("SSL", "unreachable", f"No secure connection to {server}: {_after_fatal(text)}"),
    ):
        if words in text:
            return error_of_kind(kind, message if message.endswith("?") else f"{message}.")
    return error_of_kind("unreachable", f"Cannot connect to {server}: {_after_fatal(text)}.")


_PASSWORD = "set the right one in the URL, in PGPASSWORD or in ~/.pgpass"  # noqa: S105
_FOREIGN = "does not speak the PostgreSQL protocol; correct host and port in the URL"
_UNKNOWN = "cannot be resolved; correct the URL or this machine's DNS"


def _after_fatal(text: str) -> str:
    return text.rpartition("FATAL: ")[2].strip().rstrip(".")


def _after_failed(text: str) -> str:
    return text.rpartition(" failed: ")[2].strip().rstrip(".")


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "unknown error")


def _sentence(text: str) -> str:
    text = " ".join(text.split()).rstrip(".")
    return text[:1].upper() + text[1:]
