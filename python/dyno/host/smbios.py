"""Memory modules in the tables of the firmware (SMBIOS, DSP0134, structure type 17)."""

from __future__ import annotations

from typing import Any

_TYPES = {
    0x18: "DDR3",
    0x1A: "DDR4",
    0x1B: "LPDDR",
    0x1C: "LPDDR2",
    0x1D: "LPDDR3",
    0x1E: "LPDDR4",
    0x20: "HBM",
    0x21: "HBM2",
    0x22: "DDR5",
    0x23: "LPDDR5",
}
_SHORTEST = 0x1B
"""Bytes up to the part number, which version 2.3 has."""


def memory_module(raw: bytes) -> dict[str, Any] | None:
    """The module in a structure; None for an empty slot or a damaged structure.

    Returns:
        ``slot``, ``size_bytes``, ``type``, ``mega_transfers`` (configured, per second),
        ``manufacturer`` and ``part``; unknown ones are None.
    """
    if len(raw) < 2 or raw[1] < _SHORTEST or len(raw) < raw[1]:
        return None
    body, texts = raw[: raw[1]], raw[raw[1] :].split(b"\0")
    size = _size(body)
    if size == 0:
        return None
    speed = _word(body, 0x20) if len(body) >= 0x22 else 0
    return {
        "slot": _text(texts, body[0x10]),
        "size_bytes": size,
        "type": _TYPES.get(body[0x12]),
        "mega_transfers": (speed or _word(body, 0x15)) or None,
        "manufacturer": _text(texts, body[0x17]),
        "part": _text(texts, body[0x1A]),
    }


def _size(body: bytes) -> int | None:
    """Bytes of a module; 0 for an empty slot, None if unknown."""
    size = _word(body, 0x0C)
    if size == 0xFFFF:
        return None
    if size == 0x7FFF:  # in a field of its own, in MiB
        return int.from_bytes(body[0x1C:0x20], "little") << 20 if len(body) >= 0x20 else None
    return (size & 0x7FFF) << (10 if size & 0x8000 else 20)


def _word(body: bytes, at: int) -> int:
    return int.from_bytes(body[at : at + 2], "little")


def _text(texts: list[bytes], number: int) -> str | None:
    """A text by its number, from 1; 0 means none."""
    if not 0 < number <= len(texts):
        return None
    return texts[number - 1].decode("ascii", "replace").strip() or None
