"""Probes do nothing while a meter reads counters of the whole server, and their work is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from dyno.contracts.probe import Sample
from dyno.errors import DynoError
from dyno.targets import observers
from dyno.targets.observers import Observers
from dyno.targets.sessionprobe import Asked, SessionProbe


class Session:
    """A session that counts."""

    def __init__(self) -> None:
        self.statements = 2
        self.closed = False

    def close(self) -> None:
        self.closed = True


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observers, "_WAIT_S", 0.01)


def probe(of: Observers[Any], work: Callable[[], object] = lambda: None) -> SessionProbe[Any]:
    def ask(session: Session, _now_ns: int) -> Sequence[Sample]:
        session.statements += 1
        work()
        return ()

    (found,) = of.probes(Session, {"p": Asked(lambda: ask)})
    return found


def known(of: Observers[Any]) -> int:
    with of.quiet() as count:
        return count


def test_statements_of_all_probes_are_known() -> None:
    of: Observers[Any] = Observers(uncounted=lambda session: 10 * session.statements)
    first, second = probe(of), probe(of)
    first.read(1)
    first.read(2)
    assert known(of) == 20 + 4
    second.read(3)
    assert known(of) == 20 + 4 + 20 + 3
    first.close()  # what it sent stays known
    first.read(4)
    assert known(of) == 20 + 4 + 20 + 3 + 20 + 3


def test_no_probe_works_while_it_is_quiet() -> None:
    of: Observers[Any] = Observers()
    one = probe(of)
    with of.quiet(), pytest.raises(DynoError) as caught:
        one.read(1)
    assert caught.value.kind == "timeout"
    one.read(2)
    assert known(of) == 3


def test_a_reading_that_does_not_end_keeps_nobody_waiting() -> None:
    of: Observers[Any] = Observers()
    found: list[int] = []
    probe(of, lambda: found.append(known(of))).read(1)
    assert found == [3]
    probe(of).read(2)


@pytest.mark.parametrize("most", [None, 1, 2])
def test_some_probes_work_at_a_time(most: int | None) -> None:
    of: Observers[Any] = Observers(most)
    inner = probe(of)
    outer = probe(of, lambda: inner.read(2))
    if most == 1:
        with pytest.raises(DynoError):
            outer.read(1)
    else:
        outer.read(1)
    inner.read(3)
