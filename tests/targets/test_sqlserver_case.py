"""Names in T-SQL are written in one case only.

Dyno's own databases compare names by their bytes, and so do servers whose collation does. The test
server ignores the case of names, so it would not notice.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import dyno.targets.sqlserver
from dyno import workloads
from dyno.contracts import schema
from dyno.targets.sqlserver import diagnosed
from dyno.targets.sqlserver.queries import own
from dyno.workloads.brokerage.conditions import CONDITIONS as OF_BROKERAGE
from dyno.workloads.tpcc.conditions import CONDITIONS as OF_TPCC

CODE = Path(str(dyno.targets.sqlserver.__file__)).parent
GOLDEN = Path(__file__).parent / "golden" / "sqlserver"
DRIVER = Path(__file__).parents[2] / "crates" / "dyno-drive" / "src"
WORKLOADS = ("tpch", "ch", "tpcc", "brokerage")

BOTH = {
    *("bigint", "date", "kb", "key", "max", "mb", "name", "object_id", "object_name", "rows"),
    *("request_max_memory_grant_percent", "schema_id", "size"),
}
"""Words that are a keyword, type or function in capitals, and a name or type elsewhere."""
_SQL = re.compile(
    r"\s*(/\*.*?\*/\s*)?(SELECT|FROM|WHERE|JOIN|IF|SET|USE|EXEC|EXECUTE|CREATE|ALTER|DROP|INSERT"
    r"|UPDATE|DELETE|DECLARE|DBCC|BACKUP|RESTORE|KILL|sys\.)\b"
)
_LEFT_OUT = re.compile(
    r"--[^\n]*|/\*.*?\*/|N?'(?:[^']|'')*'|\{\w+\}|\bLatin1_General_\w+", re.DOTALL
)
_TALK = re.compile(r"\b(the|every|then|pages|and)\b")
"""Descriptions of a statement contain words of English."""
_WORD = re.compile(r"[@#$A-Za-z_][\w@#$]*")
_RUST = re.compile(r'"((?:select|insert|update|delete|exec|with) (?:[^"\\]|\\.)*)"', re.DOTALL)


def in_code(file: Path) -> Iterator[str]:
    """The statements in a file of Python, and the beginnings of others."""
    tree = ast.parse(file.read_text("utf-8"))
    texts = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if id(node) in texts:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        elif isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else " " for part in node.values]
            text = "".join(map(str, parts))
        else:
            continue
        if _SQL.match(text) and not _TALK.search(text):
            yield text


def statements() -> Iterator[str]:
    """All T-SQL of Dyno's."""
    for file in sorted(CODE.rglob("*.py")):
        yield from in_code(file)
    for file in (*sorted(CODE.rglob("*.sql")), *sorted(GOLDEN.glob("*.sql"))):
        yield file.read_text("utf-8")
    for workload in WORKLOADS:
        yield from (own(query.text()) for query in workloads.get(workload).queries)
    yield from (own(condition.sql) for condition in (*OF_TPCC, *OF_BROKERAGE))
    yield from (sql for section in diagnosed.SECTIONS.values() for sql in section.values())
    yield from diagnosed.VIEWS


def words(texts: Iterable[str]) -> dict[str, set[str]]:
    """The forms of each word outside of quotes and comments."""
    found: dict[str, set[str]] = defaultdict(set)
    for text in texts:
        for word in _WORD.findall(_LEFT_OUT.sub(" ", text)):
            found[word.lower()].add(word)
    return found


def test_each_name_has_one_form() -> None:
    found = words(statements())
    for workload in WORKLOADS:
        for table in schema.tables(workload):
            for name in (table["name"], *(column["name"] for column in table["columns"])):
                found[name.lower()].add(name)
    assert {forms for forms in map(frozenset, found.values()) if len(forms) > 1} == {
        frozenset({word, word.upper()}) for word in BOTH
    }
    # What is in capitals only is a keyword or the name of a function.
    every = {form for forms in found.values() for form in forms}
    assert {form for form in every if form not in (form.lower(), form.upper())} == set()


def test_the_driver_writes_all_in_small_letters() -> None:
    count = 0
    for folder in ("workloads", "wire/mssql", "load"):
        for file in sorted((DRIVER / folder).rglob("*.rs")):
            own = file.read_text("utf-8").partition("\n#[cfg(test)]\nmod tests {")[0]
            for text in _RUST.findall(own):
                plain = _LEFT_OUT.sub(" ", text.replace("\\\n", "\n"))
                assert plain == plain.lower(), file
                count += 1
    assert count > 100
