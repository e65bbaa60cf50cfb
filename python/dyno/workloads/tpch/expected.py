"""Expected answers at scales 0.01 and 1. The data is the same for every seed, so they fit any."""

from __future__ import annotations

from pathlib import Path

from dyno.workloads.shipped import Shipped

SHIPPED = Shipped(Path(__file__).with_name("answers"), (0.01, 1.0))
SCALES = SHIPPED.scales
path = SHIPPED.path
read = SHIPPED.read
expected = SHIPPED.expected
