"""What is true of one workload stands in its folder: elsewhere nobody knows it by name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import dyno
from dyno import workloads

PACKAGE = Path(dyno.__file__).parent
DRIVER = PACKAGE.parents[1] / "crates" / "dyno-drive" / "src"
MAINS = [one.transactions for one in map(workloads.get, workloads.names()) if one.operations]
WORDS = [*workloads.names(), *(word for main in MAINS for word in (main.main, main.plural))]
NAMED = re.compile(rf"(?<![a-z])(?:{'|'.join(WORDS)})(?![a-z])")


def named(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of each literal that names a workload, its main operation or its modules.

    Sentences and examples of command lines, which have spaces, and docstrings may.
    """
    tree = ast.parse(source)
    docstrings = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in docstrings
        ):
            if " " not in node.value and NAMED.search(node.value):
                yield node.lineno, node.value
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if any(module.startswith(f"dyno.workloads.{name}") for name in workloads.names()):
                yield node.lineno, module


def test_literals_and_imports_are_found() -> None:
    source = '''
"""About tpcc."""
from dyno.workloads.tpcc.driven import TRANSACTIONS
found = {"tpcc": f"oltp.{level}.new_order.p95", "a": "dyno run tpch", "b": "tpccx"}
'''
    assert [text for _, text in named(source)] == [
        "dyno.workloads.tpcc.driven",
        "tpcc",
        ".new_order.p95",
    ]


def test_no_module_knows_a_workload_by_name() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{line} {text!r}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.relative_to(PACKAGE).parts[0] != "workloads"
        for line, text in named(path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


def test_no_part_of_the_driver_knows_a_workload_by_name() -> None:
    found: list[str] = []
    for path in sorted(DRIVER.rglob("*.rs")):
        place = path.relative_to(DRIVER)
        # What is public of the workloads' parameters is stated in one line.
        if place.parts[0] == "workloads" or path.name == "lib.rs" or "tests" in place.name:
            continue
        text = path.read_text(encoding="utf-8").partition("#[cfg(test)]")[0]
        lines = enumerate(text.splitlines(), 1)
        found += [f"{place}:{line} {words}" for line, words in lines if NAMED.search(words)]
    assert not found, "\n".join(found)
