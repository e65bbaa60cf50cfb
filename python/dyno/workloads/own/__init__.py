"""Statements of one's own: workloads that users write as TOML files (``docs/own-statements.md``).

A file (``spec``, ``forms``) becomes a workload (``workload``) whose tables the generator makes
(``tables``), whose transactions the driver's kind ``script`` runs (``planned``), and whose queries
are those of a decision-support test (``queries``). ``examples`` has files that ship with Dyno.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from dyno.bundle import statements
from dyno.config import presets
from dyno.contracts.databases import OWN

if TYPE_CHECKING:
    from dyno.contracts.workload import Workload

EXAMPLES = Path(__file__).parent / "examples"

_READ: dict[str, Workload] = {}


def examples() -> list[str]:
    """Names of the shipped files, sorted."""
    return presets.names(EXAMPLES)


def is_meant(text: str) -> bool:
    """Whether a word for a workload means such a file: its path, or the name of an example."""
    return text.endswith(".toml") or text in examples()


def read(text: str) -> Workload:
    """Reads the file that the user names; its workload is then known by its own name.

    Raises:
        UsageError: With the first fault of the file, in one line.
    """
    from dyno.workloads.own import spec
    from dyno.workloads.own.workload import workload_of

    name, source, content = presets.find(EXAMPLES, "workload", text)
    path = EXAMPLES / f"{name}.toml" if source == "preset" else Path(source)
    found = spec.read(content, f"The workload {text}", name, path.parent)
    files = {query.file: query.sql for query in found.queries if query.file is not None}
    digest = hashlib.sha256(content.encode())
    for file, sql in files.items():
        digest.update(str(sql).encode())
        content += f"\n# {file}:\n" + "".join(f"# {line}\n" for line in str(sql).splitlines())
    source = statements.Source(path.name, digest.hexdigest(), content)
    made = workload_of(found, source, path.parent, text)
    _READ[made.name] = made
    return made


def find(name: str) -> Workload | None:
    """The workload with the name that :func:`read` gave it, or that a bundle recorded."""
    if name in _READ or not name.startswith(OWN):
        return _READ.get(name)
    from dyno.workloads.own.recorded import workload_of

    recorded = statements.recorded(name)
    return None if recorded is None else workload_of(name, recorded)
