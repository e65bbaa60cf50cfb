"""Writes a draft as a workload file."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from dyno.safety.text import plain
from dyno.workloads.own.draft.draft import LENGTHS, Draft, Drafted
from dyno.workloads.own.draft.values import Value

_COLUMNS = 92
"""Of a line of SQL."""
_WORD = re.compile(r"[^ ]+ *")
"""With the spaces behind it: TOML drops those at the start of a joined line."""


def text_of(draft: Draft, name: str, title: str, about: Sequence[str]) -> str:
    """The file.

    Args:
        draft: The draft.
        name: Name of the workload.
        title: Its title in reports.
        about: Lines for its head.
    """
    lines = [f"# {plain(line)}" for line in [*about, *draft.notes]]
    for reason, count in draft.left_out.items():
        many = f"{count:,} execution{'s'[: count != 1]}"
        lines.append(f"# Left out, {many}: {plain(reason)}.")
    lines += [f"name = {_string(name)}", f"title = {_string(title)}", ""]
    if draft.draws:
        lines.append("[draws]")
        for draw, value in draft.draws.items():
            lines += _draw(draw, value)
        lines.append("")
    for one in draft.transactions:
        lines += [*_transaction(one), ""]
    return "\n".join(lines)


def _draw(name: str, value: Value) -> list[str]:
    note = [f"# {plain(value.note)}"] if value.note else []
    keys = ", ".join(f"{key} = {_value(each)}" for key, each in value.draw.items())
    return [*note, f"{name} = {{ {keys} }}" if keys else f"{name} = {{}}"]


def _transaction(one: Drafted) -> list[str]:
    lines = [f"# Lists and rows of values have {LENGTHS}."] if one.listed else []
    lines += [f"[transactions.{one.name}]", f"weight = {one.weight}"]
    if one.begin is not None:
        lines.append(f"begin = {str(one.begin).lower()}")
    lines.append("statements = [")
    for text, repeat in one.statements:
        again = f"{{ sql = {_string(text)}, repeat = {repeat} }}"
        lines.append(f"  {again if repeat > 1 else _string(text)},")
    return [*lines, "]"]


def _value(value: Any) -> str:
    return str(value) if isinstance(value, int) else _string(str(value))


def _string(text: str) -> str:
    """A basic string of TOML; a long one in lines that a backslash joins again.

    JSON's escapes are valid there, but DEL must be escaped, too.
    """
    whole = json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
    words = _WORD.findall(whole[1:-1])
    if len(whole) <= _COLUMNS or "".join(words) != whole[1:-1]:
        return whole
    lines = [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + len(word.rstrip(" ")) > _COLUMNS:
            lines.append("")
        lines[-1] += word
    joint = "\\\n    "
    return f'"""{joint}{joint.join(lines)}"""'
