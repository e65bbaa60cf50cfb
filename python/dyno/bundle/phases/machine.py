"""Inspects the machine. The bundle head holds the result."""

from dyno.bundle.detail import Detail


class MachineDetail(Detail):
    """No further fields."""


DETAIL = MachineDetail
