"""Database systems under test: one folder each, found by name.

A folder provides ``SCHEMES`` (its URL schemes), ``EXAMPLE`` (an example URL), ``EMBEDDED``
(whether ``embedded:<name>`` starts a private one) and ``open_target(url, out, limits)``. Optional:
``SERVER`` (the work is done by server processes, which wait for clients), ``STORE`` (``row store``
or ``column store``), ``EXPANSION`` (bytes on disk per byte of raw rows), ``TRIED`` (the products
and versions that Dyno was tested against, if not any), ``lacks()`` (what must be installed first),
``LIMITED`` (by scheme, which processes the limits on CPUs, memory and I/O apply to),
``leads_to(url)`` (the place of the data at a URL: equal for two spellings of one), and a module
``layout`` with ``parts(url)``, if it supports other physical designs.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from urllib.parse import urlsplit

from dyno.contracts.layout import Layout
from dyno.contracts.target import (
    Capabilities,
    LimitedPlace,
    Limits,
    Target,
    TargetUrl,
    product_of,
)
from dyno.errors import UsageError, closest, unknown
from dyno.layouts.parts import LayoutParts
from dyno.layouts.parts import require as require_parts
from dyno.safety.redaction import redact


def names() -> list[str]:
    """Names of all targets, sorted."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if module.ispkg)


def parse(text: str) -> TargetUrl:
    """Parses a target URL.

    Raises:
        UsageError: If it is no URL or names no known target; the message offers the nearest. It
            never shows a text that could contain a password.
    """
    scheme, colon, rest = text.partition(":")
    if scheme == "embedded" and colon:
        if rest not in _embedded():
            raise _unknown(rest, "embedded target", _embedded())
        return TargetUrl("embedded", rest, text, text)
    schemes = {scheme: name for name in names() for scheme in _module(name).SCHEMES}
    if not colon or scheme not in schemes:
        own = schemes.get(text, text)
        if own in names():
            raise UsageError(
                f"'{text}' is not a complete target. Write {' or '.join(about(own)[1])}."
            )
        word = scheme if closest(scheme, schemes) and scheme != "embedded" else text
        raise _unknown(word, "target", [*(f"embedded:{name}" for name in _embedded()), *schemes])
    example = _module(schemes[scheme]).EXAMPLE
    is_server = "://" in example and ":///" not in example
    if is_server or redact(text) != text:
        _require_url(text, example)
    return TargetUrl(scheme, schemes[scheme], text, redact(text))


def _require_url(text: str, example: str) -> None:
    """Rejects a text that is not a URL with a host or an absolute path.

    Raises:
        UsageError: Without any part of the URL, which may contain a password.
    """
    try:
        if not text.partition(":")[2].startswith("//"):
            raise ValueError("no slashes")
        parts = urlsplit(text)
        _ = parts.port  # an invalid port raises only when read
        cut_off = parts.fragment + parts.query.partition("=")[0]
        late = "@" in parts.path + parts.query and "@" not in parts.netloc and ":" in parts.netloc
        if parts.netloc.count("@") > 1 or "@" in cut_off or late:
            raise ValueError("the authority is incomplete")
    except ValueError as error:
        # The original message shows the text at the port's position, maybe part of a password.
        raise UsageError(
            f"The target URL is invalid; write it like {example}, with a port from 0 to "
            "65535. Percent-encode special characters in user and password: %2F for /, %3F "
            "for ?, %23 for #, %40 for @, %3A for :."
        ) from error


def _unknown(word: str, what: str, known: Sequence[str]) -> UsageError:
    """The error for an unknown target."""
    if re.fullmatch(r"[a-z]+(:[a-z]+)?", word) and closest(word, known):
        return unknown(what, word, known)
    return UsageError(
        f"Unknown {what}. Known: {', '.join(sorted(known))}. Percent-encode special "
        "characters in a URL's user and password: %2F for /, %3A for :, %40 for @."
    )


def _embedded() -> list[str]:
    """Names of the targets that Dyno can run privately."""
    return [name for name in names() if getattr(_module(name), "EMBEDDED", False)]


