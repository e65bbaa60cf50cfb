"""Renders charts in a child process that may crash: one request line, one response line.

Runs as a script and imports nothing from Dyno.
"""

from __future__ import annotations

import contextlib
import json
import resource
import sys

MOST_BYTES = 4 << 30
"""Memory limit of the renderer; the charts of a page take a tenth."""


def main() -> None:
    """Answers each JSON specification with ``{"svg": …}`` or ``{"error": …}``, until EOF."""
    for limit, bytes_ in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_DATA, MOST_BYTES)):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(limit, (bytes_, bytes_))
    import vl_convert

    for line in sys.stdin.buffer:
        answer: dict[str, str]
        try:
            answer = {"svg": vl_convert.vegalite_to_svg(json.loads(line))}
        except Exception as error:  # the renderer may raise anything
            answer = {"error": (str(error).splitlines() or [type(error).__name__])[0]}
        sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
