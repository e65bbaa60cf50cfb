"""Ed25519 signatures with a key of the user's. The library is the optional extra ``signing``."""

from __future__ import annotations

import base64
import hashlib
import os
import stat
from pathlib import Path
from typing import Any

from dyno.errors import UsageError
from dyno.safety import safefiles

ALGORITHM = "Ed25519"
_LONGEST = 16 << 10
_MAKE = "openssl genpkey -algorithm ed25519 -out key.pem"


def private_key(path: Path) -> Any:
    """The key in an unencrypted PEM file that only this user can read.

    Raises:
        UsageError: If others can read the file, it holds no such key, or the library is missing.
            The message has nothing of the file's content.
    """
    serialization, ed25519 = _library()
    try:
        with safefiles.open_regular(path) as file:
            status = os.fstat(file.fileno())
            if stat.S_IMODE(status.st_mode) & 0o077 or status.st_uid != os.geteuid():
                raise UsageError(
                    f"{path} may be readable by others: a private key must belong to you, with "
                    f"mode 600. Run: chmod 600 {path}"
                )
            content = file.read(_LONGEST)
        key = serialization.load_pem_private_key(content, password=None)
    except OSError as error:
        raise UsageError(f"Cannot read the key {path}: {error.strerror}.") from error
    except (ValueError, TypeError) as error:
        raise UsageError(
            f"{path} holds no unencrypted private key in PEM format. Make one: {_MAKE}"
        ) from error
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise UsageError(f"{path} holds no {ALGORITHM} key. Make one: {_MAKE}")
    return key


def public_key(path: Path) -> str:
    """The public key in a PEM file, as base64.

    Raises:
        UsageError: If it cannot be read, or the library is missing.
    """
    serialization, ed25519 = _library()
    try:
        key = serialization.load_pem_public_key(safefiles.read_bytes(path, _LONGEST))
    except OSError as error:
        raise UsageError(f"Cannot read the key {path}: {error.strerror}.") from error
    except (ValueError, TypeError) as error:
        raise UsageError(f"{path} holds no public key in PEM format.") from error
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise UsageError(f"{path} holds no {ALGORITHM} key.")
    return _encoded(key)


def signed(key: Any, content: bytes) -> dict[str, str]:
    """The signature of ``content`` with its public key, ready for JSON."""
    return {
        "algorithm": ALGORITHM,
        "public_key": _encoded(key.public_key()),
        "signature": base64.b64encode(key.sign(content)).decode("ascii"),
    }


def is_valid(signature: object, content: bytes) -> bool:
    """Whether a signature of :func:`signed` belongs to ``content``. It may be untrusted.

    Raises:
        UsageError: If the library is missing.
    """
    _, ed25519 = _library()
    from cryptography.exceptions import InvalidSignature

    if not isinstance(signature, dict) or signature.get("algorithm") != ALGORITHM:
        return False
    try:
        public, made = (
            base64.b64decode(str(signature[name]), validate=True)
            for name in ("public_key", "signature")
        )
        ed25519.Ed25519PublicKey.from_public_bytes(public).verify(made, content)
    except (InvalidSignature, KeyError, ValueError):
        return False
    return True


def fingerprint(public: str) -> str:
    """A short name of a public key: ``SHA256:…`` of its bytes, as ssh shows it."""
    digest = hashlib.sha256(base64.b64decode(public)).digest()
    return f"SHA256:{base64.b64encode(digest).decode('ascii').rstrip('=')}"


def _encoded(key: Any) -> str:
    return base64.b64encode(key.public_bytes_raw()).decode("ascii")


def _library() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError as error:
        raise UsageError(
            "Signatures need the package cryptography: pip install 'dyno-bench[signing]'."
        ) from error
    return serialization, ed25519
