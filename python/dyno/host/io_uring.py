"""Whether this process may use io_uring: asked of the kernel, which alone knows all its reasons."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from pathlib import Path
from typing import Any

from dyno.host.files import ROOT, read_int

_SETUP = 425  # io_uring_setup(2) has this number on every architecture but Alpha
_PARAMS_BYTES = 120  # sizeof(struct io_uring_params)


def explain(error: int, disabled: int | None) -> str:
    """Why ``io_uring_setup`` failed.

    Args:
        error: Its errno.
        disabled: ``kernel.io_uring_disabled``: 0 for all, 1 for a group only, 2 for none.
    """
    if error == errno.ENOSYS:
        return "the kernel has no io_uring (needs 5.1 or newer)"
    if error == errno.EPERM and disabled:
        return f"kernel.io_uring_disabled is {disabled}"
    if error == errno.EPERM:
        return "a seccomp filter blocks it, as is usual in containers"
    if error == errno.ENOMEM:
        return "the locked memory limit (ulimit -l) is too low"
    return os.strerror(error)


def io_uring_facts(root: Path = ROOT) -> dict[str, Any]:
    """Whether a ring can be made, and why not."""
    if not sys.platform.startswith("linux"):
        return {"allowed": False, "reason": "io_uring needs Linux"}
    libc = ctypes.CDLL(None, use_errno=True)
    parameters = ctypes.create_string_buffer(_PARAMS_BYTES)
    ring: int = libc.syscall(ctypes.c_long(_SETUP), ctypes.c_uint(1), parameters)
    if ring >= 0:
        os.close(ring)
        return {"allowed": True, "reason": None}
    disabled = read_int(root / "proc/sys/kernel/io_uring_disabled")
    return {"allowed": False, "reason": explain(ctypes.get_errno(), disabled)}
