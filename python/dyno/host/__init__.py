"""The machine: facts for the bundle, warnings, and resource limits of engines.

The parsers of kernel files are here too, one subject per file; the probes share them.
"""

from dyno.host.facts import collect
from dyno.host.limits import limits
from dyno.host.warnings import warnings

__all__ = ["collect", "limits", "warnings"]
