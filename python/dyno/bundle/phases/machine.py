"""The machine is looked at: what it is goes to the head of the bundle."""

from dyno.bundle.detail import Detail


class MachineDetail(Detail):
    """Nothing more."""


DETAIL = MachineDetail
