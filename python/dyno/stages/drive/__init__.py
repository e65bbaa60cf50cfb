"""Stage: runs decision-support queries and transactions against a loaded target."""

from dyno.stages.drive.dss import (
    DssPlan,
    IntervalPlan,
    PowerPlan,
    ThroughputPlan,
    interval,
    power,
    restore_left,
    restored,
    throughput,
)
from dyno.stages.drive.dss.held import HeldPlan
from dyno.stages.drive.during import DuringPlan, estimated
from dyno.stages.drive.during_oltp import drive_during
from dyno.stages.drive.during_queries import StreamPlan, queries_during
from dyno.stages.drive.mixed import Mixed, MixMember, MixPlan, mixed
from dyno.stages.drive.oltp import OltpPlan, interval_for, program
from dyno.stages.drive.plans import PlansPlan, explain
from dyno.stages.drive.several import drive, parts
from dyno.stages.drive.until_steady import UntilSteadyPlan, drive_until_steady

__all__ = [
    "DssPlan",
    "DuringPlan",
    "HeldPlan",
    "IntervalPlan",
    "MixMember",
    "MixPlan",
    "Mixed",
    "OltpPlan",
    "PlansPlan",
    "PowerPlan",
    "StreamPlan",
    "ThroughputPlan",
    "UntilSteadyPlan",
    "drive",
    "drive_during",
    "drive_until_steady",
    "estimated",
    "explain",
    "interval",
    "interval_for",
    "mixed",
    "parts",
    "power",
    "program",
    "queries_during",
    "restore_left",
    "restored",
    "throughput",
]
