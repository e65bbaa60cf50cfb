"""The house rules that a reader relies on, checked by enumeration."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterable
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "python" / "dyno"

# A stage may import what is shared and the contracts, never another stage.
WRITERS = {"profile", "generate", "load", "drive", "prove", "observe"}
"""Stages that write the record, under ``dyno.stages``."""
READERS = {"analyse", "decide", "report"}
"""Stages that read it."""
FACES = {"cli", "runner", "live", "__main__"}
"""Those who compose the stages, or show what they record."""
PRODUCTS = {
    *("postgresql", "postgres", "mysql", "mariadb", "duckdb", "clickhouse", "sqlite"),
    *("sqlserver", "mssql", "babelfish"),
}


def parts_of(path: Path) -> tuple[str, ...]:
    return path.relative_to(PACKAGE).with_suffix("").parts


def stage_of(parts: Iterable[str]) -> str | None:
    """The stage that a module belongs to, as ``stages.drive`` or ``report``."""
    match list(parts):
        case ["stages", name, *_] if name in WRITERS:
            return f"stages.{name}"
        case [name, *_] if name in READERS | {"cli"}:
            return name
        case _:
            return None


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path: Path) -> set[str]:
    """Modules of Dyno that a file imports, without the leading ``dyno.``."""
    found: set[str] = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return {name.removeprefix("dyno.") for name in found if name.startswith("dyno.")}


def files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def test_a_stage_never_imports_another_stage() -> None:
    for path in files():
        parts = parts_of(path)
        reached = {stage_of(module.split(".")) for module in imports(path)} - {None}
        # A plug-in or a shared module knows neither stages nor command line.
        assert parts[0] in FACES or reached <= {stage_of(parts)}, path


def test_the_list_of_stages_is_true() -> None:
    present = {path.name.removesuffix(".py") for path in PACKAGE.iterdir()}
    assert READERS | FACES | {"stages"} <= present
    assert {path.name.removesuffix(".py") for path in (PACKAGE / "stages").iterdir()} >= WRITERS


def test_packages_have_no_cycle() -> None:
    packages = {path.name for path in PACKAGE.iterdir() if path.is_dir()}
    reached: dict[str, set[str]] = {name: set() for name in packages}
    for path in files():
        own = parts_of(path)[0]
        if own in packages:
            reached[own] |= {module.split(".")[0] for module in imports(path)} & packages - {own}
    order = TopologicalSorter(reached)
    order.prepare()  # CycleError names a cycle


def test_only_the_command_line_knows_a_terminal() -> None:
    for path in files():
        nodes = list(ast.walk(tree_of(path)))
        names = {a.name for node in nodes if isinstance(node, ast.Import) for a in node.names}
        names |= {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}
        terminal = {name.split(".")[0] for name in names} & {"click", "rich"}
        assert parts_of(path)[0] == "cli" or not terminal, path


def test_loose_modules_are_few() -> None:
    """A module belongs into a package that says what it is."""
    loose = {path.stem for path in PACKAGE.glob("*.py")}
    assert loose == {"__init__", "__main__", "errors"}


def named_products(path: Path) -> list[str]:
    """Texts of a file, other than its docstrings, that are nothing but a product's address."""
    tree = tree_of(path)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [
        f"{path.name}:{node.lineno} {node.value!r}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in docstrings
        if node.value.lower().removeprefix("embedded:").rstrip(":/") in PRODUCTS
    ]


def test_only_targets_know_products() -> None:
    """What a product can do it declares; no list of names stands anywhere else."""
    outside = [path for path in files() if parts_of(path)[0] not in {"targets", "servers"}]
    assert [found for path in outside for found in named_products(path)] == []


def test_a_product_that_is_named_is_found(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text('"""postgresql"""\nx = ["Embedded:MySQL", "a duckdb", "sqlite"]')
    assert [found.split()[-1] for found in named_products(file)] == ["'Embedded:MySQL'", "'sqlite'"]


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
