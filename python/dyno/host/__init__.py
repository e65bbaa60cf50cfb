"""What the machine is: facts for the bundle, what in them spoils a measurement, what fits on it.

The parsers of the kernel's files live here too, one subject a file; the probes share them.
"""

from dyno.host.facts import collect
from dyno.host.limits import limits
from dyno.host.warnings import warnings

__all__ = ["collect", "limits", "warnings"]
