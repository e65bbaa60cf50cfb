"""Microsoft's own grammar of T-SQL (ScriptDOM), for statements that no test server can run.

It is a library of .NET. PyPI has it inside ``mssql-cli``, and the runtime as ``dotnetcore2``::

    pip install --no-deps mssql-cli==1.0.0
    pip install pythonnet dotnetcore2

The grammar is that of SQL Server 2019. It runs in a process of its own, because the runtime of
.NET takes over signals.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

_LIBRARY = "mssqltoolsservice/bin/Microsoft.SqlServer.TransactSql.ScriptDom.dll"
_PACKAGES = ("mssqlcli", "pythonnet", "dotnetcore2")
_CONFIG = {
    "runtimeOptions": {
        "tfm": "netcoreapp3.1",
        "framework": {"name": "Microsoft.NETCore.App", "version": "3.1.0"},
    }
}
LIMIT_S = 60


def require_scriptdom() -> None:
    """Skips a test where the grammar is not installed."""
    missing = [name for name in _PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"Microsoft's T-SQL grammar needs {', '.join(missing)}; see tests/scriptdom.py")


def mistakes(statements: Sequence[str]) -> list[list[str]]:
    """What is wrong with each statement or batch; an empty list for a correct one."""
    done = subprocess.run(
        [sys.executable, __file__],
        input=json.dumps(list(statements)),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=True,
        env={**os.environ, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"},
    )
    found: list[list[str]] = json.loads(done.stdout)
    return found


def _main() -> None:
    # Types of .NET are not known to a type checker.
    import dotnetcore2.runtime  # pyright: ignore
    from clr_loader import get_coreclr  # pyright: ignore
    from pythonnet import set_runtime  # pyright: ignore

    spec = importlib.util.find_spec("mssqlcli")
    assert spec is not None and spec.origin is not None
    root = Path(dotnetcore2.runtime.get_runtime_path()).parent  # pyright: ignore
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "dyno.runtimeconfig.json"
        config.write_text(json.dumps(_CONFIG), encoding="utf-8")
        set_runtime(get_coreclr(runtime_config=str(config), dotnet_root=str(root)))
        import clr  # pyright: ignore

        clr.AddReference(str(Path(spec.origin).parent / _LIBRARY))  # pyright: ignore
        from Microsoft.SqlServer.TransactSql.ScriptDom import TSql150Parser  # pyright: ignore
        from System.IO import StringReader  # pyright: ignore

        parser = TSql150Parser(True)  # pyright: ignore
        found: list[list[str]] = []
        for text in json.load(sys.stdin):
            _, errors = parser.Parse(StringReader(text), None)  # pyright: ignore
            found.append([f"{error.Line}: {error.Message}" for error in errors])  # pyright: ignore
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    _main()
