"""Prints a sizing: a table of at most 80 columns, wider for sources, or a JSON document."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from dyno.config.units import bytes_text, digits

if TYPE_CHECKING:
    from dyno.decide.size.count import Count
    from dyno.decide.size.evidence import Input
    from dyno.decide.size.lot import Spread
    from dyno.decide.size.model import Sizing, WhatIf

_NAME, _VALUE, _UNIT, _RANGE = 24, 9, 7, 20


def lines(found: Sizing, columns: int) -> list[str]:
    """The sizing as text of at most ``columns`` columns."""
    out = [*_counts(found), *_times(found)]
    if found.what_if is not None:
        out += ["", *_what_if(found.what_if)]
    if found.raid:
        out += ["", "RAID, IOPS with the same disks"]
        for one in found.raid:
            measured = "not measured" if one.measured is None else f"×{one.measured:.2f} measured"
            mix = f"{100 * one.reads:.0f} % reads"
            out.append(
                f"  {one.level} against {one.of}, {mix}: ×{one.theory:.2f} by theory, {measured}"
            )
    if found.criteria:
        out += ["", "Criteria at the largest measured load"]
        for one in found.criteria:
            mark = "pass" if one.passed else "FAIL"
            value = f"{digits(one.value)} {one.unit} < {one.limit:g} {one.unit}"
            out.append(f"  {one.name:{_NAME - 2}}{value:24}{mark}")
    out += ["", "Inputs", *(line for one in found.inputs for line in _input(one, columns))]
    for text in found.caveats:
        out += ["", *textwrap.wrap(f"! {text}", columns, subsequent_indent="  ")]
    return out


def _counts(found: Sizing) -> Iterable[str]:
    yield f"{'':14}{'needed':>8}{'90 % interval':>18}{'recommended':>13}   binding, runner-up"
    for name, one in (("Servers", found.servers), ("Devices", found.devices)):
        if one is not None:
            also = f", {one.runner_up}" if one.runner_up else ""
            interval = f"{one.low:,} to {one.high:,}"
            yield (
                f"{name:14}{one.p50:>8,}{interval:>18}{one.recommended:>13,}   {one.binding}{also}"
            )
    if found.data_tb is not None:
        fill = "" if found.fill is None else f"   {100 * found.fill:.2g} % of usable"
        yield f"{'Data':14}{'':26}{bytes_text(found.data_tb * 1e12):>13}{fill}"
    if found.usable_tb is not None:
        yield f"{'Usable':14}{'':26}{bytes_text(found.usable_tb * 1e12):>13}"


def _times(found: Sizing) -> Iterable[str]:
    if found.tps is None:
        return
    yield ""
    yield f"{'Transactions/s':24}{_spread(found.tps)}"
    for name, one in (("Mean response, ms", found.mean_ms), ("p95 response, ms", found.p95_ms)):
        if one is not None:
            yield f"{name:24}{_spread(one)}"


def _what_if(found: WhatIf) -> Iterable[str]:
    asked = ", ".join(f"{name}={value:g}" for name, value in found.asked.items())
    numbers = [
        f"{count:,} {name}{'' if count == 1 else 's'}"
        for name, count in (("server", found.servers), ("device", found.devices))
        if count is not None
    ]
    answer = "enough" if found.holds else "not enough"
    yield f"What if {asked}: {answer} ({', '.join(numbers)})"
    for name, one in found.used.items():
        yield f"  {name:22}{100 * one.mid:9.0f} %   {100 * one.low:.0f} to {100 * one.high:.0f} %"
    for name, one in (("mean response, ms", found.mean_ms), ("p95 response, ms", found.p95_ms)):
        if one is not None:
            yield f"  {name:22}{_spread(one)}"
    if found.tps is not None:
        yield f"  {'carries':22}{_spread(found.tps)} transactions/s; limit: {found.limited}"


def _spread(one: Spread) -> str:
    if not math.isfinite(one.mid):
        return f"{'saturated':>9}"
    high = digits(one.high) if math.isfinite(one.high) else "saturated"
    return f"{digits(one.mid):>9}   {digits(one.low)} to {high}"


def _number(value: float) -> str:
    return digits(value) if abs(value) >= 0.1 or value == 0 else f"{value:.3g}"


def _input(one: Input, columns: int) -> Iterable[str]:
    interval = ""
    if one.low is not None and one.high is not None and one.low < one.high:
        interval = f"{_number(one.low)} to {_number(one.high)}"
    head = f"  {one.name:{_NAME}}{_number(one.value):>{_VALUE}} {one.unit:{_UNIT}}"
    head = f"{head}{interval:{_RANGE}}"
    beside = columns - len(head)
    if beside >= max(40, len(one.source) // 2):
        first, *rest = textwrap.wrap(one.source, beside) or [""]
        yield f"{head}{first}".rstrip()
        yield from (f"{'':{len(head)}}{line}" for line in rest)
        return
    yield head.rstrip()
    yield from textwrap.wrap(one.source, columns, initial_indent="    ", subsequent_indent="    ")


def document(found: Sizing) -> dict[str, Any]:
    """The sizing as JSON."""
    return {
        "servers": _count(found.servers),
        "devices": _count(found.devices),
        "data_tb": found.data_tb,
        "usable_tb": found.usable_tb,
        "fill": found.fill,
        "tps": _interval(found.tps),
        "response_mean_ms": _interval(found.mean_ms),
        "response_p95_ms": _interval(found.p95_ms),
        "raid": [vars(one) for one in found.raid],
        "criteria": [{**vars(one), "passed": one.passed} for one in found.criteria],
        "inputs": [vars(one) for one in found.inputs],
        "caveats": list(found.caveats),
        "what_if": None if found.what_if is None else _if_document(found.what_if),
    }


def _if_document(found: WhatIf) -> dict[str, Any]:
    return {
        "asked": found.asked,
        "servers": found.servers,
        "devices": found.devices,
        "used": {name: _interval(one) for name, one in found.used.items()},
        "holds": found.holds,
        "response_mean_ms": _interval(found.mean_ms),
        "response_p95_ms": _interval(found.p95_ms),
        "tps": _interval(found.tps),
        "limited": found.limited,
    }


def _count(one: Count | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {**vars(one), "parts": [vars(part) for part in one.parts]}


def _interval(one: Spread | None) -> dict[str, float | None] | None:
    """Values that are not finite mean saturation, and are null."""
    if one is None:
        return None
    return {name: value if math.isfinite(value) else None for name, value in one._asdict().items()}
