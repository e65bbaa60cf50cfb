"""The certificate in a bundle: its files, the digests of the measured files, and canonical JSON."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, BinaryIO

from dyno.bundle.members import content
from dyno.errors import UsageError
from dyno.safety import plainjson, safefiles

RECORD, PAGE, PDF = "certificate.json", "certificate.html", "certificate.pdf"

REMADE = frozenset(
    {"estimates.json", "findings.json", "sheet.html", "progress.json", RECORD, PAGE, PDF}
)
"""Files that are not measured: they are made from the others."""

_LONGEST = 4 << 20
_CHUNK = 1 << 20


def canonical(document: Any) -> bytes:
    """JSON with sorted keys and no blanks: the same bytes for the same content.

    Raises:
        ValueError: If a number is not finite.
    """
    return json.dumps(
        document, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    ).encode("ascii")


def fingerprint(document: Any) -> str:
    """SHA-256 of the canonical JSON, as hexadecimal digits."""
    return hashlib.sha256(canonical(document)).hexdigest()


def digests(bundle: Path) -> dict[str, str]:
    """SHA-256 of every measured file of a bundle, by name relative to it.

    Raises:
        OSError, UsageError: If one cannot be read.
    """
    return {name: digest(bundle, name) for name in content(bundle).members if name not in REMADE}


def digest(bundle: Path, name: str) -> str:
    """SHA-256 of a file of a bundle.

    Raises:
        OSError, UsageError: If it cannot be read, or is not a regular file.
    """
    with safefiles.open_regular(bundle / name, below=bundle) as file:
        return _digest(file)


def record(bundle: Path) -> dict[str, Any]:
    """The certificate in a bundle. It is untrusted.

    Raises:
        UsageError: If there is none, or it cannot be read.
    """
    try:
        found = plainjson.loads(safefiles.read_text(bundle / RECORD, _LONGEST))
    except FileNotFoundError as error:
        raise UsageError(f"{bundle} has no certificate; `dyno certify` makes one.") from error
    except (OSError, ValueError, RecursionError) as error:
        reason = str(error).splitlines()[0]
        raise UsageError(f"The certificate in {bundle} cannot be read: {reason}.") from error
    if not isinstance(found, dict) or not isinstance(found.get("certificate"), dict):
        raise UsageError(f"The certificate in {bundle} cannot be read: it has another form.")
    return found


def _digest(file: BinaryIO) -> str:
    found = hashlib.sha256()
    while piece := file.read(_CHUNK):
        found.update(piece)
    return found.hexdigest()
