"""``make quickstart``: succeeds when everything was measured, whatever the verdict.

``dyno`` itself ends with 1 also where a run is disturbed or invalid: scripts rely on it. Whoever
types ``make quickstart`` wants to know whether it worked. The JSON document shows whether a
run was measured to its end or failed; a crash prints none.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

_LINES = {
    "valid": "Measured completely: the run is VALID.",
    "disturbed": "Measured completely, but the machine was not quiet: the run is DISTURBED.",
    "invalid": "Measured completely, but the run is INVALID: see the reasons above.",
}


def main() -> int:
    """Runs ``dyno quickstart`` with the given arguments; its exit code if it did not finish."""
    signal.signal(signal.SIGINT, lambda *_: None)  # dyno closes its bundle and reports it
    dyno = Path(sys.executable).with_name("dyno")
    command = [str(dyno), "quickstart", "--json", *sys.argv[1:]]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    result = _document(done.stdout)
    if done.returncode not in {0, 1} or result.get("status") != "done" or result.get("error"):
        return done.returncode or 1
    print(_LINES.get(str(result.get("verdict")), "Measured completely."))  # noqa: T201
    return 0


def _document(text: str) -> dict[str, object]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


if __name__ == "__main__":
    sys.exit(main())
