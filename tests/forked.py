"""Dyno's command line in a process of its own, forked from one that has its imports already.

Imports take most of the CPU time of a short run, and of the rest the charts of its page take half:
the renderer starts a JavaScript engine in each process. So charts are defined, but only rendered
where a test asks for it. ``tests.process.start`` runs the command as users do, imports and all.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from markupsafe import Markup

_LIGHT = Path(__file__).with_name("light")

_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(["tests.preloaded"])


def light() -> dict[str, str]:
    """The environment of a process that, with its children, is as in ``light/sitecustomize.py``."""
    # Last, because a test may have a sitecustomize of its own, and Python imports only the first.
    path = [*filter(None, [os.environ.get("PYTHONPATH")]), str(_LIGHT)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}


def run(
    arguments: Sequence[str],
    timeout: float,
    cwd: Path | None = None,
    given: str = "",
    *,
    charts: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Runs Dyno to its end.

    Args:
        arguments: Of the command line.
        timeout: Seconds after which it is killed.
        cwd: Where it works, if not here.
        given: What it reads from its standard input.
        charts: Whether its charts are rendered; else each is a blank picture.

    Raises:
        subprocess.TimeoutExpired: If it did not end.
    """
    with tempfile.TemporaryDirectory(prefix="dyno-test-") as folder:
        files = [Path(folder) / name for name in ("stdin", "stdout", "stderr")]
        files[0].write_text(given, encoding="utf-8")
        process: Any = _forks.Process(
            target=_child,
            args=(list(arguments), dict(os.environ), cwd or Path.cwd(), files, charts),
        )
        process.start()
        process.join(timeout)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(list(arguments), timeout)
        output, errors = (file.read_text(encoding="utf-8") for file in files[1:])
        return subprocess.CompletedProcess(arguments, process.exitcode, output, errors)


def _child(
    arguments: list[str],
    environment: dict[str, str],
    cwd: Path,
    files: Sequence[Path],
    charts: bool,
) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    modes = (os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_CREAT)
    for number, (file, mode) in enumerate(zip(files, modes, strict=True)):
        opened = os.open(file, mode, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin, sys.stdout, sys.stderr = _stream(0, "r"), _stream(1, "w"), _stream(2, "w")
    sys.argv = ["dyno", *arguments]
    if not charts:
        from dyno.report.kit.charts import render, renderer

        chart = (_LIGHT / "chart.svg").read_text(encoding="utf-8")
        if arguments[:1] == ["report"]:  # of odd bundles, too: up to the specification
            renderer.Renderer.svg = lambda *_: chart
        else:
            render._svg = lambda *_: Markup(chart)
        os.environ.update(light())
    from dyno.cli import main

    main()


def _stream(number: int, mode: str) -> IO[str]:
    buffering = 1 if number == 2 else -1
    return open(number, mode, buffering, encoding="utf-8", errors="backslashreplace", closefd=False)
