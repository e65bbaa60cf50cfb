"""What to install to run the tests that were skipped: the last line of the suite."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

_REMEDIES = (
    (r"mariadb", "MariaDB (apt install mariadb-server)"),
    (r"clickhouse|chdb", "ClickHouse (.venv/bin/pip install chdb)"),
    (r"chromium", "Chromium (apt install chromium chromium-driver)"),
    (r"hypopg", "hypopg (apt install postgresql-15-hypopg)"),
    (r"system's postgresql", "a second PostgreSQL (apt install postgresql)"),
    (r"\bfio\b", "fio (apt install fio)"),
    (r"openssl", "OpenSSL (apt install openssl)"),
    (r"prometheus", "Prometheus (apt install prometheus)"),
    (r"tpchgen|dyno\._core", "the Python packages (make build)"),
    (r"sysstat", "sysstat (apt install sysstat)"),
    (r"setpriv", "setpriv (apt install util-linux)"),
    (r"prometheus-\w+-exporter", "exporters (apt install prometheus-{node,postgres}-exporter)"),
    (r"sshd", "an SSH server (apt install openssh-server)"),
    (r"fusermount3", "FUSE for users (apt install fuse3)"),
    (r"\bgcc\b", "gcc (apt install gcc)"),
    (r"DYNO_TEST_MYSQL_URL", "MySQL (set DYNO_TEST_MYSQL_URL)"),
    (r"DYNO_TEST_MSSQL_URL", "SQL Server or Babelfish (set DYNO_TEST_MSSQL_URL)"),
    (r"DYNO_TEST_BABELFISH", "Babelfish (set DYNO_TEST_BABELFISH to its folder)"),
    (
        r"\broot\b|right to mount|loop device|control group|user namespace|name space",
        "rights (run as root, on a machine and not in a container)",
    ),
)
"""What a reason for a skip says, and the component with the way to get it."""

OTHER = "other reasons (listed above)"


def remedies(reasons: Iterable[str]) -> str:
    """The line for these reasons, most tests first; empty if there are none."""
    counts = Counter(_remedy(reason) for reason in reasons)
    if not counts:
        return ""
    total = counts.total()
    each = ", ".join(f"{name} {count}" for name, count in counts.most_common())
    return f"{total} test{'' if total == 1 else 's'} skipped. To run them: {each}."


def _remedy(reason: str) -> str:
    found = (name for words, name in _REMEDIES if re.search(words, reason, re.IGNORECASE))
    return next(found, OTHER)
