"""The metrics of a run that a study can compare, by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from dyno import workloads
from dyno.bundle import metrics
from dyno.bundle.carriers import ROLE
from dyno.bundle.flash import ALL, SOURCE, Flash
from dyno.bundle.metrics.byrole import BY_ROLE
from dyno.bundle.metrics.during import CREATION, WINDOW
from dyno.bundle.metrics.resource import VOLUME
from dyno.bundle.model import Estimate
from dyno.contracts.databases import is_part
from dyno.contracts.transactions import Transactions
from dyno.statistics.verdict import Wish
from dyno.studies import membernames
from dyno.studies.model import Study, members
from dyno.workloads import own

Verb = Literal["run", "load", "both"]


@dataclass(frozen=True)
class Metric:
    """A metric, or a family of metrics, of a run.

    Attributes:
        asked: Its names in a bundle; if there are several, those that a run has.
        where: Patterns for parts of their scopes; an empty pattern requires an absent part. Groups
            become parts as well.
        each: The parts that distinguish the members of a family; none for a single metric.
        wish: Whether higher or lower is better; neither for resource usage, which depends on the
            work done.
        verb: The verb whose bundles have it; a storage profile counts as a run.
        otherwise: The metric to use in runs without any of ``asked``.
        per: How many units of the estimate are one of the metric.
        only: The workload kind that has it, if its scope does not tell; empty for all.
        main: The main operation of the workloads that have it; empty for all.
    """

    name: str
    meaning: str
    asked: tuple[metrics.Metric, ...]
    wish: Wish
    verb: Verb = "run"
    where: Mapping[str, str] = field(default_factory=dict[str, str])
    each: tuple[str, ...] = ()
    otherwise: Metric | None = None
    per: float = 1.0
    only: str | None = None
    main: str = ""

    @property
    def kind(self) -> str:
        """The workload kind that has it: ``oltp``, ``dss`` or ``io``; empty for all."""
        if self.only is not None:
            return self.only
        own = _KINDS.get(self.asked[0].owner, "")
        return own if self.otherwise is None or self.otherwise.kind == own else ""

    def of(self, estimates: Iterable[Estimate]) -> dict[str, float]:
        """Its values in a run by name: ``tps``, or ``query_s.q09`` in a family.

        If several levels or phases have it, the last one counts; of minima the least.
        """
        listed = list(estimates)
        found: dict[str, float] = {}
        for estimate in listed:
            parts = self._parts(estimate.name)
            if parts is not None:
                each = ".".join([self.name, *(parts[part] for part in self.each if parts[part])])
                value = estimate.value / self.per
                least = _S.min in self.asked and each in found
                found[each] = min(found[each], value) if least else value
        if found or self.otherwise is None or any(map(self._is_beside, listed)):
            return found
        return self.otherwise.of(listed)

    def _is_beside(self, estimate: Estimate) -> bool:
        """Whether a run has the kind of phase that the metric is about."""
        return estimate.name.startswith(self.asked[0].owner.names.partition(r"\.")[0] + ".")

    def _parts(self, name: str) -> dict[str, str] | None:
        """The scope parts of a matching estimate; None if it does not match.

        Of several databases their sum counts, not one of them.
        """
        for metric in self.asked:
            match = metric.pattern.fullmatch(name)
            parts = match.groupdict("") if match else {}
            if is_part(parts.get("level", "")):
                return None
            kept = [re.fullmatch(one, parts.get(part, "")) for part, one in self.where.items()]
            if match and all(kept):
                return parts | {k: v for one in kept if one for k, v in one.groupdict("").items()}
        return None


MIX = "mix"
"""The kind of metrics of several workloads at once."""

_L, _O, _D = metrics.Level, metrics.Operation, metrics.Stretch
_M = metrics.Maintenance
_X = metrics.MixMember
_Q, _C, _S = metrics.Queries, metrics.Curve, metrics.Sampled
_KINDS: dict[type[metrics.Scope], str] = {
    **{_L: "oltp", _O: "oltp", _D: "oltp"},
    **{_Q: "dss", metrics.Query: "dss", _C: "io"},
}
_BESIDE = {"part": "during", "database": ""}
_ROWS = {"phase": "(?!index-).*", "curve": ""}  # rows of a load, without index phases
_WITHIN = {"place": r"(?:fill[\d_]+(?:\.|$))?(?P<within>[\w.+-]*)"}
_BY_FILL = {"place": r"(?P<within>(?:[\w+-]+\.)?fill[\d_]+)"}
_DEVICE = {**_ROWS, "source": "disk", "subject": r"[\w-]+"}
_QUEUE = {**_DEVICE, "source": f"disk|{VOLUME}"}
_HOST = {**_ROWS, "source": "cpu", "subject": "host", "metric": "busy"}

_MAINS = [one.transactions for one in map(workloads.get, workloads.names()) if one.operations]


def _a(main: Transactions) -> str:
    return main.main.replace("_", " ")


_A_MAIN = " or ".join(_a(main) for main in _MAINS)


def _headline(main: Transactions) -> Iterable[Metric]:
    """The metrics of a workload's main operation."""
    name = f"{main.main}_p95_ms"
    per_min = _L.per_min(main.plural)
    meaning = f"{main.plural_title.lower()} per minute"
    yield Metric(main.per_min, meaning, (per_min,), "more", main=main.main)
    meaning = f"{_a(main)} p95 response time, ms"
    where = {"operation": re.escape(main.main)}
    yield Metric(name, meaning, (_O.response("p95"),), "less", where=where, main=main.main)


