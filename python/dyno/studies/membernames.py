"""Names of metrics that contain those of transactions and queries: ``orders_per_min``.

In a file, ``tpm`` is the main transactions per minute of the study's workload, ``p95.pay`` the p95
response time of its transaction ``pay``, and ``query_s.sums`` the time of its query ``sums``.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable

from dyno import workloads
from dyno.contracts.workload import Workload
from dyno.errors import UsageError, nearest
from dyno.workloads import own

TPM = "tpm"
_P95, _TIME = "p95_ms", "query_s"
_NAME = re.compile(r"(?P<word>[a-z][a-z0-9_]*)_(?P<what>per_min|p95_ms|query_s)")
_MEMBERS = {"p95": _P95, _P95: _P95, _TIME: _TIME}


def parsed(name: str) -> tuple[str, str] | None:
    """What a metric measures (``per_min``, ``p95_ms`` or ``query_s``), and of which word."""
    found = _NAME.fullmatch(name)
    return None if found is None else (found["what"], found["word"])


def of(workload: Workload) -> list[str]:
    """Names of the metrics of a workload's transactions or queries."""
    if workload.kind == "dss":
        return [f"{query.name}_{_TIME}" for query in workload.queries]
    operations = [f"{name}_{_P95}" for name in workload.operations]
    return [workload.transactions.per_min, *operations]


def resolved(names: Iterable[str], workload: str) -> list[str]:
    """Names of metrics as a bundle's values have them.

    Raises:
        UsageError: If the workload has no such transaction or query.
    """
    return [_of_members(name, workload) for name in names]


def _of_members(name: str, workload: str) -> str:
    """A name of a metric of the first workload that has it.

    Raises:
        UsageError: If none has it.
    """
    first, *others = workloads.words(workload)
    try:
        return _resolved(name, first)
    except UsageError:
        for word in others:
            with contextlib.suppress(UsageError):
                return _resolved(name, word)
        raise


def _resolved(name: str, workload: str) -> str:
    family, dot, member = name.partition(".")
    if name != TPM and not (dot and family in _MEMBERS):
        return name
    if workload not in workloads.names() and not own.is_meant(workload):
        return name
    chosen = workloads.named(workload)
    if name == TPM:
        if chosen.kind != "oltp":
            raise UsageError(f"'{TPM}' is a metric of transactions; {chosen.called} has queries.")
        return chosen.transactions.per_min
    what = _MEMBERS[family]
    known = chosen.operations if what == _P95 else [query.name for query in chosen.queries]
    if member not in known:
        hint = nearest(member, known) if known else f"{chosen.called} has none."
        raise UsageError(f"'{name}': unknown '{member}'. {hint}")
    return f"{member}_{what}"
