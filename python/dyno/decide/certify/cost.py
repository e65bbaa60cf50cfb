"""What a unit of the certified configuration costs, in money and in power."""

from __future__ import annotations

from dyno.certificates.bom import Bom
from dyno.certificates.figures import Cost


def costs(bill: Bom, units: dict[str, float | None]) -> tuple[Cost, ...]:
    """Divides the bill by what the configuration delivers; unknown units and zeros are left out.

    Args:
        bill: The bill of materials.
        units: Amount by unit.
    """
    return tuple(
        Cost(
            unit=unit,
            per=amount,
            price=bill.price / amount,
            watts=bill.watts / amount if bill.watts else None,
        )
        for unit, amount in units.items()
        if amount
    )