def _of_role(name: str, meaning: str, wish: Wish = "neither") -> Metric:
    """A metric of the devices of its role, or of every role."""
    found = BY_ROLE[name]
    role = found.role or ROLE
    where = {**_ROWS, "source": VOLUME, "subject": role, "metric": found.metric}
    each = () if found.role else ("subject",)
    return Metric(name, meaning, (_S.mean,), wish, "both", where, each, per=found.per)


def _of_flash(name: str, meaning: str, asked: Flash, wish: Wish) -> Metric:
    """A metric of the cache on flash in front of the files."""
    where = {**_ROWS, "source": SOURCE, "subject": ALL, "metric": asked}
    return Metric(name, meaning, (_S.mean,), wish, where=where)


def _of_member(name: str, meaning: str, asked: metrics.Metric, wish: Wish) -> Metric:
    """A metric of each of several workloads at once."""
    where = {"window": "together.*"}
    return Metric(name, meaning, (asked,), wish, where=where, each=("member",), only=MIX)


METRICS = {
    metric.name: metric
    for metric in (
        Metric("tps", "transactions per second", (_L.tps,), "more"),
        *(one for main in _MAINS for one in _headline(main)),
        Metric(
            "p95_ms", "response time p95 by transaction, ms",
            (_O.response("p95"),), "less", each=("operation",),
        ),
        _of_member("member_tps", "transactions per second by workload", _X.tps, "more"),
        _of_member(
            "member_p95_ms", "p95 of the main transaction by workload, ms", _X.p95_ms, "less"
        ),
        _of_member(
            "member_qph", "queries per hour by workload", _X.queries_per_h, "more"
        ),
        _of_member("member_query_p95_s", "p95 of query times by workload, s", _X.p95_s, "less"),
        Metric(
            "client_cpu_ms", "driver CPU per 1,000 transactions, ms",
            (_L.client_cpu_ms_per_1000,), "less",
        ),
        Metric(
            "page_hits", "hit ratio of the page caches of an embedded database's sessions, %",
            (_L.page_hit_percent,), "more",
        ),
        Metric(
            "page_reads", "pages read into these caches per second",
            (_L.page_reads_per_s,), "neither",
        ),
        Metric(
            "page_writes", "pages written from them per second",
            (_L.page_writes_per_s,), "neither",
        ),
        Metric(
            "page_spills", "pages written from them before a transaction ended, per second",
            (_L.page_spills_per_s,), "less",
        ),
        Metric(
            "tps_beside",
            "transactions per second during maintenance, or overall without maintenance",
            (_D.tps,), "more", where=_BESIDE,
            otherwise=Metric("tps_beside", "", (_L.tps,), "more"),
        ),
        Metric(
            "p95_beside_ms", f"{_A_MAIN} p95 response time during maintenance, ms",
            (_D.p95_ms,), "less", where=_BESIDE,
            otherwise=Metric(
                "p95_beside_ms", "", (_O.response("p95"),), "less",
                where={"operation": "|".join(re.escape(main.main) for main in _MAINS)},
            ),
        ),
        Metric(
            "beside_qph", "queries per hour during maintenance", (_D.qph,), "more", where=_BESIDE,
            only="dss",
        ),
        Metric(
            "before_qph", "queries per hour of the same run before maintenance", (_D.qph,), "more",
            where={**_BESIDE, "part": "before"}, only="dss",
        ),
        Metric(
            "beside_percent", "throughput during maintenance, % of that before it",
            (_D.of_before_percent,), "more", where=_BESIDE, only="",
        ),
        Metric(
            "maintenance_s", "time of one round of maintenance, s", (_M.round_s,), "less",
        ),
        Metric(
            "maintenance_space", "peak extra space of maintenance, bytes",
            (_M.space_peak_bytes,), "less",
        ),
        Metric(
            "space_estimate", "estimated extra space of maintenance, bytes",
            (_M.space_estimate_bytes,), "neither",
        ),
        Metric(
            "estimate_s", "time to estimate the extra space of maintenance, s",
            (_M.estimate_s,), "less",
        ),
        Metric(
            "window_s", "time of a step of a sliding window by step, s",
            (metrics.MaintenanceStep.seconds,), "less",
            where={"step": "|".join(WINDOW)}, each=("step",),
        ),
        Metric(
            "create_s", "time to create a database by strategy or step, s",
            (metrics.MaintenanceStep.seconds,), "less",
            where={"step": "|".join(CREATION)}, each=("step",),
        ),
        Metric(
            "create_mbps", "MB/s of the creation of a database by strategy or step",
            (metrics.MaintenanceStep.mb_per_s,), "more", each=("step",),
        ),
        Metric(
            "backup_mbps", "MB/s of a backup, written and synced", (_M.mb_per_s,), "more",
        ),
        Metric(
            "maintenance_log", "log written during a round of maintenance, bytes",
            # It is the log of all sessions: fewer transactions make it shorter.
            (_M.log_bytes,), "neither",
        ),
        Metric("total_s", "power test total, s", (_Q.power_total_s,), "less"),
        Metric("geomean_s", "geometric mean of query times, s", (_Q.geomean_s,), "less"),
        Metric("mean_s", "mean of query times, s", (_Q.mean_s,), "less"),
        Metric(
            "users_mean_s", "mean of query times of the throughput test, s",
            (_Q.throughput_mean_s,), "less",
        ),
        Metric(
            "query_s", "query time, s", (metrics.Query.seconds,), "less",
            each=("query",),
        ),
        Metric(
            "memory_available", "minimum available memory, bytes",
            (_S.min,), "more", "both",
            {"curve": "", "source": "memory", "subject": "host", "metric": "available"},
        ),
        Metric(
            "users_total_s", "throughput test total, s",
            (_Q.throughput_total_s,), "less",
        ),
        Metric(
            "queries_per_h", "queries per hour of all streams times scale factor",
            (_Q.throughput, _Q.throughput_score), "more",
        ),
        Metric("load_s", "load time, s", (metrics.Load.seconds,), "less", "load"),
        Metric("load_rows", "rows loaded per second", (metrics.Load.rows_per_s,), "more", "load"),
        Metric(
            "load_bytes", "table size without keys and indexes, bytes",
            (metrics.Load.rest_bytes,), "less", "load",
        ),
        Metric("index_s", "index creation time, s", (metrics.Index.seconds,), "less", "load"),
        Metric(
            "index_log", "log written by the creation of keys and indexes, bytes",
            (metrics.Index.log_bytes,), "less", "load",
        ),
        Metric(
            "step_s", "index creation time by kind, s",
            (metrics.Step.seconds,), "less", "load", each=("step",),
        ),
        Metric(
            "step_bytes", "index size by kind, bytes",
            (metrics.Step.rest_bytes,), "less", "load", each=("step",),
        ),
        Metric(
            "step_room", "peak extra space of index creation by kind, relative to the table",
            (metrics.Step.peak_ratio,), "less", "load", each=("step",),
        ),
        Metric(
            "cpu_percent", "CPU utilisation, %", (_S.mean,), "neither", "both",
            _HOST,
        ),
        Metric("cpu_max", "maximum CPU utilisation, %", (_S.max,), "neither", "both", _HOST),
        Metric(
            "retransmits", "retransmitted TCP segments, % of those sent",
            (_S.mean,), "less", "both",
            {**_ROWS, "source": "network", "subject": "tcp", "metric": "retransmitted"},
        ),
        _of_role(
            "data_read_ms", "read latency of the data devices, ms", "less"
        ),
        _of_role(
            "data_write_ms", "write latency of the data devices, ms", "less"
        ),
        _of_role(
            "log_write_ms", "write latency of the log devices, ms", "less"
        ),
        _of_role("read_share", "reads by role of the volume, % of requests"),
        _of_role("read_kb", "mean read size by role of the volume, KiB"),
        _of_role("write_kb", "mean write size by role of the volume, KiB"),
        _of_flash("flash_hits", "hit ratio of the flash cache, %", Flash.hit_ratio, "more"),
        _of_flash("flash_hit_ms", "hit latency of the flash cache, ms", Flash.hit, "less"),
        _of_flash("flash_miss_ms", "miss latency of the flash cache, ms", Flash.miss, "less"),
        Metric(
            "speed_up_bound", "speed-up of reads at the run's own miss latency, times",
            (metrics.Accelerated.speed_up_bound,), "more",
        ),
        Metric(
            "read_mbps", "read MB/s by device", (_S.mean,), "neither", "both",
            {**_DEVICE, "metric": "read_mbps"}, ("subject",),
        ),
        Metric(
            "queue", "queue length by device and by role of the volume", (_S.mean,), "neither",
            "both", {**_QUEUE, "metric": BY_ROLE["queue"].metric}, ("subject",),
        ),
        Metric(
            "iops", "best IOPS by curve (highest fill level); of a database, IOPS by role",
            (_C.best_iops,), "more", "both", _WITHIN, ("within", "curve"),
            _of_role("iops", "IOPS by role of the volume"),
        ),
        Metric(
            "mbps", "best MB/s by curve (highest fill level); of a database, MB/s by role",
            (_C.best_mbps,), "more", "both", _WITHIN, ("within", "curve"),
            _of_role("mbps", "MB/s by role of the volume"),
        ),
        Metric(
            "iops_by_fill", "best IOPS by fill level and curve",
            (_C.best_iops,), "more", where=_BY_FILL, each=("within", "curve"),
        ),
        Metric(
            "mbps_by_fill", "best MB/s by fill level and curve",
            (_C.best_mbps,), "more", where=_BY_FILL, each=("within", "curve"),
        ),
    )
}  # fmt: skip
"""All metrics by name."""


