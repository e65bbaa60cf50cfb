"""The private MariaDB in tests: it needs the system's package."""

from __future__ import annotations

from dyno.errors import TargetError
from dyno.targets.mysql import binaries
from tests.conftest import missing


def require_mariadb() -> None:
    """Skips where there is no ``mariadbd``; under the gate that is a failure."""
    try:
        binaries.find()
    except TargetError:
        missing("mariadb-server")
