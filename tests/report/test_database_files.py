"""Files and waits that a database counts, on the page and as metrics of a phase."""

from __future__ import annotations

from pathlib import Path

import pytest

from dyno.bundle.inside import CLERKS, FILES, WAITS, Files
from tests.bundle_data import SECOND
from tests.bundles import Builder, quickstart
from tests.judged import judged
from tests.report.conftest import Report, report_of

PHASE = "resource.oltp-tpcc-postgresql-users-16"
DATA, FILE = "postgresql/data", "postgresql/data/dyno_tpcc/tpcc.1"


def counted(builder: Builder) -> Builder:
    """Adds a slow second with few requests to each second that has many."""
    rows = builder.tables.setdefault("samples", [])
    for phase in [one for one in builder.phases if one.kind == "oltp"]:
        for at in range(phase.start_ns + SECOND, (phase.end_ns or 0) + 1, SECOND):
            slow = at // SECOND % 2 == 0
            values = {Files.reads: 10.0 if slow else 990.0, Files.read: 100.0 if slow else 1.0,
                      Files.size: 4e9}  # fmt: skip
            rows += [
                {"t_ns": at, "source": FILES, "subject": subject, "metric": metric,
                 "value": value, "unit": metric.unit}
                for subject in (DATA, FILE)
                for metric, value in values.items()
            ]  # fmt: skip
            waits = {"log/WRITELOG": 2.0} if slow else {"lock/LCK_M_X": 4.0}
            rows += [
                {"t_ns": at, "source": WAITS, "subject": "postgresql", "metric": wait,
                 "value": value, "unit": "count"}
                for wait, value in waits.items()
            ]  # fmt: skip
            rows.append({"t_ns": at, "source": CLERKS, "subject": "postgresql",
                         "metric": "BUFFERS", "value": 1e9, "unit": "B"})  # fmt: skip
    return builder


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return report_of(judged(counted(quickstart(tmp_path_factory.mktemp("files"))).write()))


def rows(found: Report, caption: str) -> list[dict[str, str]]:
    head, *body = found.page.table(caption)
    return [dict(zip(head, row, strict=True)) for row in body]


def test_times_are_means_over_requests(found: Report) -> None:
    for subject in (DATA, FILE):
        value = found.judged.value(f"{PHASE}.files.{subject}.read.mean")
        assert value == pytest.approx((10 * 100 + 990 * 1) / 1000, rel=0.2)  # not 50
    assert found.judged.value(f"{PHASE}.clerks.postgresql.BUFFERS.mean") == 1e9


def test_a_wait_that_is_not_always_there_counts_as_none_meanwhile(found: Report) -> None:
    at = f"{PHASE}.waits.postgresql"
    assert found.judged.value(f"{at}.log/WRITELOG.mean") == pytest.approx(1, rel=0.1)
    assert found.judged.value(f"{at}.lock/LCK_M_X.mean") == pytest.approx(2, rel=0.1)


def test_the_page_has_roles_files_and_waits(found: Report) -> None:
    shown = [row for row in rows(found, "Files by phase") if row["Phase"].endswith("16 users")]
    assert [(row["Role"], row["File"]) for row in shown] == [
        ("data", "all"),
        ("data", "dyno_tpcc/tpcc.1"),
    ]
    assert float(shown[0]["Read, ms"]) == pytest.approx(1.99, rel=0.1)
    waits = [row for row in rows(found, "Waits by phase") if row["Phase"].endswith("16 users")]
    assert [(row["Class"], row["Wait"]) for row in waits] == [
        ("lock", "LCK_M_X"),
        ("log", "WRITELOG"),
    ]


def test_a_database_that_counts_none_has_no_section(tmp_path: Path) -> None:
    whole = report_of(judged(quickstart(tmp_path).inside().write()))
    assert "database-files" not in set(whole.page.sections())
