"""``--criterion`` and ``--no-criteria``: limits that the levels of a run are judged by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from dyno.cli._options import collected
from dyno.errors import UsageError

if TYPE_CHECKING:
    from dyno.contracts.workload import Workload
    from dyno.criteria import Criterion


@dataclass(frozen=True)
class Asked:
    """What the command line holds of criteria, unread."""

    criterion: tuple[str, ...]
    no_criteria: bool

    def of(self, workload: Workload) -> list[Criterion]:
        """The user's criteria, and the defaults on metrics that those do not name.

        Raises:
            UsageError: If one is wrong, or the workload has no transactions.
        """
        from dyno.criteria import defaults, metrics, parse_all

        if workload.kind != "oltp":
            if self.criterion:
                raise UsageError(
                    f"--criterion is about transactions; {workload.name} has queries, and their "
                    "answers are checked."
                )
            return []
        own = parse_all(self.criterion, metrics(workload.operations))
        if self.no_criteria:
            return own
        named = {criterion.metric for criterion in own}
        usual = [one for one in defaults(workload.operations) if one.metric not in named]
        return [*own, *usual]


options = collected(
    Asked,
    "criteria",
    click.option(
        "--criterion",
        multiple=True,
        metavar="LIMIT",
        help="Transactions: a limit to keep, or else the exit code is 1, as 'new_order p95 < "
        "500ms' or 'cpu < 70 %'; repeat. It takes the place of the usual limit on that metric; "
        "those are only shown.  [usual: response p95 < 2 s, cpu < 80 %, retransmits < 0.5 %, "
        "data_read and data_write < 20 ms, log_write < 5 ms]",
    ),
    click.option(
        "--no-criteria", is_flag=True, help="Without the usual limits; only those of --criterion."
    ),
)
"""Adds them, and passes them as ``criteria``."""
