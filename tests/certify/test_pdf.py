"""The certificate on paper: one A4 page, also with as much as it shows."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from dyno.bundle import certified
from dyno.bundle.model import Check
from dyno.bundle.reader import Bundle
from dyno.errors import UsageError
from dyno.report.kit import pdf
from tests.certify import made
from tests.certify.test_certificate import issued
from tests.conftest import missing

LONG = "NVMe SSD 6.4 TB, read intensive, workload accelerator, number"


def full(path: Path) -> Bundle:
    """A certificate with both forms, all marks, and more rows than it shows."""
    item = {"sku": "831739-B21", "quantity": 8, "price": 7999.0, "watts": 25.0}
    bom = {"currency": "EUR", "items": [{**item, "name": f"{LONG} {at}"} for at in range(20)]}
    builder = made.built(
        path,
        {"postgresql": "row", "duckdb": "column"},
        queries=15,
        quick=True,
        reference={**made.REFERENCE, "scale": 1.0},
        bom=bom,
        tps={"run": "20261126T000000Z-aaaa", "tps": 1054.2},
    )
    hardware = builder.host["hardware"]
    volume, port = hardware["volumes"][0], hardware["nics"][0]
    hardware["volumes"] = [
        {**volume, "device": f"nvme{at}n1", "mount_point": f"/srv/database/data{at}"}
        for at in range(12)
    ]
    hardware["nics"] = [{**port, "name": f"enp{at}s0f0"} for at in range(4)]
    builder.host["memory"] = {**builder.host["memory"], "total_bytes": 10**12}
    builder.checks = [
        Check(name="expected answers", target=name, passed=None, message="skipped: none")
        for name in ("postgresql", "duckdb")
    ]
    return issued(builder.write())


def test_a_full_certificate_is_one_page(tmp_path: Path) -> None:
    if not any(map(shutil.which, pdf.BROWSERS)):
        missing("Chromium")
    found = pdf.printed((full(tmp_path).path / certified.PAGE).read_text())
    assert found.startswith(b"%PDF")
    assert len(re.findall(rb"/Type /Page\b", found)) == 1


def test_without_a_browser_the_reason_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(UsageError) as caught:
        pdf.browser()
    assert "Chromium" in str(caught.value)
