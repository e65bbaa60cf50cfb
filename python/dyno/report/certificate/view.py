"""What the page of a certificate shows: texts of figures, in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from dyno.certificates.bom import Bom, Item
from dyno.certificates.content import Volume
from dyno.certificates.figures import Figures, FormFigures, Rates
from dyno.report.kit.formats import decimal_bytes, rounded

TB = 1e12
MOST_ITEMS, MOST_VOLUMES = 6, 8
"""Rows that fit the page; more are counted."""

_TESTS = {
    "rate": "Warm cache",
    "simple": "Simple",
    "average": "Average",
    "complex": "Complex",
    "combined": "Combined",
}


@dataclass(frozen=True)
class Primary:
    """A primary figure."""

    label: str
    value: str
    unit: str
    detail: str


@dataclass(frozen=True)
class Grid:
    """A table; the first column is text, and so are ``texts`` more.

    Attributes:
        strong: Rows that stand out.
    """

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    texts: int = 0
    lead: str = ""
    note: str = ""
    strong: frozenset[int] = field(default_factory=frozenset[int])


def primaries(figures: Figures) -> list[Primary]:
    """The figures at the top: throughput of each form, and capacities."""
    found: list[Primary] = []
    if figures.rated_tb is not None:
        found.append(Primary("Rated user data", *size(figures.rated_tb), "by throughput and space"))
    for one in figures.forms:
        name = f"{one.form.capitalize()} store"
        per_tb = large(one.combined.queries_per_h_per_tb)
        detail = f"{large(one.combined.queries_per_h)} queries/h"
        if one.relative_percent is None:
            found.append(Primary(f"{name} throughput", per_tb, "Q/h/TB", detail))
        else:
            detail = f"{per_tb} Q/h/TB, {detail}"
            share = large(one.relative_percent)
            found.append(Primary(f"{name} relative to the reference", share, "%", detail))
    if figures.maximum_tb is not None:
        found.append(Primary("Maximum user data", *size(figures.maximum_tb), "by space alone"))
    return found


def results(one: FormFigures) -> Grid:
    """The intervals of a target."""
    tests = [*([one.rate] if one.rate else []), *one.classes, one.combined]
    columns = (
        "Test",
        "Users",
        "Queries",
        "Q/h",
        "Q/h/TB",
        "Physical MB/s",
        "Peak MB/s",
        "Logical MB/s",
        "Mean MB/s",
        "CPU %",
        "MB/s a core",
    )
    notes = "; ".join(one.notes)
    return Grid(
        f"{one.form.capitalize()} store: {one.version}",
        columns,
        [_row(test) for test in tests],
        lead=data_text(one),
        note=f"{notes[:1].upper()}{notes[1:]}." if notes else "",
        strong=frozenset({len(tests) - 1}),
    )


def data_text(one: FormFigures) -> str:
    """The size of the data, its compression, and the memory that could cache it."""
    parts = [
        f"Intervals of {one.combined.seconds:g} s",
        f"scale {one.scale:g}",
        f"{decimal_bytes(one.data_tb * TB)} of user data",
    ]
    if one.stored_tb is not None and one.compression is not None:
        parts.append(
            f"{decimal_bytes(one.stored_tb * TB)} stored (compression "
            f"{one.compression:.2f}:1, measured)"
        )
    if one.memory_tb is not None:
        parts.append(f"{decimal_bytes(one.memory_tb * TB)} of memory")
    return ", ".join(parts)


def _row(test: Rates) -> list[str]:
    return [
        _TESTS.get(test.test, test.test),
        f"{test.users}",
        f"{test.completed:,}",
        *(
            large(value)
            for value in (
                test.queries_per_h,
                test.queries_per_h_per_tb,
                test.physical_mbps,
                test.physical_peak_mbps,
                test.logical_mbps,
                test.measured_mbps,
                test.cpu_percent,
                test.mbps_per_core,
            )
        ),
    ]


def volumes(found: Sequence[Volume]) -> Grid | None:
    """The volumes of the databases; columns without any fact are left out."""
    if not found:
        return None
    same = _merged(found)
    columns: dict[str, Callable[[Volume], str]] = {
        "Target": lambda one: one.target,
        "Role": lambda one: one.role,
        "Mount point": lambda one: one.mount_point,
        "File system": lambda one: one.filesystem,
        "Device": lambda one: one.device,
        "Model": lambda one: one.model,
        "RAID": lambda one: one.raid or ("none" if one.device else ""),
        "NUMA": lambda one: one.numa_node,
        "Firmware": lambda one: one.firmware,
        "Size": lambda one: "" if one.size_bytes is None else decimal_bytes(one.size_bytes),
    }
    kept = {name: text for name, text in columns.items() if any(map(text, same))}
    rows = [[text(one) or "–" for text in kept.values()] for one in same[:MOST_VOLUMES]]
    lost = [name for name in ("Model", "NUMA", "Firmware") if name not in kept]
    more = len(same) - MOST_VOLUMES
    notes = [f"And {more} more"] if more > 0 else []
    notes += [f"Not readable: {', '.join(lost)}"] if lost else []
    return Grid("Volumes", list(kept), rows, texts=len(kept) - 1, note=". ".join(notes))


def _merged(found: Sequence[Volume]) -> list[Volume]:
    """Volumes with the roles and targets that share them."""
    merged: dict[tuple[str, str], Volume] = {}
    for one in found:
        key = (one.device, one.mount_point)
        known = merged.get(key)
        if known is None:
            merged[key] = one
            continue
        roles = dict.fromkeys([*known.role.split(", "), one.role])
        names = dict.fromkeys([*known.target.split(", "), one.target])
        merged[key] = known.model_copy(
            update={"role": ", ".join(roles), "target": ", ".join(names)}
        )
    return list(merged.values())


def bill(found: Bom) -> Grid:
    """The bill of materials with its totals."""
    items = found.items
    if len(items) > MOST_ITEMS:
        rest = items[MOST_ITEMS - 1 :]
        price = sum(item.quantity * item.price for item in rest)
        watts = sum(item.quantity * item.watts for item in rest)
        other = Item(name=f"{len(rest)} more items", quantity=1, price=price, watts=watts, sku="")
        items = [*items[: MOST_ITEMS - 1], other]
    rows = [
        [
            item.name,
            item.sku or "–",
            f"{item.quantity:,}",
            money(item.price),
            money(item.quantity * item.price),
            f"{item.quantity * item.watts:,.0f}" if item.watts else "–",
        ]
        for item in items
    ]
    watts = f"{found.watts:,.0f}" if found.watts else "–"
    rows.append(["Total", "", "", "", money(found.price), watts])
    columns = ("Item", "SKU", "Qty", f"Each, {found.currency}", f"Sum, {found.currency}", "W")
    strong = frozenset({len(rows) - 1})
    return Grid("Bill of materials", columns, rows, texts=1, strong=strong)


def costs(figures: Figures, currency: str) -> Grid | None:
    """Price and power of each unit."""
    if not figures.costs:
        return None
    rows = [[one.unit, large(one.per), money(one.price), large(one.watts)] for one in figures.costs]
    note = f"TPS: transactions per second of the run {figures.tps_run}." if figures.tps_run else ""
    columns = ("Unit", "Delivered", f"{currency} each", "W each")
    return Grid("Cost of a unit", columns, rows, note=note)


def size(tb: float) -> tuple[str, str]:
    """A capacity with its unit: as much of it as is readable."""
    text, _, unit = decimal_bytes(tb * TB).rpartition("\N{NARROW NO-BREAK SPACE}")
    return (f"{tb:,.0f}", "TB") if tb >= 1 and tb == int(tb) else (text, unit)


def large(value: float | None) -> str:
    """As ``rounded``; below 0.001 and from a million with a power of ten: ``1.07 × 10⁹``."""
    if value is None or value == 0 or 1e-3 <= value < 1e6:
        return rounded(value)
    digits, power = f"{value:.2e}".split("e")
    raised = str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{digits} × 10{raised}"


def money(amount: float) -> str:
    """An amount of money: two decimals, or the first digits of a small one."""
    return f"{amount:,.2f}" if amount >= 0.1 or amount == 0 else large(amount)
