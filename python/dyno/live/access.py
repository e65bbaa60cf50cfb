"""Who may see the page: a token, its own host names, and no other site."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

_USUAL_PORT = 80
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Headers of every answer."""


@dataclass(frozen=True)
class Access:
    """The rules of one server.

    Attributes:
        host: Address that it listens on.
        port: Its port.
        token: The secret of the page's address.
    """

    host: str
    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    _tickets: set[str] = field(default_factory=set[str], repr=False)

    @property
    def cookie(self) -> str:
        """Name of the cookie: those of a host are shared by all its ports."""
        return f"dyno_live_{self.port}"

    @property
    def url(self) -> str:
        """The address of the page with the token."""
        return self._page(self.token)

    def once(self) -> str:
        """An address of the page that opens it once: command lines show it to other users."""
        ticket = secrets.token_urlsafe(24)
        self._tickets.add(ticket)
        return self._page(ticket)

    def takes(self, ticket: str | None) -> bool:
        """Whether this is the ticket of an address from :meth:`once`, which it uses up."""
        if ticket is None or ticket not in self._tickets:
            return False
        self._tickets.discard(ticket)
        return True

    def _page(self, token: str) -> str:
        return f"http://{_bracketed(self.host)}:{self.port}/?token={token}"

    def known_host(self, header: str) -> bool:
        """Whether a ``Host`` is this server's: another name may be a rebound one."""
        names = {self.host, "localhost", "127.0.0.1", "::1"} if self._local else {self.host}
        known = {_bracketed(name) for name in names}
        # Browsers leave out the usual port.
        ends = {f":{self.port}"} | ({""} if self.port == _USUAL_PORT else set())
        return header in {f"{name}{end}" for name in known for end in ends}

    def own_origin(self, headers: Mapping[str, str]) -> bool:
        """Whether a request comes from the page itself, from no page, or opens the page."""
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
        if origin is not None and origin != f"http://{headers.get('host')}":
            return False
        opens = headers.get("sec-fetch-mode") == "navigate"
        return site in ("same-origin", "none") or opens

    def right_token(self, *given: str | None) -> bool:
        """Whether one of the given tokens is right."""
        own = self.token.encode()
        return any(hmac.compare_digest(one.encode(), own) for one in given if one)

    @property
    def _local(self) -> bool:
        return ipaddress.ip_address(self.host).is_loopback


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