def open_target(url: TargetUrl, out: Path, limits: Limits) -> Target:
    """The target at ``url``; entering its context starts or checks it.

    Embedded engines store their data in ``out/engines/<name>``.
    """
    return _module(url.name).open_target(url, out, limits)


def about(name: str) -> tuple[Capabilities, list[str]]:
    """The capabilities of a target, and its address forms. Starts nothing."""
    module = _module(name)
    embedded = [f"embedded:{name}"] if module.EMBEDDED else []
    addresses = [*embedded, module.EXAMPLE]
    opened = open_target(parse(addresses[0]), Path(), Limits(1 << 30, 1))
    return opened.capabilities, addresses


def store(name: str) -> str | None:
    """``row store`` or ``column store``; None if the target does not declare it."""
    name = product_of(name)
    found: str | None = getattr(_module(name), "STORE", None) if name in names() else None
    return found


def is_server(name: str) -> bool:
    """Whether a target is a server: separate processes that wait for clients."""
    name = product_of(name)
    return name in names() and bool(getattr(_module(name), "SERVER", False))


def is_others(address: str) -> bool:
    """Whether an address is that of a server that Dyno did not start, by its scheme."""
    scheme = address.partition(":")[0]
    return any(scheme in _module(name).SCHEMES for name in names() if is_server(name))


def expansion(name: str) -> float:
    """Bytes on disk per byte of raw rows, including keys, indexes and log."""
    return float(getattr(_module(name), "EXPANSION", 2.0))


def tried(name: str) -> str:
    """The products and versions that Dyno was tested against; empty if a target does not say."""
    return str(getattr(_module(name), "TRIED", ""))


def extends(name: str) -> int:
    """Bytes by which the engine extends each file of a table before it needs them."""
    return int(getattr(_module(name), "EXTENDS", 0))


def lacks(name: str) -> str | None:
    """What must be installed before a target can be used, and how; None if nothing."""
    found: str | None = getattr(_module(name), "lacks", lambda: None)()
    return found


def leads_to(url: TargetUrl) -> tuple[str, ...]:
    """The data at ``url``: equal for two URLs that lead to the same, however they are written.

    Raises:
        UsageError: If the URL is invalid.
    """
    found = None if url.scheme == "embedded" else getattr(_module(url.name), "leads_to", None)
    return (url.name, *((url.text,) if found is None else found(url)))


def limited(url: TargetUrl) -> LimitedPlace:
    """The processes that ``--limit`` applies to at ``url``.

    Raises:
        UsageError: If Dyno does not start them.
    """
    found: Mapping[str, LimitedPlace] = getattr(_module(url.name), "LIMITED", {})
    if url.scheme not in found:
        own = f"; use embedded:{url.name} instead" if "embedded" in found else ""
        raise UsageError(
            "--limit applies to private engines only; Dyno did not start the server at "
            f"{url.redacted}{own}."
        )
    return found[url.scheme]


_NEEDED = {
    "oltp": "transactions",
    "dss": "queries",
    "load": "dyno load",
    "cold": "--cold",
    "procedure": "--mode procedure",
    "refresh": "refresh functions",
    "mixed": "queries beside transactions",
}
"""Capabilities that a command may need, in words."""


def require(url: TargetUrl, out: Path, capability: str) -> None:
    """Rejects work that the target at ``url`` does not support, before anything starts.

    Raises:
        UsageError: With the target's reason.
    """
    able = open_target(url, out, Limits(memory_bytes=1 << 30, threads=1)).capabilities
    reason = getattr(able, capability)
    if reason is not True:
        raise UsageError(f"The {url.name} target does not support {_NEEDED[capability]}: {reason}.")


def require_layout(url: TargetUrl, layout: Layout) -> LayoutParts:
    """Rejects a layout that the target at ``url`` does not support, before anything starts.

    Returns:
        The supported parts.

    Raises:
        UsageError: With the target's reason.
    """
    found = importlib.util.find_spec(f"{__name__}.{url.name}.layout")
    parts = importlib.import_module(found.name).parts(url) if found else LayoutParts()
    require_parts(layout, parts, url.name)
    return parts


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"{__name__}.{name}")
