"""How long a cache of ten million blocks takes to open again; target: ≤ 2 s.

The file of 82 GB is sparse, so it needs some 700 MB. It is read past the page cache.
`python benches/bench_recovery.py [FOLDER [BLOCKS]]`
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent


def main() -> None:
    above, blocks = [*sys.argv[1:], *("/var/tmp", "10000000")[len(sys.argv) - 1 :]]
    command = ["cargo", "run", "--release", "-q", "-p", "dyno-cache", "--example", "recovery", "--"]
    with tempfile.TemporaryDirectory(dir=above) as folder:
        subprocess.run(
            [*command, f"{folder}/cache", blocks], cwd=ROOT, check=True,
            env={**os.environ, "CARGO_PROFILE_RELEASE_LTO": "false"},
        )  # fmt: skip


if __name__ == "__main__":
    main()
