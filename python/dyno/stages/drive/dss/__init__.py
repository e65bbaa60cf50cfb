"""The decision-support tests: single user (power), several streams (throughput), and refreshes.

A *session* (``session.py``) is a connection with a deadline per statement. A lost connection is
reopened. A *query* runs on a session and is recorded (``query.py``). A *stream* runs queries in its
order (``stream.py``). A *crew* runs streams concurrently and stops them together (``crew.py``).
Refresh functions (``refresh.py``) change data; ``restore.py`` restores it.
"""

from dyno.stages.drive.dss.interval import IntervalPlan, interval
from dyno.stages.drive.dss.plan import DssPlan, PowerPlan, ThroughputPlan
from dyno.stages.drive.dss.power import power
from dyno.stages.drive.dss.restore import restore_left, restored
from dyno.stages.drive.dss.throughput import throughput

__all__ = [
    "DssPlan",
    "IntervalPlan",
    "PowerPlan",
    "ThroughputPlan",
    "interval",
    "power",
    "restore_left",
    "restored",
    "throughput",
]
