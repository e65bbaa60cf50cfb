"""Goes where limits hold, and becomes a server's program there. A script that imports no Dyno.

    python -I -S launch.py CPUS FILE … -- PROGRAM [ARGUMENT ...]

CPUS are numbers of processors with commas between them, or nothing. Each FILE is the
``cgroup.procs`` of a control group. It is a script, and not code between fork and exec, because
Dyno has threads; and it comes before anything that drops privileges, for only who made a group may
enter it. All that the program allocates is within the limits from its first byte.
"""

from __future__ import annotations

import os
import sys

FAILED = 126
"""Exit code when the program could not even be started, as a shell has it."""


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
    """Puts a process, by default this one with all its threads, into a group."""
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
