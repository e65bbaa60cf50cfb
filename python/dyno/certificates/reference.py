"""The configuration that a certificate compares with, from a TOML file."""

from __future__ import annotations

from pydantic import Field, model_validator

from dyno.certificates.quantity import Rate, Size, rate, terabytes
from dyno.config.strict import Strict
from dyno.contracts.layout import Form


class Throughput(Strict):
    """Throughput of the reference with tables in one form."""

    throughput: Rate


class Reference(Strict):
    """A reference configuration.

    Attributes:
        name: A short description.
        user_data: User data that it is rated for, as ``25 TB``.
        scale: Scale at which its throughput was measured; other scales are not comparable.
        row, column: Its throughput by form, as ``110 Q/h/TB``.
    """

    name: str = Field(min_length=1, max_length=200)
    user_data: Size
    scale: float | None = Field(None, gt=0, allow_inf_nan=False, strict=False)
    row: Throughput | None = None
    column: Throughput | None = None

    @model_validator(mode="after")
    def _has_a_form(self) -> Reference:
        if self.row is None and self.column is None:
            raise ValueError("it needs a [row] or a [column] table with a throughput")
        return self

    @property
    def user_data_tb(self) -> float:
        """User data that it is rated for, in TB."""
        return terabytes(self.user_data)

    def of(self, form: Form) -> float | None:
        """Its throughput in queries/h/TB; None without that form."""
        found = self.row if form == "row" else self.column
        return None if found is None else rate(found.throughput)
