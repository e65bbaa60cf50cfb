"""Neutral words: units, bounds, files, and one line that helps for what cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from dyno import targets
from dyno.config.settings import WORDS, Setting, as_record, bytes_text, parse
from dyno.contracts import tuning
from dyno.errors import UsageError

GIB = 1 << 30


def one(text: str, memory: int | None = 16 * GIB) -> Setting:
    (found,) = parse([text], None, memory)
    return found


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("memory=4GB", 4 * GIB),
        ("memory=4GiB", 4 * GIB),
        ("memory = 25% ", 4 * GIB),
        ("memory=12.5%", 2 * GIB),
        ("work_memory=64mb", 64 << 20),
        ("work_memory=1500KB", 1500 << 10),
        ("temp_limit=0", 0),
        ("temp_limit=10TB", 10 << 40),
        ("parallelism=2", 2),
        ("large_pages=TRY", "try"),
        ("large_pages=yes", "on"),
        ("checksums=false", "off"),
        ("commit=relaxed", "relaxed"),
        ("checkpoint_interval=5m", 300),
        ("checkpoint_interval=5min", 300),
        ("checkpoint_interval=90", 90),
    ],
)
def test_values_and_units(text: str, value: int | str) -> None:
    assert one(text).value == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("memory", "memory=4GB"),
        ("=4GB", "memory=4GB"),
        ("memroy=4GB", "Did you mean 'memory'?"),
        ("work_mem=4MB", "Did you mean 'work_memory'?"),
        ("grant=4MB", "Did you mean 'work_memory'?"),
        ("memory=much", "64MB or 4GiB"),
        ("memory=0", "from 1B"),
        ("memory=-1GB", "64MB or 4GiB"),
        ("memory=nan", "64MB or 4GiB"),
        ("memory=120%", "to 100 %"),
        ("memory=0%", "above 0 %"),
        ("memory=x%", "above 0 %"),
        ("memory=17GB", "this machine has 16GB"),
        ("parallelism=0", "from 1 to 1024"),
        ("parallelism=two", "whole number"),
        ("parallelism=1.5", "whole number"),
        ("large_pages=maybe", "on, off, try"),
        ("commit=on", "durable, relaxed"),
        ("checkpoint_interval=soon", "30s, 5m or 1h"),
        ("checkpoint_interval=1500ms", "whole seconds"),
        ("temp_path=/no/such/folder", "no such folder"),
    ],
)
def test_impossible_values_are_reported_in_one_line(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        one(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_share_of_this_machine_says_nothing_of_a_server_elsewhere() -> None:
    with pytest.raises(UsageError, match="use bytes"):
        one("memory=50%", None)
    assert one("memory=900GB", None).value == 900 * GIB


def test_a_word_is_given_once() -> None:
    with pytest.raises(UsageError, match="twice"):
        parse(["memory=1GB", "memory=2GB"], None, None)


def test_a_file_and_what_wins_over_it(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(
        '[settings]\nmemory = "2GB"\nparallelism = 4\nchecksums = true\n[layout]\nx = 1\n'
    )
    asked = parse(["parallelism=1"], file, 16 * GIB)
    assert as_record(asked) == {"memory": "2GB", "parallelism": "1", "checksums": "on"}
    assert [item.value for item in asked] == [2 * GIB, 1, "on"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("memory = '2GB'", "no [settings] table"),
        ("[settings", "not valid TOML"),
        ("[settings]\nmemroy = '2GB'", "'memory'?"),
        ("[settings]\nmemory = ['2GB']", "one value"),
    ],
)
def test_files_that_cannot_be(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(content)
    with pytest.raises(UsageError) as caught:
        parse([], file, None)
    assert message in str(caught.value)
    with pytest.raises(UsageError, match="Cannot read"):
        parse([], tmp_path / "nothing.toml", None)


def test_sizes_are_exact_in_the_largest_unit() -> None:
    assert [bytes_text(size) for size in (4 * GIB, 3 << 19, 77, 0)] == [
        "4GB",
        "1536kB",
        "77B",
        "0B",
    ]


@pytest.mark.parametrize("name", targets.names())
def test_targets_take_known_words_only_and_say_why_not(name: str) -> None:
    knobs = tuning.knobs(name)
    assert set(knobs) <= set(WORDS)
    url = targets.parse(targets.about(name)[1][0])
    for word in WORDS:
        asked = [Setting(word, "x", "x")]
        if word in knobs:
            tuning.require(url, asked)
            continue
        with pytest.raises(UsageError) as caught:
            tuning.require(url, asked)
        text = str(caught.value)
        assert (
            "does not support settings" in text
            if not knobs
            else all(known in text for known in knobs)
        )
