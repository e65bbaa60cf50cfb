"""A storage profile as it is written: TOML, read strictly.

size = "4GiB"                        # of the test file
step = "2s"                          # measured at each depth, after a quarter of it unmeasured
ceiling_ms = 20.0                    # for p95 of reads and of writes, each on its own

[[curves]]                           # a curve for each block size and share of reads
pattern = "random"                   # or sequential
blocks = ["8K", "64K"]
reads = [100, 70]                    # percent; the rest are writes
depths = [1, 4, 16, 64]              # I/Os in flight
until_ceiling = true                 # leave out what is deeper than the first beyond the ceiling
figure = "iops"                      # or mbps; what the curve is about
name = "mine"                        # only where there is one curve
"""

from __future__ import annotations

from typing import Any

from pydantic import Field, field_validator

from dyno import presets, profiles, strict
from dyno.errors import UsageError
from dyno.profiles.model import WARMUP, Curve, Figure, Pattern, Profile
from dyno.strict import Strict
from dyno.units import parse_bytes, parse_seconds

LARGEST_BLOCK = 16 << 20
DEEPEST = 4096
MOST_IN_FLIGHT = 1 << 30
_KIB = 1024


class CurvesSpec(Strict):
    """Curves: every combination of block size and share of reads."""

    name: str | None = Field(default=None, pattern=r"^[a-z][a-z0-9_]{0,60}$")
    pattern: Pattern
    blocks: list[str] = Field(min_length=1)
    reads: list[int] = Field(min_length=1)
    depths: list[int] = Field(min_length=1)
    until_ceiling: bool = False
    figure: Figure | None = None

    @field_validator("blocks")
    @classmethod
    def _sizes(cls, blocks: list[str]) -> list[str]:
        for text in blocks:
            size = _size(text)
            if size % 512 or size > LARGEST_BLOCK:
                raise ValueError("use multiples of 512 bytes, at most 16M")
        return blocks

    @field_validator("reads")
    @classmethod
    def _shares(cls, reads: list[int]) -> list[int]:
        if any(not 0 <= share <= 100 for share in reads):
            raise ValueError("use percent, 0 to 100")
        return reads

    @field_validator("depths")
    @classmethod
    def _depths(cls, depths: list[int]) -> list[int]:
        if any(not 1 <= depth <= DEEPEST for depth in depths):
            raise ValueError(f"use 1 to {DEEPEST}")
        return depths


class ProfileSpec(Strict):
    """A whole profile."""

    size: str = "4GiB"
    step: str = "2s"
    ceiling_ms: float = Field(default=20.0, gt=0, allow_inf_nan=False)
    curves: list[CurvesSpec] = Field(min_length=1)

    @field_validator("size")
    @classmethod
    def _file(cls, text: str) -> str:
        _size(text)
        return text

    @field_validator("step")
    @classmethod
    def _time(cls, text: str) -> str:
        try:
            parse_seconds(text)
        except UsageError as error:
            raise ValueError(str(error).rstrip(".")) from None
        return text


def read(text: str) -> Profile:
    """The profile that ``text`` names: a preset, or the path of a file.

    Raises:
        UsageError: If there is none of that name, or it cannot be read, or makes no sense.
    """
    name, source, content = presets.find(profiles.FOLDER, "profile", text)
    what = f"Profile {name if source == 'preset' else text}"
    spec = strict.parse(ProfileSpec, what, content)
    step_s = parse_seconds(spec.step)
    profile = Profile(
        name=name,
        source=source,
        file_bytes=parse_bytes(spec.size),
        step_s=step_s,
        warmup_s=step_s * WARMUP,
        ceiling_ms=spec.ceiling_ms,
        curves=tuple(
            curve
            for part, curves in enumerate(spec.curves)
            for curve in _curves(what, part, curves)
        ),
    )
    repeated = profile.repeated()
    if repeated:
        raise UsageError(f"{what}: two curves are '{repeated[0]}'; name one, or drop it.")
    for curve in profile.curves:
        if curve.depths[-1] * curve.block_bytes > MOST_IN_FLIGHT:
            raise UsageError(
                f"{what}: {curve.name} has {curve.depths[-1]} blocks of {curve.block_bytes} bytes "
                "in flight; at most 1 GiB can be."
            )
    return profile


def _curves(what: str, part: int, spec: CurvesSpec) -> list[Curve]:
    shapes = [(reads, _size(block)) for reads in spec.reads for block in spec.blocks]
    if spec.name is not None and len(shapes) > 1:
        raise UsageError(
            f"{what}: curves[{part}].name names one curve, but there are {len(shapes)}: leave it "
            "out."
        )
    usual: Figure = "mbps" if spec.pattern == "sequential" else "iops"
    return [
        Curve(
            name=spec.name or curve_name(spec.pattern, reads, block),
            pattern=spec.pattern,
            block_bytes=block,
            read_percent=reads,
            depths=tuple(sorted(set(spec.depths))),
            until_ceiling=spec.until_ceiling,
            figure=spec.figure or usual,
        )
        for reads, block in shapes
    ]


def curve_name(pattern: str, read_percent: int, block_bytes: int) -> str:
    """``sequential_read_256k``, ``random_70_30_8k``."""
    what = {100: "read", 0: "write"}.get(read_percent, f"{read_percent}_{100 - read_percent}")
    size = f"{block_bytes // _KIB}k" if block_bytes % _KIB == 0 else f"{block_bytes}b"
    return f"{pattern}_{what}_{size}"


def _size(text: Any) -> int:
    try:
        return parse_bytes(text)
    except UsageError as error:
        raise ValueError(str(error).rstrip(".")) from None
