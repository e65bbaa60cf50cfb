"""The daemon of a mount: takes its plan from standard input, and serves until the mount ends."""

from __future__ import annotations

import os
import sys

from dyno import _core


def main() -> int:
    """Serves; the last line of standard error says why it failed."""
    os.umask(0)  # the kernel has applied that of whoever creates a file
    try:
        _core.serve_mount(sys.stdin.read())
    except (OSError, _core.EngineError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
