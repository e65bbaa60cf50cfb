"""Writes docs/studies/NAME.md of every study that Dyno ships, and their index in docs/studies.md.

`python tools/study_pages.py`; a test compares them with the studies.
"""

from __future__ import annotations

from pathlib import Path

from dyno import studies
from dyno.config.units import seconds_text
from dyno.studies import asked, differences, spec
from dyno.studies.metrics import METRICS
from dyno.studies.model import Study

DOCS = Path(__file__).parent.parent / "docs"
BEGIN, END = "<!-- shipped: made by tools/study_pages.py -->", "<!-- end of shipped -->"

_RESET = {
    "nothing": "nothing",
    "restart": "restart the server",
    "cold": "restart the server and drop its caches",
    "reload": "restore the data to its state after the load",
}


def pages() -> dict[str, str]:
    """Markdown of each shipped study, by name."""
    return {name: _page(spec.read(name)) for name in studies.names()}


def indexed(text: str) -> str:
    """The page on studies with its index of those that are shipped made anew."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    rows = [f"| [{name}](studies/{name}.md) | {_cell(studies.purpose(name))} |"
            for name in studies.names()]  # fmt: skip
    return "\n".join(
        [f"{before}{BEGIN}", "| study | question |", "|---|---|", *rows, f"{END}{after}"]
    )


def _page(study: Study) -> str:
    words = [
        ("Question", study.question),
        ("Design", study.design),
        ("Decision rule", study.rule),
        ("Limitations", study.misleads),
    ]
    return "\n".join(
        [
            f"# Study `{study.name}`",
            "",
            f"Made from `python/dyno/studies/{study.name}.toml` by `tools/study_pages.py`.",
            "",
            *[line for title, text in words for line in (f"## {title}", "", text, "")],
            "## How it runs",
            "",
            *_facts(study),
            "",
            "## Variants",
            "",
            f"`{study.variants[0].name}` is the baseline.",
            "",
            *_table(["variant", *differences.differing(study)], differences.rows(study)),
            "",
            "Common settings: "
            + ", ".join(f"`{path} = {value}`" for path, value in differences.common(study).items())
            + ".",
            "",
            "## Metrics",
            "",
            *_metrics(study),
            "",
            "## Commands",
            "",
            "```",
            f"dyno study plan {study.name}",
            f"dyno study {study.name}",
            "```",
            "",
            "Commands of each variant:",
            "",
            "```",
            *[
                line
                for variant in study.variants
                for line in (f"# {variant.name}", *asked.typed(variant, study))
            ],
            "```",
            "",
        ]
    )


def _facts(study: Study) -> list[str]:
    facts = [
        f"- {study.pairs} runs per variant, in randomised blocks with alternating order (ABBA).",
        f"- Before each run: {_RESET.get(study.reset, study.reset)}.",
        f"- A shift within ±{study.margin:g} % is irrelevant in practice.",
        f"- Invalid runs are repeated, at most {study.replace} times.",
    ]
    if study.time_limit_s is not None:
        facts.append(f"- No pair starts after {seconds_text(study.time_limit_s)}.")
    facts += [f"- A variant that fails `{text}` is disqualified." for text in study.criteria]
    return facts


def _metrics(study: Study) -> list[str]:
    rows = [
        [f"`{name}`", METRICS[name].meaning, METRICS[name].wish, kind]
        for kind, names in (("headline", study.headline), ("exploratory", study.exploratory))
        for name in names
    ]
    return _table(["metric", "meaning", "better", ""], rows)


def _table(head: list[str], rows: list[list[str]]) -> list[str]:
    lines = [f"| {' | '.join(_cell(cell) for cell in row)} |" for row in (head, *rows)]
    return [lines[0], f"|{'---|' * len(head)}", *lines[1:]]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> None:
    """Writes all of it; pages of studies that are gone go too."""
    folder = DOCS / "studies"
    folder.mkdir(exist_ok=True)
    made = pages()
    for old in folder.glob("*.md"):
        if old.stem not in made:
            old.unlink()
    for name, text in made.items():
        (folder / f"{name}.md").write_text(text, "utf-8")
    overview = DOCS / "studies.md"
    overview.write_text(indexed(overview.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
