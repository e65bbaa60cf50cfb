"""Stage: what host, devices and servers do while a run goes on. One probe a file, found by name."""

from dyno.stages.observe.registry import names, open_probes
from dyno.stages.observe.sampler import Sampler

__all__ = ["Sampler", "names", "open_probes"]
