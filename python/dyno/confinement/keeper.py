"""Reports that Dyno was killed by its own limit. A standalone script without imports of Dyno.

    python -I -S keeper.py PIPE FILE WORDS

Dyno holds the other end of PIPE and writes to it when it leaves the limits. EOF without a write
means that Dyno was killed: by the OOM killer if FILE, of version 1 or 2 of control groups, counts
such a kill.
"""

from __future__ import annotations

import os
import sys


def main(arguments: list[str]) -> None:
    """Waits until Dyno exits or leaves the limits."""
    pipe, file, words = arguments
    if os.read(int(pipe), 1):
        return
    try:
        with open(file, encoding="ascii") as lines:  # noqa: PTH123  (a script without libraries)
            kills = [int(line.split()[1]) for line in lines if line.startswith("oom_kill ")]
    except OSError:  # the next run has already removed it
        return
    if any(kills):
        sys.stderr.write(f"dyno: {words}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
