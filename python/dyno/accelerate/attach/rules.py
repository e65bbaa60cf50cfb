"""Rules of a user on what is cached, as a TOML file; the first rule that matches a file counts.

```
[[rule]]
files = "base/16384/*"       # relative to the folder; * and ** as in a shell
kind = "shop"                # its name in `status`; several rules may share it
action = "cache"             # or pass: read and written without the cache

[[rule]]
files = "base/16385/**"
kind = "archive"
action = "cache"
quota = 10                   # its blocks take at most 10 % of the cache
```

The built-in rules follow (`presets.rules`). What no rule matches is cached.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from dyno import _core
from dyno.accelerate.attach.folder import Rule
from dyno.config import strict
from dyno.config.strict import Strict
from dyno.errors import UsageError
from dyno.safety import safefiles
from dyno.safety.unwritable import why

_LONGEST, _MOST = 1 << 20, 1000


class RuleSpec(Strict):
    """A rule as it is written."""

    files: str = Field(min_length=1, max_length=4096)
    kind: str = Field(pattern=r"^[\w-]{1,40}$")
    action: Literal["cache", "pass"]
    quota: float | None = Field(default=None, gt=0, le=100, allow_inf_nan=False)

    @model_validator(mode="after")
    def _sensible(self) -> RuleSpec:
        if self.quota is not None and self.action == "pass":
            raise ValueError("what is not cached has no quota")
        return self


class RulesSpec(Strict):
    """A file of rules."""

    rule: list[RuleSpec] = Field(min_length=1, max_length=_MOST)


def read(path: Path) -> tuple[Rule, ...]:
    """The rules of a file.

    Raises:
        UsageError: If it cannot be read, or for its first fault.
    """
    try:
        text = safefiles.read_text(path, _LONGEST)
    except OSError as error:
        raise UsageError(f"Cannot read {path}: {why(error, path)}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not text.") from error
    found = strict.parse(RulesSpec, str(path), text).rule
    shares: dict[str, float | None] = {}
    for number, one in enumerate(found):
        if fault := _core.glob_fault(one.files):
            raise UsageError(f"{path}: rule[{number}].files is '{one.files}'; {fault}.")
        if shares.setdefault(one.kind, one.quota) != one.quota:
            raise UsageError(f"{path}: rules of '{one.kind}' have different quotas.")
    return tuple(
        Rule(glob=one.files, kind=one.kind, action=one.action, quota=one.quota) for one in found
    )
