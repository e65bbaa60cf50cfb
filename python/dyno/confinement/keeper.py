"""Outlives a Dyno that is killed by its own limit, and says so. A script that imports no Dyno.

    python -I -S keeper.py PIPE FILE WORDS

Dyno holds the other end of PIPE, and writes into it when it leaves the limits. Without that its end
is that of a process that was killed: by the kernel for want of memory if FILE, of version 1 or 2 of
control groups, counts such a kill.
"""

from __future__ import annotations

import os
import sys


def main(arguments: list[str]) -> None:
    """Waits for the end of Dyno or of its limits."""
    pipe, file, words = arguments
    if os.read(int(pipe), 1):
        return
    try:
        with open(file, encoding="ascii") as lines:  # noqa: PTH123  (a script without libraries)
            kills = [int(line.split()[1]) for line in lines if line.startswith("oom_kill ")]
    except OSError:  # the next run was quicker, and has tidied it away
        return
    if any(kills):
        sys.stderr.write(f"dyno: {words}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
