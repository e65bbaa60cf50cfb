"""Version and settings, read back from the server."""

from __future__ import annotations

from dyno.bundle.model import TargetFacts
from dyno.contracts.target import TargetUrl
from dyno.targets.sqlserver import TRIED, readback
from dyno.targets.sqlserver.address import Address
from dyno.targets.sqlserver.connection import Session

_WORD = {"SQL Server": "SQLServer", "Babelfish": "Babelfish"}


def version_text(session: Session) -> str:
    """The version as the record shows it: one word, the release, and the edition."""
    version = session.version
    word = _WORD.get(version.product, "SQLServer")
    name = str(version)
    rest = name.removeprefix(version.product).strip()
    if version.is_cloud:
        rest = name
    return " ".join(filter(None, (word, rest, version.edition)))


def read(session: Session, url: TargetUrl, address: Address) -> TargetFacts:
    """Version and settings of the live server."""
    return TargetFacts(
        url=url.redacted,
        place="machine" if address.is_local else "elsewhere",
        version=version_text(session),
        settings=readback.settings(session),
        untried="" if session.version.is_babelfish else TRIED,
    )
