"""Which options of ``dyno run`` belong to which kind of workload; the others are refused.

An option that is taken and does nothing makes a reader believe in a measurement that was not made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from click.core import ParameterSource

from dyno.cli._run import sections
from dyno.errors import UsageError

if TYPE_CHECKING:
    import click

    from dyno.contracts.workload import Workload


def require_own(context: click.Context, workload: Workload) -> None:
    """Looks through the options that were given.

    Raises:
        UsageError: If one of them is not of this workload, with what is meant instead.
    """
    own = sections.QUERIES if workload.kind == "dss" else sections.TRANSACTIONS
    every = sections.QUERIES.names | sections.TRANSACTIONS.names
    for parameter in context.command.params:
        name = str(parameter.name)
        if name not in every - own.names or not _given(context, name):
            continue
        off = context.params.get(name) is False
        option = (parameter.secondary_opts if off else parameter.opts)[0]
        if workload.kind != "dss":
            raise UsageError(f"{option} is for queries; {workload.name} has none. Leave it out.")
        if name == "users":
            raise UsageError(
                f"--users is for transactions; several users of {workload.name} are "
                "--test throughput --streams N."
            )
        if name == "duration":
            if _given(context, "during"):
                continue
            raise UsageError(
                f"--duration is for transactions and --during; the queries of {workload.name} "
                "last as long as they take."
            )
        raise UsageError(f"{option} is for transactions; {workload.name} has none. Leave it out.")
    for name in ("during_limit", "during_database"):
        if _given(context, name) and not _given(context, "during"):
            option = f"--{name.replace('_', '-')}"
            raise UsageError(f"{option} is about what --during NAME begins; give that, too.")


def _given(context: click.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source not in (None, ParameterSource.DEFAULT, ParameterSource.DEFAULT_MAP)
