"""The metrics of a run: one scope class per subject, one module per family.

``metrics.Level("users-8").operation("payment").response("p95")`` is the key of an estimate.
"""

from dyno.bundle.metrics.base import Estimates, FindsEstimates, Key, Metric, Scope, declared
from dyno.bundle.metrics.certify import Interval
from dyno.bundle.metrics.criteria import Criterion
from dyno.bundle.metrics.dss import Queries, QueriesDatabase, QueriesPair, Query
from dyno.bundle.metrics.during import Beside, Maintenance, MaintenanceStep, Stretch
from dyno.bundle.metrics.flash import Accelerated
from dyno.bundle.metrics.gap import Gap, Share
from dyno.bundle.metrics.io import Compared, Curve, Part, Side, StorageLoad, VolumeSet
from dyno.bundle.metrics.load import Index, Load, Step, loaded
from dyno.bundle.metrics.mix import Member as MixMember
from dyno.bundle.metrics.mix import Slowdown
from dyno.bundle.metrics.mix import Total as MixTotal
from dyno.bundle.metrics.mix import Window as MixWindow
from dyno.bundle.metrics.oltp import Level, Operation
from dyno.bundle.metrics.resource import Resources, Sampled
from dyno.bundle.metrics.search import Capacity
from dyno.bundle.metrics.watch import Busiest, Watch

__all__ = [
    "Accelerated",
    "Beside",
    "Busiest",
    "Capacity",
    "Compared",
    "Criterion",
    "Curve",
    "Estimates",
    "FindsEstimates",
    "Gap",
    "Index",
    "Interval",
    "Key",
    "Level",
    "Load",
    "Maintenance",
    "MaintenanceStep",
    "Metric",
    "MixMember",
    "MixTotal",
    "MixWindow",
    "Operation",
    "Part",
    "Queries",
    "QueriesDatabase",
    "QueriesPair",
    "Query",
    "Resources",
    "Sampled",
    "Scope",
    "Share",
    "Side",
    "Slowdown",
    "Step",
    "StorageLoad",
    "Stretch",
    "VolumeSet",
    "Watch",
    "declared",
    "loaded",
]
