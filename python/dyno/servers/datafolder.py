"""The data folder of a private server: created completely or not at all, owned by its server."""

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
    """Creates and recognizes the data folders of a product.

    Attributes:
        product: The product.
        server: Path of the server program.
    """

    product: Product
    server: str

    @abstractmethod
    def command(self, folder: Path) -> list[str]:
        """The command that initializes the existing, empty ``folder``."""

    @abstractmethod
    def cause(self, lines: Sequence[str]) -> str | None:
        """The line of that command's output with the cause of a failure; None if there is none."""

    @abstractmethod
    def require_own(self, folder: Path) -> None:
        """Checks that this version can serve ``folder``.

        Raises:
            TargetError: If it cannot, with the reason.
        """


def prepare(home: Path, maker: Maker, lock: int) -> tuple[Path, Identity]:
    """Prepares ``home/data`` for the server.

    An existing data folder is reused with its data. ``lock`` is the descriptor of the engine's
    lock;
    the caller holds it.

    Returns:
        The data folder and the identity of its server.

    Raises:
        TargetError: If it belongs to another user or version, or cannot be created.
    """
    data, partial = home / "data", home / "data.partial"
    shutil.rmtree(partial, ignore_errors=True)  # left by a killed start
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
    """Changes the owner of ``folder`` to the identity of the server."""
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
    if {"\n", "\r"} & set(str(partial)):  # with a line break, the message is only part of the path
        cause = "the path of --out has a line break. Give another --out DIR."
    message = f"{maker.product.name}'s data folder could not be made: {cause}"
    raise full(message) if maker.product.reports_full_disk(printed) else TargetError(message)


def _tree(folder: Path) -> Iterator[Path]:
    yield folder
    for place, folders, files in os.walk(folder):
        yield from (Path(place, name) for name in (*folders, *files))
