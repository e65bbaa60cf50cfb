"""Sizes and times as people write them."""

from __future__ import annotations

import pytest

from dyno.config.units import parse_bytes, parse_seconds
from dyno.errors import UsageError


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1", 1),
        ("512M", 512 << 20),
        ("2GiB", 2 << 30),
        ("2gb", 2 << 30),
        ("1.5k", 1536),
        (" 4T ", 4 << 40),
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30", 30), ("30s", 30), ("500ms", 0.5), ("5m", 300), ("1h", 3600), ("0.5s", 0.5)],
)
def test_times(text: str, seconds: float) -> None:
    assert parse_seconds(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "x", "-1", "0", "nan", "inf", "1 2", "M", "ms", "1e30"])
def test_nonsense_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_bytes(text)
    with pytest.raises(UsageError):
        parse_seconds(text)


def test_no_time_at_all_only_where_it_makes_sense() -> None:
    assert parse_seconds("0s", none=True) == 0
    with pytest.raises(UsageError, match="is not a valid time"):
        parse_seconds("-1s", none=True)
