"""Issues the certificate of a finished run, and verifies one against its bundle."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from dyno.analyse import estimate
from dyno.bundle import certified
from dyno.bundle.model import Estimate, Finding, Validity
from dyno.bundle.reader import Bundle
from dyno.bundle.writer import write_atomically
from dyno.certificates import Certificate
from dyno.decide.certify import certificate
from dyno.decide.judge import judge
from dyno.errors import UsageError
from dyno.report.certificate import page
from dyno.report.kit.formats import moment
from dyno.report.kit.pdf import write as write_pdf
from dyno.safety import signing
from dyno.safety.text import plain

_SAME = 1e-9
"""Relative difference between figures that another machine may round differently."""


@dataclass(frozen=True)
class Problem:
    """A difference between a certificate and its bundle.

    Attributes:
        kind: ``file``, ``figure``, ``page`` or ``signature``.
        what: The file, or the place of the figure.
        message: One line.
    """

    kind: str
    what: str
    message: str


@dataclass(frozen=True)
class Verified:
    """The result of a verification.

    Attributes:
        signer: Fingerprint of the signer's key; empty without a signature.
    """

    found: Certificate
    problems: tuple[Problem, ...]
    signer: str = ""


def computed(
    bundle: Bundle, estimates: Iterable[Estimate], validity: Validity, findings: Iterable[Finding]
) -> Certificate:
    """The certificate of a bundle.

    Raises:
        UsageError: If the run has no complete test, or a file cannot be read.
    """
    run = bundle.run
    date = moment(run.clock.unix_ns)[:10]
    try:
        members = certified.digests(bundle.path)
    except OSError as error:
        raise UsageError(f"{bundle.place} cannot be read: {error.strerror or error}.") from error
    return certificate(run, estimates, validity, findings, date, members)


def issue(
    bundle: Bundle,
    estimates: Iterable[Estimate],
    findings: Iterable[Finding],
    *,
    key: Any = None,
    pdf: bool = False,
) -> list[str]:
    """Writes the certificate of a judged bundle: its record, its page and, if asked, its PDF.

    Returns:
        The names of the files.

    Raises:
        UsageError: If the run is invalid or has no complete test.
        DiskFullError, TargetError: If a file cannot be written or printed.
    """
    run = bundle.run
    if run.validity.verdict == "invalid":
        raise UsageError(f"No certificate: the run {run.run} is invalid.")
    made = computed(bundle, estimates, run.validity, findings)
    content = made.model_dump(mode="json")
    mark = certified.fingerprint(content)
    signer = "" if key is None else signing.fingerprint(signing.signed(key, b"")["public_key"])
    html = page(made, mark, signer)
    names = [certified.PAGE]
    write_atomically(bundle.path / certified.PAGE, html)
    if pdf:
        write_pdf(html, bundle.path / certified.PDF)
        names.append(certified.PDF)
    signed: dict[str, Any] = {
        "certificate": content,
        "fingerprint": mark,
        "pages": {name: certified.digest(bundle.path, name) for name in names},
    }
    if key is not None:
        signed["signature"] = signing.signed(key, certified.canonical(signed))
    write_atomically(bundle.path / certified.RECORD, json.dumps(signed, indent=1) + "\n")
    return [*names, certified.RECORD]


def verify(bundle: Bundle, key: str | None = None) -> Verified:
    """Computes the certificate of a bundle again and compares it with the one in it.

    Args:
        bundle: The bundle, which may be untrusted.
        key: The expected public key, as :func:`dyno.safety.signing.public_key` returns it.

    Raises:
        UsageError: If the bundle has no certificate, or it cannot be computed.
    """
    record = certified.record(bundle.path)
    try:
        found = Certificate.model_validate(record["certificate"])
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise UsageError(
            f"The certificate in {bundle.place} is damaged or from another version ({where}: "
            f"{first['msg']})."
        ) from error
    estimates = estimate(bundle)
    validity, findings = judge(bundle, estimates)
    again = computed(bundle, estimates, validity, findings)
    problems = [
        *_files(found.members, again.members),
        *_figures(found, again),
        *_record(bundle, record),
        *_signed(record, key),
    ]
    signature: Any = record.get("signature")
    named = isinstance(signature, dict) and not any(one.kind == "signature" for one in problems)
    signer = signing.fingerprint(signature["public_key"]) if named else ""
    return Verified(found, tuple(problems), signer)


def _files(before: dict[str, str], now: dict[str, str]) -> Iterator[Problem]:
    for name in sorted({*before, *now}):
        if before.get(name) != now.get(name):
            known = {True: "was changed", False: "is missing"}[name in now]
            what = known if name in before else "was added"
            yield Problem("file", plain(name), f"the file {plain(name)} {what}")


def _figures(found: Certificate, again: Certificate) -> Iterator[Problem]:
    left = found.model_dump(mode="json", exclude={"members"})
    right = again.model_dump(mode="json", exclude={"members"})
    for place, one, other in _differences("", left, right):
        yield Problem("figure", place, f"{place} is {one}; the bundle gives {other}")


def _differences(place: str, one: Any, other: Any) -> Iterator[tuple[str, str, str]]:
    """The leaves that differ, each with both values as text."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in sorted({*one, *other}):
            at = f"{place}.{name}" if place else str(name)
            yield from _differences(plain(at), one.get(name), other.get(name))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from _differences(f"{place}[{number}]", left, right)
    elif not _alike(one, other):
        yield place, _shown(one), _shown(other)


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=_SAME)
    return one == other


def _shown(value: Any) -> str:
    text = plain(json.dumps(value))
    return text if len(text) <= 60 else f"{text[:59]}…"


def _record(bundle: Bundle, record: dict[str, Any]) -> Iterator[Problem]:
    """Differences within the record: its fingerprint, and the digests of its pages."""
    if record.get("fingerprint") != certified.fingerprint(record["certificate"]):
        yield Problem("figure", "fingerprint", "the fingerprint is not that of the certificate")
    pages: Any = record.get("pages")
    if not isinstance(pages, dict) or certified.PAGE not in pages:
        yield Problem("page", certified.PAGE, f"the digest of {certified.PAGE} is missing")
        return
    for name in (certified.PAGE, certified.PDF):
        if name in pages:
            try:
                same = certified.digest(bundle.path, name) == pages[name]
            except (OSError, UsageError):
                yield Problem("page", name, f"{name} is missing or cannot be read")
            else:
                if not same:
                    yield Problem("page", name, f"{name} was changed")


def _signed(record: dict[str, Any], key: str | None) -> Iterator[Problem]:
    signature: Any = record.get("signature")
    if signature is None:
        if key is not None:
            yield Problem("signature", "signature", "the certificate is not signed")
        return
    content = {name: value for name, value in record.items() if name != "signature"}
    if not signing.is_valid(signature, certified.canonical(content)):
        yield Problem("signature", "signature", "the signature is not valid")
    elif key is not None and signature["public_key"] != key:
        yield Problem("signature", "signature", "another key made the signature")
