"""Option sections of the help; each belongs to one kind of workload."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from dyno.cli._options import Decorator


class Section:
    """Options under one heading.

    Attributes:
        names: Parameters of the command in this section.
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self.names: set[str] = set()

    def of(self, options: Decorator) -> Decorator:
        """Adds options to a command and to this section."""

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            before = _names(function)
            decorated = options(function)
            self.names |= _names(decorated) - before
            return decorated

        return decorate


SEVERAL = Section("Several workloads at once")
TRANSACTIONS = Section("Transactions")
QUERIES = Section("Queries")
MAINTENANCE = Section("Maintenance during the run")
CRITERIA = Section("Pass/fail criteria (transactions)")
SEARCH = Section("Maximum load search (transactions)")
FLASH = Section("Cache on flash")
_REST = Section("Options")

_ORDER = (_REST, SEVERAL, TRANSACTIONS, CRITERIA, SEARCH, QUERIES, MAINTENANCE, FLASH)


class SectionedCommand(click.Command):
    """A command whose help lists its options by section, common options first."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the sections."""
        records: dict[str, list[tuple[str, str]]] = {section.title: [] for section in _ORDER}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            # The text above describes the arguments.
            if isinstance(parameter, click.Option) and record is not None:
                records[_section(parameter.name or "").title].append(record)
        for title, found in records.items():
            if found:
                with formatter.section(title):
                    formatter.write_dl(found)


def _section(name: str) -> Section:
    return next((section for section in _ORDER if name in section.names), _REST)


def _names(function: Callable[..., Any]) -> set[str]:
    """Names of the parameters that click has attached to a function."""
    found: list[click.Parameter] = getattr(function, "__click_params__", [])
    return {str(parameter.name) for parameter in found}
