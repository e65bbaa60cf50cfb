"""Enters control groups and executes a server's program. A script without imports of Dyno.

    python -I -S launch.py CPUS FILE … -- PROGRAM [ARGUMENT ...]

CPUS is a comma-separated list of CPU numbers, or empty. Each FILE is the ``cgroup.procs`` of a
control group. It is a script, and not code between fork and exec, because Dyno has threads. It runs
before privileges are dropped, because only the creator of a group may enter it. All allocations of
the program are within the limits from the first byte.
"""

from __future__ import annotations

import os
import sys

FAILED = 126
"""Exit code if the program could not be started, as in a shell."""


def main(arguments: list[str]) -> None:
    """Enters the groups and executes the program."""
    cpus, *rest = arguments
    end = rest.index("--")
    for path in rest[:end]:
        enter(path)
    if cpus:
        os.sched_setaffinity(0, {int(number) for number in cpus.split(",")})
    command = rest[end + 1 :]
    os.execv(command[0], command)  # noqa: S606  (no shell is wanted)


def enter(path: str, pid: int = 0) -> None:
    """Moves a process, by default this one with all its threads, into a group."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, str(pid).encode())
    finally:
        os.close(descriptor)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except OSError as error:
        sys.stderr.write(f"{error.strerror}: {error.filename or 'a control group'}\n")
        raise SystemExit(FAILED) from None
