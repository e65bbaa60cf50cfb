"""Several workloads or targets in one run, and values for one of the workloads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, model_validator

from dyno.errors import UsageError
from dyno.plans.fields import Plan, Text, within

REPEATS = (1, 100)
USUAL_REPEATS = 3
"""Fewest pairs with a useful interval."""
NAMED = ("users", "rate", "scale")
"""Fields that take ``WORKLOAD=VALUE``."""
MOST_TARGETS = 16


def _urls(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else (value,)


def _distinct(urls: tuple[str, ...]) -> tuple[str, ...]:
    if not urls:
        raise ValueError("Name at least one.")
    if len(set(urls)) < len(urls):
        raise ValueError("Name each target once.")
    if len(urls) > MOST_TARGETS:
        raise ValueError(f"A run has at most {MOST_TARGETS} targets.")
    return urls


Targets = Annotated[tuple[Text, ...], BeforeValidator(_urls), AfterValidator(_distinct)]
"""One or several URLs, each once."""


class Several(Plan):
    """Several workloads or targets at once.

    Attributes:
        by_workload: Field and ``WORKLOAD=VALUE`` of each value that is for one workload.
        alone: Measure each workload by itself as well.
        repeat: How often, in alternating order.
    """

    by_workload: tuple[tuple[str, str], ...] = ()
    alone: bool = False
    repeat: Annotated[int, within(*REPEATS)] | None = None

    @classmethod
    def option_words(cls) -> set[str]:
        """The names of all options; values by workload belong to theirs."""
        return super().option_words() - {"by-workload"}

    def _option_words(self, name: str, value: Any) -> list[str]:
        if name != "by_workload":
            return super()._option_words(name, value)
        return [word for field, text in value for word in (self.option(field), text)]

    @model_validator(mode="before")
    @classmethod
    def _apart(cls, values: Any) -> Any:
        """Moves values for one workload to ``by_workload``.

        Raises:
            UsageError: If the scale is given twice.
        """
        if not isinstance(values, Mapping):
            return values
        found: dict[str, Any] = dict(values)  # pyright: ignore[reportUnknownArgumentType]
        pairs: list[Any] = list(found.pop("by_workload", ()))
        for name in NAMED:
            given = found.get(name)
            if isinstance(given, Mapping):
                every: Mapping[str, Any] = given  # pyright: ignore[reportUnknownVariableType]
                pairs += [(name, f"{word}={value}") for word, value in every.items()]
                del found[name]
                continue
            listed: list[Any] = list(given) if isinstance(given, list | tuple) else [given]
            for_one = [one for one in listed if isinstance(one, str) and "=" in one]
            plain = [one for one in listed if one not in for_one]
            pairs += [(name, one) for one in for_one]
            if name == "scale" and len(plain) > 1:
                raise UsageError(f"--scale was given {len(plain)} times; give it once.")
            if name == "scale" and name in found:
                found[name] = plain[0] if plain else None
            elif for_one:
                found[name] = tuple(plain)
            if for_one and not plain:
                del found[name]
        return {**found, "by_workload": pairs} if pairs else found

    def require_alone(self) -> None:
        """Refuses a number of repetitions of nothing.

        Raises:
            UsageError: With the option that is missing.
        """
        if self.repeat is not None and not self.alone:
            raise UsageError("--repeat requires --alone.")

    @property
    def rounds(self) -> int:
        """How often each combination of workloads is measured."""
        return (self.repeat or USUAL_REPEATS) if self.alone else 1
