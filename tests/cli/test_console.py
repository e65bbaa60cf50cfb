"""The bar of a phase keeps to one line of the terminal, with the time that is left."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from dyno.cli._console import Bar, bars_on, cut

LONG = "Online reindex of postgresql under 16 users in 4 databases, and more of it"
STEP = "112.6M rows 11336 MB 1042 MB/s"


@pytest.mark.parametrize("width", [60, 80, 200])
@pytest.mark.parametrize("title", ["Load tpch into postgresql", LONG])
def test_a_bar_keeps_to_its_line(width: int, title: str) -> None:
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    bars = bars_on(console)
    Bar(bars, title).update(40, 100, STEP)
    with console.capture() as captured:
        console.print(bars.get_renderable())
    (line,) = captured.get().splitlines()
    assert len(line) <= width
    assert " 40% --:-- " in line
    assert (STEP if width == 200 else cut(STEP, 26)) in line or width == 60
    assert title in line or width < 200


def test_a_cut_text_says_so() -> None:
    assert cut("abcdefghijklmn", 13) == "abcdefghijkl…"
    assert cut("abcdefghijklmn", 14) == "abcdefghijklmn"
    assert cut("abcdefghijklmn", 1) == "abcdefghijk…"
