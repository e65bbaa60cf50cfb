"""``--pdf``: the page also as a PDF next to it."""

from __future__ import annotations

from pathlib import Path

import click

option = click.option("--pdf", is_flag=True, help="Also print a PDF; needs Chromium or Chrome.")


def require(wanted: bool) -> None:
    """Refuses the option before any work if no browser can print.

    Raises:
        UsageError: If none is installed.
    """
    from dyno.report.kit import pdf

    if wanted:
        pdf.browser()


def beside(page: Path) -> Path:
    """Prints a page; returns the path of the PDF.

    Raises:
        TargetError: If the browser fails, or the PDF cannot be written.
    """
    from dyno.report.kit import pdf

    path = page.with_suffix(".pdf")
    pdf.write(page.read_text(encoding="utf-8"), path)
    return path
