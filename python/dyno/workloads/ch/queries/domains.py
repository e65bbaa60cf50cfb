"""The values of substitution parameters: domains of the generated columns."""

from __future__ import annotations

import string

from dyno.workloads.tpch.queries.pick import Picker

REGION_OF_NATION = {
    "ARGENTINA": "AMERICA",
    "BRAZIL": "AMERICA",
    "CHINA": "ASIA",
    "DENMARK": "EUROPE",
    "EGYPT": "MIDDLE EAST",
    "FRANCE": "EUROPE",
    "GERMANY": "EUROPE",
    "HUNGARY": "EUROPE",
    "INDIA": "ASIA",
    "JAPAN": "ASIA",
    "KENYA": "AFRICA",
    "LEBANON": "MIDDLE EAST",
    "MOROCCO": "AFRICA",
    "NIGERIA": "AFRICA",
    "OMAN": "MIDDLE EAST",
    "PERU": "AMERICA",
    "QATAR": "MIDDLE EAST",
    "ROMANIA": "EUROPE",
    "SENEGAL": "AFRICA",
    "THAILAND": "ASIA",
    "UGANDA": "AFRICA",
    "VIETNAM": "ASIA",
    "WALES": "EUROPE",
    "MEXICO": "AMERICA",
    "YEMEN": "MIDDLE EAST",
    "ZAMBIA": "AFRICA",
}
"""Nations that have customers: states begin with a capital letter."""
NATIONS = tuple(REGION_OF_NATION)
REGIONS = ("AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST")

LETTERS = tuple(string.digits + string.ascii_letters)
"""Characters of texts."""
CAPITALS = tuple(string.ascii_uppercase)
CARRIERS = tuple(range(1, 11))
CODES = tuple(f"{code:02}" for code in range(100))
"""The first two digits of phone numbers."""


def since(pick: Picker) -> str:
    """A time after the first loaded orders and before the last delivered ones, of 35 minutes."""
    return f"2025-01-01 00:{pick.whole(5, 30):02}:00"
