"""Stage: samples host, devices and servers during a run. One probe per file, found by name."""

from dyno.stages.observe.registry import names, open_probes
from dyno.stages.observe.sampler import Sampler

__all__ = ["Sampler", "names", "open_probes"]
