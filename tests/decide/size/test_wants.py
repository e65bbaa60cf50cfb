"""What is wanted: words, units and refusals."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dyno.decide.size import whatif
from dyno.decide.size.wants import WORDS, Wants, of_file, pairs, read
from dyno.errors import UsageError


def test_all_words_read_their_examples() -> None:
    found = read({name: word.example for name, word in WORDS.items()})
    assert all(getattr(found, word.field) is not None for word in WORDS.values())
    assert (found.p95_ms, found.think_s, found.growth, found.fill) == (500, 12, 0.2, 0.7)


@pytest.mark.parametrize(
    ("text", "tb"), [("4", 4), ("4TB", 4), ("800GB", 0.8), ("250MB", 2.5e-4), ("1PB", 1000)]
)
def test_sizes(text: str, tb: float) -> None:
    assert read({"tb": text}).tb == pytest.approx(tb)


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("p95", "500", "unit is missing"),
        ("growth", "20", "unit is missing"),
        ("fill", "70", "unit is missing"),
        ("tps", "0", "above zero"),
        ("tps", "-3", "above zero"),
        ("p95", "-3", "above zero"),
        ("users", "nan", "above zero"),
        ("tps", "1e99", "out of range"),
        ("users", "many", "not a valid value"),
        ("raid", "7", "out of range"),
        ("cpu", "180%", "not a valid value"),
        ("tb", "4KB", "not a valid value"),
    ],
)
def test_a_value_that_is_refused(name: str, text: str, fault: str) -> None:
    with pytest.raises(UsageError, match=fault) as refused:
        read({name: text})
    assert "\n" not in str(refused.value)
    assert f"{name}=" in str(refused.value)


def test_an_unknown_word_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="Did you mean 'users'"):
        read({"user": "5"})


@pytest.mark.parametrize("text", ["tps", "tps=", "=5"])
def test_a_want_takes_name_and_value(text: str) -> None:
    with pytest.raises(UsageError, match="NAME=VALUE"):
        pairs([text], "--want")


def test_a_text_may_have_several() -> None:
    assert pairs(["cpus=8 devices=2"], "--what-if") == {"cpus": "8", "devices": "2"}
    with pytest.raises(UsageError, match="given twice"):
        pairs(["tps=1", "tps=2"], "--want")


def test_a_file_has_the_same_words() -> None:
    content = 'tps = 1200\ntb = "800GB"\np95 = "500ms"\n'
    assert read(of_file(content, "my.toml")) == Wants(tps=1200, tb=0.8, p95_ms=500)


@pytest.mark.parametrize("content", ["tps = true", "[tps]\nx = 1", "tps = [1]", "tps ="])
def test_a_file_that_is_refused(content: str) -> None:
    with pytest.raises(UsageError):
        of_file(content, "my.toml")


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "x", "", "9999999999"])
def test_a_what_if_is_a_whole_number(text: str) -> None:
    with pytest.raises(UsageError, match="whole number"):
        whatif.read({"cpus": text})


@given(st.sampled_from(sorted(WORDS)), st.text(max_size=12))
def test_nothing_but_a_usage_error(name: str, text: str) -> None:
    try:
        value = getattr(read({name: text}), WORDS[name].field)
    except UsageError:
        return
    assert isinstance(value, str) or value > 0
