"""Options in sections: the help shows them so, and kinds of workload own them so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from dyno.cli._options import Decorator


class Section:
    """Options under a heading of their own.

    Attributes:
        names: Parameters of the command that are of it.
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self.names: set[str] = set()

    def of(self, options: Decorator) -> Decorator:
        """Adds options, and notes that they are of this section."""

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            before = _names(function)
            decorated = options(function)
            self.names |= _names(decorated) - before
            return decorated

        return decorate


TRANSACTIONS = Section("Transactions")
QUERIES = Section("Queries")
MAINTENANCE = Section("Maintenance beside the work")
CRITERIA = Section("Limits that transactions must keep")
SEARCH = Section("Search for the most transactions inside limits")
_REST = Section("Options")

_ORDER = (_REST, TRANSACTIONS, CRITERIA, SEARCH, QUERIES, MAINTENANCE)


class SectionedCommand(click.Command):
    """A command whose help shows its options by section, the common ones first."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes them."""
        records: dict[str, list[tuple[str, str]]] = {section.title: [] for section in _ORDER}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            # What an argument is for stands in the text above.
            if isinstance(parameter, click.Option) and record is not None:
                records[_section(parameter.name or "").title].append(record)
        for title, found in records.items():
            if found:
                with formatter.section(title):
                    formatter.write_dl(found)


def _section(name: str) -> Section:
    return next((section for section in _ORDER if name in section.names), _REST)


def _names(function: Callable[..., Any]) -> set[str]:
    """Parameters that a function has been given so far, as click keeps them."""
    found: list[click.Parameter] = getattr(function, "__click_params__", [])
    return {str(parameter.name) for parameter in found}
