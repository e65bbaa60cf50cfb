"""What a unit of the certified configuration costs, in money and in power."""

from __future__ import annotations

from dyno.bundle.model import Model
from dyno.decide.certify.bom import Bom


class Cost(Model):
    """Price and power of one unit.

    Attributes:
        unit: ``TPS``, ``Q/h/TB (row)`` …
        per: The number of units that the configuration delivers.
        price: Price of a unit, in the currency of the bill.
        watts: Power of a unit, in W; None if the bill names no power.
    """

    unit: str
    per: float
    price: float
    watts: float | None = None


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
