"""How much a server wrote to its log, and where that is not known."""

from __future__ import annotations

from contextlib import closing
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from dyno.contracts.logged import logged, since
from dyno.contracts.target import Target
from dyno.errors import TargetError


class _Server:
    """A server whose log is at a known position; None: it does not respond."""

    def __init__(self, at: int | None) -> None:
        self._at = at

    def logged_bytes(self) -> int:
        if self._at is None:
            raise TargetError("gone", kind="connection_lost")
        return self._at


def server(at: int | None) -> Target:
    return cast("Target", _Server(at))


@given(st.integers(0, 1 << 62) | st.none(), st.integers(0, 1 << 62) | st.none())
def test_only_growth_is_told(before: int | None, now: int | None) -> None:
    found = since(server(now), before)
    whole = before is not None and now is not None and now >= before
    assert found == (now - before if whole else None)  # type: ignore[operator]


def test_a_server_that_does_not_respond_ends_nothing() -> None:
    assert logged(server(None)) is None


def test_a_change_is_in_the_log_of_a_server(target: Target) -> None:
    before = logged(target)
    if target.name != "postgresql":
        assert before is None  # an engine without a log position
        return
    assert before is not None
    with closing(target.connect("tpch")) as session:
        session.execute("BEGIN")
        session.execute("UPDATE orders SET o_comment = o_comment")
        session.execute("ROLLBACK")
    # 15,000 orders of over 100 bytes each.
    assert (since(target, before) or 0) > 1_000_000
