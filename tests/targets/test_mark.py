"""Dyno's mark distinguishes its tables from a user's, and says what they hold."""

from __future__ import annotations

import dataclasses

import pytest

from dyno.contracts.target import Loaded
from dyno.errors import UsageError
from dyno.targets import mark

WHOLE = Loaded(0.5, 7, complete=True)


def comments(*texts: str | None) -> dict[str, str | None]:
    """Relations of the shared test schema, ``item`` and ``log``, with these comments."""
    return dict(zip(("item", "log"), texts, strict=False))


def test_a_mark_reads_back(items: str) -> None:
    text = mark.write(items, WHOLE)
    assert mark.is_mark(text, items)
    assert not mark.is_mark(text, "tpcc")
    assert mark.read(comments(text, text), items) == WHOLE


@pytest.mark.parametrize("other", [None, "a user's words", "dyno:items {}", "dyno:items {"])
def test_data_is_whole_only_if_every_table_says_so(items: str, other: str | None) -> None:
    found = mark.read(comments(mark.write(items, WHOLE), other), items)
    assert found == Loaded(0.5, 7, complete=False)


def test_a_missing_table_is_not_whole(items: str) -> None:
    found = mark.read(comments(mark.write(items, WHOLE)), items)
    assert found == Loaded(0.5, 7, complete=False)


def test_created_but_not_loaded_is_not_whole(items: str) -> None:
    text = mark.write(items, None)
    found = mark.read(comments(text, text), items)
    assert found is not None
    assert not found.complete


@pytest.mark.parametrize("texts", [[], [None], ["dyno:tpcc {}"], ["dyno:itemsx {}"]])
def test_what_is_not_dynos_is_nothing(items: str, texts: list[str | None]) -> None:
    assert mark.read(comments(*texts), items) is None
    assert mark.read({"other": mark.write(items, WHOLE)}, items) is None


def test_replacing_needs_leave_and_never_takes_a_users_table(items: str) -> None:
    own = mark.write(items, WHOLE)
    assert mark.to_replace("here", items, {"other": None}, replace=False) == []
    assert mark.to_replace("here", items, {"item": own, "other": None}, replace=True) == ["item"]
    with pytest.raises(UsageError, match="--replace"):
        mark.to_replace("here", items, {"item": own}, replace=False)
    for replace in (True, False):
        with pytest.raises(UsageError, match=r"did not create \(log\)"):
            mark.to_replace("here", items, {"item": own, "log": None}, replace=replace)


def test_tables_of_a_setup_are_those_that_a_mark_names(items: str) -> None:
    whole = dataclasses.replace(WHOLE, setup=("sums",))
    found = {**comments(mark.write(items, whole), mark.write(items, whole)), "sums": None}
    assert mark.read(found, items) == whole
    assert mark.set_up({**found, "other": None}, items) == {"sums"}
    assert mark.to_replace("here", items, found, replace=True) == ["item", "log", "sums"]
    for text in (None, "a user's words", mark.write(items, WHOLE)):
        assert mark.set_up({"item": text, "sums": None}, items) == set()
