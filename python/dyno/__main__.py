"""``python -m dyno``, and the command ``dyno``."""

import atexit
import contextlib
import os
import sys
from typing import Any, cast


def main() -> None:
    """Runs the command line. Ctrl-C during its imports, most of a short run, ends it as later."""
    try:
        from dyno.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("dyno: Interrupted.\n")
        _exit(130)
    except SystemExit as ended:
        _exit(ended.code if isinstance(ended.code, int) else 0)


def _exit(code: int) -> None:
    """Exits without waiting for threads: every file is closed, so a stuck one holds up nothing."""
    cast("Any", atexit)._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # the reader has left
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