def had_by(workload: str, verb: Verb) -> list[str]:
    """Names of the metrics of a workload's runs or loads, or of several workloads at once.

    Streams beside other work repeat their queries, so they have none of the metrics of query tests.
    """
    listed = members(workload)
    if len(listed) == 1:
        return _had_by(workload, verb)
    found = dict.fromkeys(name for word in listed for name in _had_by(word, verb))
    kept = [name for name in found if owner(name).kind != "dss"]
    if sum(workloads.named(word).kind == "oltp" for word in listed) > 1:
        # Each has such levels.
        kept = [name for name in kept if not _is_of_any(owner(name))]
    return [*kept, *(name for name, metric in METRICS.items() if metric.kind == MIX)]


def _is_of_any(metric: Metric) -> bool:
    """Whether it does not tell the levels of one workload from those of another."""
    own = metric if metric.otherwise is None else metric.otherwise
    return not metric.main and not metric.each and any(one.owner is _L for one in own.asked)


def _had_by(workload: str, verb: Verb) -> list[str]:
    known = workload in workloads.names() or own.is_meant(workload)
    chosen = workloads.named(workload) if known else None
    kind, main = (chosen.kind, chosen.transactions.main) if chosen else (workload, "")
    found = [
        name
        for name, metric in METRICS.items()
        if metric.kind in ("", kind) and metric.main in ("", main) and metric.verb in (verb, "both")
    ]
    if chosen is not None and verb == "run":
        found += [name for name in membernames.of(chosen) if name not in found]
    return found


