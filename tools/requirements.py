"""Prints the packages that pyproject.toml asks for, development ones included.

With the name of an extra: those of the extra only.
"""

import sys
import tomllib
from pathlib import Path

text = (Path(__file__).parent.parent / "pyproject.toml").read_text("utf-8")
project = tomllib.loads(text)["project"]
extras = project["optional-dependencies"]
if len(sys.argv) > 1:
    print(*extras[sys.argv[1]], sep="\n")  # noqa: T201
else:
    print(*project["dependencies"], *extras["dev"], sep="\n")  # noqa: T201
