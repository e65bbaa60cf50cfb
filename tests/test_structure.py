"""The house rules that a reader relies on, checked by enumeration."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "python" / "dyno"

# A stage may import what is shared and the plug-in protocols, never another stage.
STAGES = {
    "profile",
    "generate",
    "load",
    "drive",
    "prove",
    "observe",
    "analyse",
    "decide",
    "report",
}
FACES = {"cli", "__main__", "__init__"}
"""Those who compose the stages."""


def stage_of(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if parts[0] == "dyno" and len(parts) > 1 else None


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_stage_never_imports_another_stage(path: Path) -> None:
    own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    reached = {stage_of(module) for module in imports(path)}
    if own in STAGES:
        assert not (reached & (STAGES | {"cli"})) - {own}
    elif own not in FACES:  # a plug-in or a shared module knows neither stages nor command line
        assert not reached & (STAGES | {"cli"})


def test_the_list_of_stages_is_true() -> None:
    present = {path.name.removesuffix(".py") for path in PACKAGE.iterdir()}
    assert STAGES <= present
    assert FACES <= present


def test_only_one_crate_knows_python() -> None:
    for manifest in (ROOT / "crates").glob("*/Cargo.toml"):
        if manifest.parent.name != "dyno-py":
            assert "pyo3" not in manifest.read_text(encoding="utf-8")


def test_files_can_be_read_at_one_sitting() -> None:
    sources = [
        *files(),
        *(ROOT / "crates").glob("*/src/**/*.rs"),
        *(ROOT / "crates").glob("*/tests/**/*.rs"),
        *(ROOT / "tests").rglob("*.py"),
    ]
    long = {
        str(path.relative_to(ROOT)): count
        for path in sources
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > 500
    }
    assert not long


def test_reserved_metric_names_are_never_printed() -> None:
    reserved = ["Qph" + "H", "tpm" + "C", "tps" + "E"]
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if path.suffix in {".py", ".rs", ".html", ".j2", ".sql", ".toml"} and path.exists():
            text = path.read_text(encoding="utf-8")
            assert not [word for word in reserved if word in text], name
