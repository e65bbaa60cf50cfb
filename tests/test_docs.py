"""Documents that are made from the code say what the code says."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_page_of_targets_is_what_they_say() -> None:
    spec = importlib.util.spec_from_file_location("table", ROOT / "tools/targets_table.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    written = (ROOT / "docs/targets.md").read_text("utf-8")
    assert written == tool.page(), "python tools/targets_table.py > docs/targets.md"
