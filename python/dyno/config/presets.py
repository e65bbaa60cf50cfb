"""Presets as TOML files: the shipped ones, in one folder per kind, and the user's own."""

from __future__ import annotations

from pathlib import Path

from dyno.errors import UsageError, nearest
from dyno.safety import toml


def names(folder: Path) -> list[str]:
    """Names of the presets, sorted."""
    return sorted(path.stem for path in folder.glob("*.toml"))


def purpose(folder: Path, name: str) -> str:
    """The purpose of a preset: the comment at the top of its file, on one line."""
    words: list[str] = []
    for line in (folder / f"{name}.toml").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            break
        words.append(line.lstrip("# ").strip())
    return " ".join(words)


def find(folder: Path, kind: str, text: str) -> tuple[str, str, str]:
    """Finds a preset by name, or a file by path.

    Args:
        folder: Where the presets are.
        kind: The kind of preset, for messages: ``layout``.
        text: A name, or a path that ends in ``.toml`` or has a slash.

    Returns:
        Its name, its source (``preset`` or the file's full path), and its content.

    Raises:
        UsageError: If no preset has that name, or the file cannot be read.
    """
    if text in names(folder):
        return text, "preset", (folder / f"{text}.toml").read_text(encoding="utf-8")
    path = Path(text).expanduser()
    if path.suffix != ".toml" and "/" not in text:
        hint = nearest(text, names(folder))
        known = ", ".join(names(folder))
        also = "" if hint.startswith("Known") else f" Known: {known}."
        raise UsageError(f"Unknown {kind} '{text}'. {hint}{also} A file name ends in .toml.")
    content = toml.text_of(path, f"the {kind} {path}")
    return path.stem, str(path.absolute()), content
