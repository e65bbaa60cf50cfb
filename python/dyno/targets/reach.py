"""What to do about a server that does not answer: here it can be started, elsewhere not."""

from __future__ import annotations

import socket
from ipaddress import ip_address

import psutil


def is_here(host: str) -> bool:
    """Whether a host of a URL is this machine: no host, a socket's path, or one of its own names.

    Nothing is looked up: the name may be what is wrong.
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
    """The sentence about a server that does not answer, without its full stop.

    Args:
        server: What was tried, such as ``PostgreSQL at db1:5432``.
        host: Its host in the URL.
        where: The parts of the URL that say where it is.
        listens: Settings by which a server accepts connections from elsewhere.
    """
    if is_here(host):
        return f"{server} does not respond; start it, or correct {where} in the URL"
    return (
        f"{server} does not respond; check host and port in the URL, the firewall, and "
        "that the server is running and accepts connections from this machine "
        f"({listens})"
    )
