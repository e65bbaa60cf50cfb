"""The values of substitution parameters: domains of the generated columns."""

from __future__ import annotations

from dyno.workloads.tpch.queries.pick import Picker

REGION_OF_NATION = {
    "ALGERIA": "AFRICA",
    "ARGENTINA": "AMERICA",
    "BRAZIL": "AMERICA",
    "CANADA": "AMERICA",
    "EGYPT": "MIDDLE EAST",
    "ETHIOPIA": "AFRICA",
    "FRANCE": "EUROPE",
    "GERMANY": "EUROPE",
    "INDIA": "ASIA",
    "INDONESIA": "ASIA",
    "IRAN": "MIDDLE EAST",
    "IRAQ": "MIDDLE EAST",
    "JAPAN": "ASIA",
    "JORDAN": "MIDDLE EAST",
    "KENYA": "AFRICA",
    "MOROCCO": "AFRICA",
    "MOZAMBIQUE": "AFRICA",
    "PERU": "AMERICA",
    "CHINA": "ASIA",
    "ROMANIA": "EUROPE",
    "SAUDI ARABIA": "MIDDLE EAST",
    "VIETNAM": "ASIA",
    "RUSSIA": "EUROPE",
    "UNITED KINGDOM": "EUROPE",
    "UNITED STATES": "AMERICA",
}
NATIONS = tuple(REGION_OF_NATION)
REGIONS = ("AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST")

# A phone number starts with 10 plus the nation's key.
COUNTRY_CODES = tuple(str(10 + key) for key in range(len(NATIONS)))

SEGMENTS = ("AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY")
SHIP_MODES = ("REG AIR", "AIR", "RAIL", "TRUCK", "MAIL", "FOB", "SHIP")

# A part's type is one word of each list.
TYPE_CLASSES = ("STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO")
TYPE_FINISHES = ("ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED")
TYPE_METALS = ("TIN", "NICKEL", "BRASS", "STEEL", "COPPER")

# A part's container is one word of each list.
CONTAINER_SIZES = ("SM", "LG", "MED", "JUMBO", "WRAP")
CONTAINER_SHAPES = ("CASE", "BOX", "BAG", "JAR", "PACK", "PKG", "CAN", "DRUM")

# A part's name is five of these.
_COLORS = """
almond antique aquamarine azure beige bisque black blanched blue blush brown burlywood burnished
chartreuse chiffon chocolate coral cornflower cornsilk cream cyan dark deep dim dodger drab
firebrick floral forest frosted gainsboro ghost goldenrod green grey honeydew hot indian ivory
khaki lace lavender lawn lemon light lime linen magenta maroon medium metallic midnight mint
misty moccasin navajo navy olive orange orchid pale papaya peach peru pink plum powder puff
purple red rose rosy royal saddle salmon sandy seashell sienna sky slate smoke snow spring steel
tan thistle tomato turquoise violet wheat white yellow
"""
COLORS = tuple(_COLORS.split())

# The two words in the comment of a special order, in this order.
COMMENT_FIRST = ("special", "pending", "unusual", "express")
COMMENT_SECOND = ("packages", "requests", "accounts", "deposits")


def brand(pick: Picker) -> str:
    """``Brand#MN``, M and N from 1 to 5."""
    return f"Brand#{pick.whole(1, 5)}{pick.whole(1, 5)}"
