"""A bill of materials from a TOML file: prices and power of what was certified."""

from __future__ import annotations

from pydantic import Field, field_validator

from dyno.config.strict import Strict
from dyno.errors import nearest

_CODES = """
AED ARS AUD BDT BGN BHD BRL CAD CHF CLP CNY COP CZK DKK DZD EGP EUR GBP GEL GHS HKD HUF
IDR ILS INR ISK JOD JPY KES KRW KWD KZT LKR MAD MDL MXN MYR NGN NOK NZD OMR PEN PHP PKR
PLN QAR RON RSD RUB SAR SEK SGD THB TND TRY TWD UAH USD UYU UZS VND ZAR
"""
CURRENCIES = frozenset(_CODES.split())
"""Codes of ISO 4217."""

MOST = 1e12
"""Above this, a price or a power is a typing error."""


class Item(Strict):
    """A line.

    Attributes:
        price: Price of one, in the currency of the bill.
        watts: Power of one under load.
        sku: The vendor's number.
    """

    name: str = Field(min_length=1, max_length=120)
    quantity: int = Field(1, ge=1, le=1_000_000)
    price: float = Field(ge=0, le=MOST, allow_inf_nan=False, strict=False)
    watts: float = Field(0.0, ge=0, le=MOST, allow_inf_nan=False, strict=False)
    sku: str = Field("", max_length=60)


class Bom(Strict):
    """A bill of materials.

    Attributes:
        currency: ISO 4217 code of all prices.
    """

    currency: str
    items: list[Item] = Field(min_length=1, max_length=500)

    @field_validator("currency")
    @classmethod
    def _known(cls, code: str) -> str:
        if code not in CURRENCIES:
            hint = nearest(code, CURRENCIES) if len(code) <= 3 else ""
            raise ValueError(f"it is not a known ISO 4217 currency code. {hint}".rstrip())
        return code

    @property
    def price(self) -> float:
        """Total price."""
        return sum(item.quantity * item.price for item in self.items)

    @property
    def watts(self) -> float:
        """Total power in W."""
        return sum(item.quantity * item.watts for item in self.items)
