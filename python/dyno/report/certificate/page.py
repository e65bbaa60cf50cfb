"""Renders a certificate as HTML, without scripts or network access."""

from __future__ import annotations

from pathlib import Path

from dyno.certificates import Certificate
from dyno.certificates.figures import Rates
from dyno.report.certificate import view
from dyno.report.kit.formats import rounded

_TEMPLATES = Path(__file__).with_name("templates")
_CACHED_PERCENT = 10
"""A cache with fewer bytes read from the devices counts as warm."""


def page(found: Certificate, fingerprint: str, signer: str = "") -> str:
    """The page. All text is escaped: it is untrusted.

    Args:
        found: The content.
        fingerprint: SHA-256 of the content as canonical JSON.
        signer: Fingerprint of the key that signs it; empty for none.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = (_TEMPLATES / "certificate.css").read_text(encoding="utf-8")
    figures = found.figures
    html = environment.get_template("certificate.html.j2").render(
        found=found,
        figures=figures,
        primaries=view.primaries(figures),
        results=[view.results(one) for one in figures.forms],
        volumes=view.volumes(found.configuration.volumes),
        bill=None if found.bill is None else view.bill(found.bill),
        costs=view.costs(figures, "" if found.bill is None else found.bill.currency),
        basis=_basis(found),
        fingerprint=fingerprint,
        signer=signer,
        style=Markup(style),  # noqa: S704  (our own file)
    )
    # JSON may contain lone surrogates, which UTF-8 cannot encode.
    return html.encode("utf-8", "replace").decode("utf-8")


def _basis(found: Certificate) -> list[str]:
    """How the capacities were computed, and what was assumed."""
    figures, lines = found.figures, list[str]()
    if figures.usable_tb is not None:
        ratios = ", ".join(
            f"{one.form} {one.compression:.2f}:1 measured"
            for one in figures.forms
            if one.compression is not None
        )
        text, unit = view.size(figures.usable_tb)
        space = f"{text} {unit} under the data"
        lines.append(
            f"Maximum capacity: {space}, compression {ratios or 'assumed'}. Assumed: "
            f"{'; '.join(figures.assumptions)}."
        )
    if found.reference is not None and figures.rated_tb is not None:
        lines.append(
            f"Rated capacity: reference \N{LEFT DOUBLE QUOTATION MARK}{found.reference.name}"
            f"\N{RIGHT DOUBLE QUOTATION MARK}, {found.reference.user_data}, times the mean "
            "relative throughput, rounded down; at most the maximum capacity."
        )
    elif found.reference is None:
        lines.append("No rated capacity and no relative throughput: no reference was given.")
    for one in figures.forms:
        if one.rate is not None and one.rate.mbps_per_core is not None:
            lines.append(
                f"Consumption rate ({one.form}): maximum {rounded(one.rate.mbps_per_core)} MB/s a "
                f"core {_cached(one.rate)}, benchmark {rounded(one.combined.mbps_per_core)} MB/s."
            )
    return lines


def _cached(rate: Rates) -> str:
    """Where the test of the maximum consumption rate read its data."""
    if not rate.logical_mbps or rate.physical_mbps is None:
        return "with a warm cache"
    percent = min(100.0, 100 * rate.physical_mbps / rate.logical_mbps)
    if percent < _CACHED_PERCENT:
        return "with a warm cache"
    return f"(the data did not fit in the cache: {percent:.0f} % was read from the devices)"
