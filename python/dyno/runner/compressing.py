"""Compresses a piece of a table in a child process, so that a recorder stays small.

PyArrow and NumPy would add 40 MB to a process that only reads counters and appends lines.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from dyno.bundle import pieces
from dyno.errors import UsageError
from dyno.runtime import helpers

_NICE = 10
"""The child gives way to the server that is observed."""


def compress(piece: Path, table: str) -> None:
    """Converts a piece to Parquet (:func:`dyno.bundle.pieces.compress`).

    A child that is killed changes nothing: the piece remains as JSON lines, and is readable.

    Raises:
        OSError: If the child cannot be started, or cannot write; the piece then remains.
    """
    command = [sys.executable, "-P", "-m", __name__, str(piece), table]
    # A session of its own: Ctrl-C reaches only this process, which waits for the child.
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    helpers.add(process.pid)
    try:
        written = _output(process)
    finally:
        helpers.remove(process.pid)
    if written:
        number = int(written)
        raise OSError(number, os.strerror(number), str(piece))


def _output(process: subprocess.Popen[bytes]) -> bytes:
    """What the child prints until its end. One interrupt waits for it, a second one kills it."""
    try:
        return process.communicate()[0]
    except BaseException:
        try:
            process.wait()
        except BaseException:
            process.kill()
            process.wait()
            raise
        raise


def main() -> None:
    """Prints the number of the error if the piece cannot be written."""
    piece, table = sys.argv[1:]
    os.nice(_NICE)
    try:
        pieces.compress(Path(piece), table)
    except OSError as error:
        sys.stdout.write(str(error.errno or 0))
    except UsageError:  # damaged: it remains, and its reader says so
        pass


if __name__ == "__main__":
    main()
