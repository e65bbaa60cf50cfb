"""The windows of a run of several workloads, in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Window:
    """A window.

    Attributes:
        members: Names of what runs at the same time.
        round: Number of the repetition, from 1.
        alone: Whether it measures its only member by itself.
    """

    members: tuple[str, ...]
    round: int = 1
    alone: bool = False

    @property
    def name(self) -> str:
        """Its name in the bundle."""
        first = f"{self.members[0]}-alone" if self.alone else "together"
        return first if self.round == 1 else f"{first}-{self.round}"

    @property
    def title(self) -> str:
        """Its title."""
        *others, last = self.members
        every = " and ".join(filter(None, [", ".join(others), last]))
        what = f"{last} alone" if self.alone else every
        return what if self.round == 1 else f"{what}, round {self.round}"


def windows(members: Sequence[str], rounds: int, *, alone: bool) -> list[Window]:
    """All members at once; with ``alone`` also each by itself, in every round.

    The order alternates from round to round (A, B, A+B, then A+B, B, A): a slow drift of the
    machine or growth of the data affects both sides of the comparison alike.
    """
    together = Window(tuple(members))
    if not alone:
        return [together]
    found: list[Window] = []
    for number in range(1, rounds + 1):
        single = [Window((name,), number, alone=True) for name in members]
        every = [*single, Window(tuple(members), number)]
        found += every if number % 2 else every[::-1]
    return found