def find(name: str) -> Metric | None:
    """The metric of a name; None if there is none. Workloads of one's own have names of theirs."""
    return METRICS.get(name) or _named(name)


@cache
def _named(name: str) -> Metric | None:
    """A metric whose name contains that of a transaction or query."""
    if (of := membernames.parsed(name)) is None:
        return None
    what, word = of
    if what == "per_min":
        meaning = f"{word.replace('_', ' ')} per minute"
        return Metric(name, meaning, (_L.per_min(word),), "more")
    where = {"operation" if what == "p95_ms" else "query": re.escape(word)}
    if what == "p95_ms":
        meaning = f"{word.replace('_', ' ')} p95 response time, ms"
        return Metric(name, meaning, (_O.response("p95"),), "less", where=where)
    return Metric(
        name, f"time of the query {word}, s", (metrics.Query.seconds,), "less", where=where
    )


def owner(name: str) -> Metric:
    """The metric that a value's name belongs to.

    Raises:
        KeyError: If there is none.
    """
    found = find(name.partition(".")[0])
    if found is None:
        raise KeyError(name)
    return found


def wish(name: str, study: Study) -> Wish:
    """Whether higher or lower is better in a study. IOPS of a database are its resource usage."""
    found = owner(name)
    profiled = any(variant.workload == "io" for variant in study.variants)
    return found.wish if profiled or found.otherwise is None else found.otherwise.wish
