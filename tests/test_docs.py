"""Documents that are made from the code say what the code says."""

from __future__ import annotations

import importlib.util
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
