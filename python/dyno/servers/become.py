"""Changes identity and executes a server's program. A standalone script without imports of Dyno.

    python -I -S become.py PARENT SIGNAL IDENTITY FOLDER PROGRAM [ARGUMENT ...]

PARENT is the process id of Dyno. SIGNAL is sent to the program when the *thread* that started it
ends. IDENTITY is ``self``, ``user:UID:GID`` or ``namespace:UID:GID``, whose files are private, or
``dyno``, whose files have the usual permissions. FOLDER is the working directory.

It is a script, and not code between fork and exec, because Dyno has threads: only exec is safe
there. The order matters: the kernel clears the death signal on every change of credentials, and
access to FOLDER must be checked as the final user.
"""

from __future__ import annotations

import ctypes
import os
import sys

PR_SET_PDEATHSIG = 1
CLONE_NEWUSER = 0x10000000
FAILED = 126
"""Exit code if the program could not be started, as in a shell."""


def main(arguments: list[str]) -> None:
    """Takes on the identity, binds the process to its parent, and executes the program."""
    parent, death_signal, identity, folder, *command = arguments
    libc = ctypes.CDLL(None, use_errno=True)
    kind, _, ids = identity.partition(":")
    if kind == "user":
        uid, gid = (int(part) for part in ids.split(":"))
        os.setgroups([])
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)
    elif kind == "namespace":
        uid, gid = (int(part) for part in ids.split(":"))
        enter_namespace(libc, uid, gid)
    if kind != "dyno":
        os.umask(0o077)
    os.chdir(folder)
    checked(libc.prctl(PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0), "prctl")
    if os.getppid() != int(parent):  # the parent ended before the signal was set
        raise SystemExit(FAILED)
    os.execv(command[0], command)  # noqa: S606  (no shell is wanted)


def enter_namespace(libc: ctypes.CDLL, uid: int, gid: int) -> None:
    """Enters a user namespace in which the current user has the ids ``uid`` and ``gid``.

    Outside the namespace, files created there belong to the current user.
    """
    outside_uid, outside_gid = os.geteuid(), os.getegid()
    checked(libc.unshare(CLONE_NEWUSER), "unshare")
    # Without privileges, the kernel accepts a gid map only after setgroups is denied.
    write("/proc/self/setgroups", "deny")
    write("/proc/self/gid_map", f"{gid} {outside_gid} 1")
    write("/proc/self/uid_map", f"{uid} {outside_uid} 1")


def write(path: str, text: str) -> None:
    """Writes a kernel file in one call."""
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def checked(result: int, call: str) -> None:
    """Raises the error of a failed libc call."""
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), call)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except OSError as error:
        sys.stderr.write(f"{error.strerror}: {error.filename or sys.argv[5]}\n")
        raise SystemExit(FAILED) from None
