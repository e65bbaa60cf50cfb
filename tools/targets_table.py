"""Prints docs/targets.md: what every target can do, as the targets themselves say.

`python tools/targets_table.py > docs/targets.md`; a test compares the two.
"""

from __future__ import annotations

from dataclasses import fields

from dyno import targets
from dyno.targets.base import Capabilities


def page() -> str:
    """The page as Markdown."""
    words = [field.name for field in fields(Capabilities)]
    rows: list[str] = []
    reasons: list[str] = []
    for name in targets.names():
        able, address = targets.about(name)
        cells = []
        for word in words:
            value = getattr(able, word)
            if value is True:
                cells.append("yes")
                continue
            reasons.append(f"{len(reasons) + 1}. {name}, {word.replace('_', ' ')}: {value}.")
            cells.append(f"no ({len(reasons)})")
        rows.append(
            f"| {name} | {', '.join(f'`{text}`' for text in address)} | {' | '.join(cells)} |"
        )
    head = ["target", "address", *(word.replace("_", " ") for word in words)]
    return "\n".join(
        [
            "# Targets",
            "",
            "What each target can do, as it says itself. A gap is named with its reason, here and",
            "when it is asked for; it is never left out silently.",
            "",
            f"| {' | '.join(head)} |",
            f"|{'---|' * len(head)}",
            *rows,
            "",
            *reasons,
            "",
        ]
    )


if __name__ == "__main__":
    print(page(), end="")  # noqa: T201
