"""The decision-support tests: one user (power), several at once (throughput), and new data.

A *session* (``session.py``) is a connection with a deadline for each statement, opened again if it
is lost. A *query* is run on it and recorded (``query.py``); a *stream* runs queries in its order
(``stream.py``); a *crew* runs streams at once and stops them together (``crew.py``). Refresh
functions (``refresh.py``) change data that is whole again afterwards (``restore.py``).
"""

from dyno.stages.drive.dss.plan import DssPlan, PowerPlan, ThroughputPlan
from dyno.stages.drive.dss.power import power
from dyno.stages.drive.dss.restore import restore_left, restored
from dyno.stages.drive.dss.throughput import throughput

__all__ = [
    "DssPlan",
    "PowerPlan",
    "ThroughputPlan",
    "power",
    "restore_left",
    "restored",
    "throughput",
]
