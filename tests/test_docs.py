"""Documents that are made from the code say what the code says."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent


def tool(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, ROOT / f"tools/{name}.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_the_page_of_targets_is_what_they_say() -> None:
    written = (ROOT / "docs/targets.md").read_text("utf-8")
    assert written == tool("targets_table").page(), (
        "python tools/targets_table.py > docs/targets.md"
    )


def test_the_pages_of_studies_are_what_they_say() -> None:
    made = tool("study_pages")
    written = {path.stem: path.read_text("utf-8") for path in (ROOT / "docs/studies").glob("*.md")}
    assert written == made.pages(), "python tools/study_pages.py"
    index = (ROOT / "docs/studies.md").read_text("utf-8")
    assert index == made.indexed(index), "python tools/study_pages.py"


def test_the_page_of_advice_is_what_the_rules_say() -> None:
    written = (ROOT / "docs/advice.md").read_text("utf-8")
    assert written == tool("advice_table").page(), "python tools/advice_table.py > docs/advice.md"


def test_the_page_of_criteria_is_what_the_metrics_say() -> None:
    written = (ROOT / "docs/criteria.md").read_text("utf-8")
    assert written == tool("criteria_table").page(), (
        "python tools/criteria_table.py > docs/criteria.md"
    )


def test_every_test_that_the_fault_table_names_exists() -> None:
    page = (ROOT / "docs/faults.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ") and "---" not in line]
    named = re.findall(r"`((?:tests|crates)/[\w/-]+\.(?:py|rs))::(\w+)`", page)
    headings = sum(line.startswith("| fault ") for line in rows)
    proven = [line for line in rows if re.search(r"`(?:tests|crates)/\S+::\w+`", line)]
    assert len(proven) == len(rows) - headings, "a row without its test"
    gone = [
        f"{file}::{name}"
        for file, name in named
        if not re.search(rf"^(?:def|fn) {name}\(", (ROOT / file).read_text("utf-8"), re.MULTILINE)
    ]
    assert not gone
