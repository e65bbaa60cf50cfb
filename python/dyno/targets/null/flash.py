"""Why nothing of the null target can be moved."""

from __future__ import annotations

from collections.abc import Mapping

from dyno.contracts.flash import PARTS, Part

LACKS: Mapping[Part, str] = dict.fromkeys(PARTS, "the null target stores no data")
