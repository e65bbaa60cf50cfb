"""``--pdf``: the page of a run or of a study on paper."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from dyno.cli import cli
from dyno.errors import UsageError
from dyno.report.kit import pdf
from tests.bundles import Builder
from tests.conftest import missing


def report(bundle: Path) -> int:
    words = ["report", str(bundle), "--pdf"]
    return (
        CliRunner().invoke(cli, words, standalone_mode=False, catch_exceptions=False).return_value
    )


def test_the_report_on_paper(tmp_path: Path) -> None:
    if not any(map(shutil.which, pdf.BROWSERS)):
        missing("Chromium")
    path = Builder(tmp_path / "run").machine().oltp(4).write().path
    assert report(path) in {0, 1}
    assert (path / "sheet.pdf").read_bytes().startswith(b"%PDF")


def test_without_a_browser_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Builder(tmp_path / "run").machine().oltp(4).write().path
    before = sorted(path.iterdir())
    monkeypatch.setattr(pdf, "BROWSERS", ())
    with pytest.raises(UsageError, match="Chromium"):
        report(path)
    assert sorted(path.iterdir()) == before
