"""The live page as a user starts it, and bundles with all that it shows."""

from __future__ import annotations

import contextlib
import json
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import bundle_data as data
from tests.bundles import Builder, quickstart
from tests.process import COMMAND

SECOND = data.SECOND


@dataclass(frozen=True)
class Page:
    """A page that is served."""

    url: str
    process: subprocess.Popen[str]

    @property
    def token(self) -> str:
        return urllib.parse.parse_qs(urllib.parse.urlsplit(self.url).query)["token"][0]

    @property
    def base(self) -> str:
        return self.url.partition("/?")[0]

    def get(self, path: str, headers: dict[str, str] | None = None) -> tuple[int, bytes, Any]:
        """Status, body and headers; with the token unless ``headers`` are given."""
        given = {"Authorization": f"Bearer {self.token}"} if headers is None else headers
        opener = urllib.request.build_opener(_NoRedirect)
        try:
            with opener.open(urllib.request.Request(self.base + path, headers=given)) as answer:
                return answer.status, answer.read(), answer.headers
        except urllib.error.HTTPError as error:
            return error.code, error.read(), error.headers

    def head(self) -> dict[str, Any]:
        return json.loads(self.get("/api/head")[1])


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


@contextlib.contextmanager
def served(run: Path, *more: str) -> Iterator[Page]:
    """``dyno watch`` of a run."""
    process = subprocess.Popen(
        [*COMMAND, "watch", str(run), *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, start_new_session=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("Live page: "), (line, process.communicate()[1])
        yield Page(line.removeprefix("Live page: ").strip(), process)
    finally:
        process.terminate()
        process.communicate()


def everything(out: Path) -> Builder:
    """A whole run with samples from inside the database and of another machine."""
    builder = quickstart(out)
    rows = builder.tables["samples"]
    moments = sorted({row["t_ns"] for row in rows})
    for place, moment in enumerate(moments):
        wave = 1 + 0.3 * ((place % 20) / 20)
        values: list[tuple[str, str, str, float, str]] = [
            ("sessions", "postgresql", "cpu/running", 1.4 * wave, "count"),
            ("sessions", "postgresql", "log/WALSync", 2.1 * wave, "count"),
            ("sessions", "postgresql", "lock/transactionid", 0.4 * wave, "count"),
            ("database", "postgresql", "hit_ratio", 97 + wave, "%"),
            ("database", "postgresql", "logical_reads", 41_000 * wave, "1/s"),
            ("database", "postgresql", "physical_reads", 900 * wave, "1/s"),
            ("database", "postgresql", "log_mbps", 12 * wave, "MB/s"),
            ("database", "postgresql", "log_flush", 1.8 * wave, "ms"),
            ("cpu@db1", "host", "user", 31 * wave, "%"),
            ("cpu@db1", "host", "steal", 4 * wave, "%"),
            ("network", "tcp", "retransmitted", 0.02 * wave, "%"),
        ]
        for disk in range(5):
            values += [
                ("disk", f"nvme{disk}n1", "read_iops", 300 * wave * disk, "1/s"),
                ("disk", f"nvme{disk}n1", "read_await", 0.2 * wave * (disk + 1), "ms"),
            ]
        rows += [
            {"t_ns": moment, "source": source, "subject": subject, "metric": metric,
             "value": value, "unit": unit}
            for source, subject, metric, value, unit in values
        ]  # fmt: skip
    return builder
