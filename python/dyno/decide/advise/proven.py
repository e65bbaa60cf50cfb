"""Advice with its proof beside it. Advice that a study found to be worse is withdrawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from dyno.config.units import digits
from dyno.decide.advise.section import Section, Table
from dyno.studies.model import DEFAULT_MARGIN
from dyno.studies.proofs import Proof

WITHDRAWN = "withdrawn"


def beside(section: Section, proofs: Mapping[str, Proof]) -> Section:
    """A section with the proofs of its variants, by the name of the variant."""
    known = [(one, proofs[one.name]) for one in section.variants if one.name in proofs]
    if not known:
        return section
    gone = {one.name for one, proof in known if proof.verdict == "worse"}
    better = {one.name for one, proof in known if proof.verdict == "proven better"}
    rows = [
        (one.name, proof.verdict, effect(proof), str(proof.pairs), changes_text(one.changes))
        for one, proof in known
    ]
    columns = ("Advice", "Proof", "Effect", "Pairs>", "Change")
    own = Table(columns, rows, "Proof by study", [proof.verdict for _, proof in known])
    folders = dict.fromkeys(str(proof.folder) for _, proof in known)
    return replace(
        section,
        tables=[*(_marked(table, gone) for table in section.tables), own],
        commands={
            **{
                title: lines
                for title, lines in section.commands.items()
                if title.partition(":")[0] not in gone
            },
            **{name: lines for name, lines in section.once_proven.items() if name in better},
        },
        violated=[name for name in section.violated if name not in gone],
        closing=[
            *section.closing,
            *(f"{one.name}: {line}" for one, proof in known for line in _remarks(proof)),
            *(f"Study with the bundles of its runs: {folder}" for folder in folders),
        ],
    )


def _remarks(proof: Proof) -> list[str]:
    """What a reader must know beside the verdict."""
    lines = [proof.note] if proof.note else []
    if proof.verdict == "worse":
        lines.append("withdrawn, because it made the work slower here.")
    clear = proof.low is not None and proof.high is not None and proof.low * proof.high > 0
    if proof.verdict == "no difference found" and clear:
        lines.append(
            "its interval excludes 0, but not after correction for all comparisons of the "
            "study. More --pairs may decide it."
        )
    elif proof.verdict == "no difference found" and proof.smallest and not _narrow(proof):
        lines.append(
            f"minimum detectable effect {digits(round(proof.smallest, 1))} % with {proof.pairs} "
            "pairs (80 % power). More --pairs, or a quieter machine, lower it."
        )
    return lines


def _narrow(proof: Proof) -> bool:
    """Whether the interval leaves room for small shifts only."""
    return (
        proof.low is not None
        and proof.high is not None
        and (max(-proof.low, proof.high) <= DEFAULT_MARGIN)
    )


def _marked(table: Table, gone: set[str]) -> Table:
    """The same with rows of withdrawn advice marked."""
    hit = [bool(gone & set(row)) for row in table.rows]
    if not any(hit):
        return table
    marks = list(table.marks) or [""] * len(hit)
    rows = [
        (WITHDRAWN, *row[1:]) if out and table.marks else row
        for row, out in zip(table.rows, hit, strict=True)
    ]
    marks = [WITHDRAWN if out else mark for mark, out in zip(marks, hit, strict=True)]
    return replace(table, rows=rows, marks=marks)


def effect(proof: Proof) -> str:
    """The shift with its interval: ``tps +12 % (+8 to +15)``."""
    if proof.percent is None:
        return "–"
    text = f"{proof.metric} {_signed(proof.percent)} %"
    if proof.low is None or proof.high is None:
        return text
    return f"{text} ({_signed(proof.low)} to {_signed(proof.high)})"


def _signed(value: float) -> str:
    return f"{'+' if value > 0 else ''}{digits(round(value, 1))}"


def changes_text(changes: Mapping[str, str]) -> str:
    """``settings.memory=4GB``; of a layout that is a text, where to find it."""
    return ", ".join(
        f"{path}: see --write" if "\n" in value else f"{path}={value}"
        for path, value in changes.items()
    )


def document(section: Section, proofs: Mapping[str, Proof]) -> list[dict[str, Any]]:
    """The variants of a section with their proofs, for JSON; ``proof`` is None without one."""
    found: list[dict[str, Any]] = []
    for one in section.variants:
        proof = proofs.get(one.name)
        shown = None
        if proof is not None:
            shown = {**asdict(proof), "folder": str(proof.folder)}
        gone = proof is not None and proof.verdict == "worse"
        found.append({**asdict(one), "proof": shown, "withdrawn": gone})
    return found
