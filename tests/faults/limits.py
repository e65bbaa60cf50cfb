"""Children that lack a right or a system call, as containers and careful administrators have it."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Callable, Sequence

from tests.conftest import missing
from tests.process import COMMAND

_IO_URING_SETUP = 425
"""The same number on every architecture."""

_LOAD_NUMBER, _IF_EQUAL, _ANSWER = 0x20, 0x15, 0x06
_ALLOW, _EPERM = 0x7FFF0000, 0x00050001
_SET_SECCOMP, _FILTER, _NO_NEW_PRIVILEGES = 22, 2, 38


class _Instruction(ctypes.Structure):
    _fields_ = [
        ("code", ctypes.c_ushort),
        ("jt", ctypes.c_ubyte),
        ("jf", ctypes.c_ubyte),
        ("k", ctypes.c_uint32),
    ]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.POINTER(_Instruction))]


def forbidding_io_uring() -> Callable[[], None]:
    """What a child calls to have `io_uring_setup` answered with EPERM, as container runtimes do."""
    libc = ctypes.CDLL(None, use_errno=True)
    steps = (_Instruction * 4)(
        _Instruction(_LOAD_NUMBER, 0, 0, 0),
        _Instruction(_IF_EQUAL, 0, 1, _IO_URING_SETUP),
        _Instruction(_ANSWER, 0, 0, _EPERM),
        _Instruction(_ANSWER, 0, 0, _ALLOW),
    )
    program = _Program(len(steps), steps)

    def forbid() -> None:
        libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        if libc.prctl(_SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0):
            raise OSError(ctypes.get_errno(), "no seccomp filter here")

    return forbid


def without(right: str, *words: str) -> list[str]:
    """A command that lacks one of root's rights; anybody else has none of them anyway."""
    if os.geteuid() != 0:
        return list(words)
    lacking = ["setpriv", f"--bounding-set=-{right}", f"--inh-caps=-{right}"]
    if subprocess.run([*lacking, "true"], capture_output=True, check=False).returncode != 0:
        missing("setpriv, or the right to give up a right")
    return [*lacking, *words]


def limited(
    arguments: Sequence[object],
    before: Sequence[str] = (),
    prepare: Callable[[], None] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Runs Dyno by way of the command ``before``, in a child that calls ``prepare`` first."""
    return subprocess.run(
        [*before, *COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        preexec_fn=prepare,  # two system calls, no locks
    )
