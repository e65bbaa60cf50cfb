"""An agent's HTTP server, with TLS if it has a certificate."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import ssl
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qsl, urlsplit

from dyno.agent.protocol import MOST_REQUEST_BYTES
from dyno.agent.service import RefusedError, Service
from dyno.errors import TargetError, UsageError
from dyno.safety import plainjson

_MOST_CONNECTIONS = 32
_SILENT_S = 60.0
"""A connection that sends nothing for this long is closed."""


@dataclass(frozen=True)
class Where:
    """Where an agent listens, and how it proves itself.

    Attributes:
        cert, key: PEM files of its certificate; ``key`` may be in ``cert``.
        client_ca: PEM file of the authorities whose certificates admit clients.
        plain: Whether HTTP without TLS is wanted on an address that other machines reach.
    """

    host: str = "127.0.0.1"
    port: int = 0
    cert: Path | None = None
    key: Path | None = None
    client_ca: Path | None = None
    plain: bool = False


class Listener(ThreadingHTTPServer):
    """Accepts connections from its start on; one thread a connection, a bounded number of them."""

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True

    def __init__(self, service: Service, where: Where) -> None:
        """Binds the address.

        Raises:
            UsageError: If the address is not an IP address, or needs TLS.
            TargetError: If it cannot be bound, or a certificate cannot be read.
        """
        address = _address(where)
        self.address_family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
        self.service = service
        self._tls = _context(where)
        self._free = threading.BoundedSemaphore(_MOST_CONNECTIONS)
        try:
            super().__init__((str(address), where.port), _Handler)
        except OSError as error:
            reason = error.strerror or str(error)
            raise TargetError(
                f"Cannot listen on {address}, port {where.port}: {reason}."
            ) from error

    @property
    def url(self) -> str:
        """Its address."""
        host, port = self.server_address[:2]
        shown = f"[{host!s}]" if ":" in str(host) else str(host)
        return f"{'http' if self._tls is None else 'https'}://{shown}:{port}"

    def get_request(self) -> tuple[Any, Any]:
        """Accepts a connection. The thread that serves it does the handshake."""
        accepted, address = super().get_request()
        accepted.settimeout(_SILENT_S)
        if self._tls is None:
            return accepted, address
        try:
            wrapped = self._tls.wrap_socket(
                accepted, server_side=True, do_handshake_on_connect=False
            )
        except OSError:
            accepted.close()
            raise
        return wrapped, address

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serves a connection in a thread, or closes it if there are too many."""
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serves a connection to its end."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Says nothing: a broken connection is the client's matter."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # an answer is one packet, if it fits
    server_version, sys_version = "dyno", ""

    def do_GET(self) -> None:
        self._serve(None)

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MOST_REQUEST_BYTES:
            self.close_connection = True
            self._send(413, b'{"error": "the request is too large"}')
            return
        self._serve(self.rfile.read(int(length)))

    def _serve(self, body: bytes | None) -> None:
        split = urlsplit(self.path)
        query = dict(parse_qsl(split.query))
        authorization = self.headers.get("Authorization", "")
        try:
            service = cast("Listener", self.server).service
            self._send(200, service.answer(split.path, query, authorization, body))
        except RefusedError as error:
            self._send(error.status, plainjson.dumps({"error": str(error)}).encode())

    def _send(self, status: int, content: bytes) -> None:
        with contextlib.suppress(OSError):
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Says nothing: requests come every second."""


def _address(where: Where) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    try:
        address = ipaddress.ip_address(where.host)
    except ValueError:
        raise UsageError(
            f"--listen takes an IP address, not {where.host}. Set the port with --port."
        ) from None
    if not address.is_loopback and where.cert is None and not where.plain:
        raise UsageError(
            f"Other machines reach {address}: give --cert FILE for HTTPS, or --plain-http to send "
            "token and samples unencrypted."
        )
    return address


def _context(where: Where) -> ssl.SSLContext | None:
    if where.cert is None:
        if where.client_ca is not None:
            raise UsageError("--client-ca requires --cert.")
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(where.cert, where.key)
        if where.client_ca is not None:
            context.load_verify_locations(where.client_ca)
            context.verify_mode = ssl.CERT_REQUIRED
    except OSError as error:
        raise TargetError(f"The certificate cannot be used: {error}.", kind="io") from error
    return context
