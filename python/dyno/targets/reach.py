"""Advice for a server that does not respond: start it here, or check the network."""

from __future__ import annotations

import socket
from ipaddress import ip_address

import psutil

LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""Names of this machine that lead to the same server. Servers may have other loopback addresses
each."""


def spelled_alike(host: str) -> str:
    """A host in one spelling: no host is this machine."""
    name = host.lower().strip("[]").rstrip(".")
    return "localhost" if not name or name in LOOPBACK else name


def is_here(host: str) -> bool:
    """Whether a URL's host is this machine: no host, a socket's path, or one of its names.

    Does no DNS lookup: the name may be wrong.
    """
    if not host or host[0] in "/@" or host in ("localhost", socket.gethostname()):
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    own = {item.address for addresses in psutil.net_if_addrs().values() for item in addresses}
    return address.is_loopback or host in own


def no_answer(server: str, host: str, where: str, listens: str) -> str:
    """The message for a server that does not respond, without its full stop.

    Args:
        server: The server, such as ``PostgreSQL at db1:5432``.
        host: Its host in the URL.
        where: The parts of the URL with its address.
        listens: Settings that let a server accept remote connections.
    """
    if is_here(host):
        return f"{server} does not respond; start it, or correct {where} in the URL"
    return (
        f"{server} does not respond; check host and port in the URL, the firewall, and "
        "that the server is running and accepts connections from this machine "
        f"({listens})"
    )
