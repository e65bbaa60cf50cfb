"""The data folder of a private server: made whole or not at all, and owned by its server."""

from __future__ import annotations

import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path

from dyno.errors import TargetError
from dyno.servers.daemon import full
from dyno.servers.identity import Identity, choose
from dyno.servers.product import Product


class Maker(ABC):
    """How a product makes a data folder, and knows one of its own.

    Attributes:
        product: The product.
        server: Path of the program that serves the folder.
    """

    product: Product
    server: str

    @abstractmethod
    def command(self, folder: Path) -> list[str]:
        """What makes ``folder``, which exists and is empty, a data folder."""

    @abstractmethod
    def cause(self, lines: Sequence[str]) -> str | None:
        """The line of that command's output that says why it failed; None if none does."""

    @abstractmethod
    def require_own(self, folder: Path) -> None:
        """Passes if this version can serve ``folder``.

        Raises:
            TargetError: If it cannot, saying why.
        """


def prepare(home: Path, maker: Maker, lock: int) -> tuple[Path, Identity]:
    """Makes ``home/data`` ready to be served.

    A data folder that exists is kept with what is loaded in it. ``lock`` is the descriptor of the
    engine's lock; the caller holds it.

    Returns:
        The data folder and whom its server must run as.

    Raises:
        TargetError: If it belongs to another user or version, or cannot be made.
    """
    data, partial = home / "data", home / "data.partial"
    shutil.rmtree(partial, ignore_errors=True)  # of a start that was killed
    owner = data.stat().st_uid if data.exists() else None
    uid = os.geteuid()
    if owner is not None and uid not in (0, owner):
        raise TargetError(
            f"{data} belongs to user id {owner}; run dyno as that user or give another --out DIR.",
            kind="denied",
        )
    identity = choose(uid, owner, home, maker.server, maker.product.name)
    if owner is None:
        _make(partial, identity, maker, lock)
        partial.rename(data)
        return data, identity
    maker.require_own(data)
    if owner != identity.owner[0]:
        for path in _tree(data):
            os.chown(path, *identity.owner, follow_symlinks=False)
    return data, identity


def give(folder: Path, identity: Identity) -> None:
    """Hands ``folder`` over to whom the server runs as."""
    if identity.owner[0] != os.geteuid():
        os.chown(folder, *identity.owner)


def _make(partial: Path, identity: Identity, maker: Maker, lock: int) -> None:
    partial.mkdir(mode=0o700)
    give(partial, identity)
    command = maker.command(partial)
    code, printed = identity.run(command, partial, keep=[lock])
    if code == 0:
        return
    shutil.rmtree(partial, ignore_errors=True)
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    cause = maker.cause(lines) or f"{Path(command[0]).name} ended with {code}"
    if {"\n", "\r"} & set(str(partial)):  # of which its words are a torn piece
        cause = "the path of --out has a line break. Give another --out DIR."
    message = f"{maker.product.name}'s data folder could not be made: {cause}"
    raise full(message) if maker.product.tells_full_disk(printed) else TargetError(message)


def _tree(folder: Path) -> Iterator[Path]:
    yield folder
    for place, folders, files in os.walk(folder):
        yield from (Path(place, name) for name in (*folders, *files))
