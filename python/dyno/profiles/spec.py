"""The file format of storage profiles: TOML, parsed strictly.

size = "4GiB"                        # test file size
step = "2s"                          # measured per level, after a warm-up of a quarter of it
ceiling_ms = 20.0                    # for reads, writes and syncs, each separately
ceiling_of = "p95"                   # or mean, p99
pages = "auto"                       # of the buffers: huge if granted; or huge, ordinary

[[curves]]                           # one curve per block size and read share
pattern = "random"                   # or sequential, zipf (theta = 0.99), hot_spot (hot = "80/20")
blocks = ["8K", "64K"]               # or one curve of mixed sizes: mix = { 8K = 70, 64K = 30 }
reads = [100, 70]                    # percent; the rest are writes
depths = [1, 4, 16, 64]              # I/Os in flight on each volume
until_ceiling = true                 # skip depths after the first one beyond the ceiling
search = 256                         # instead: search the load within the ceiling, up to this
settle = 60                          # instead: repeat one load until steady, up to this often
figure = "iops"                      # or mbps; metric of the curve
rates = [1000, 5000]                 # open loop: scheduled IOPS; arrivals = "poisson" or "fixed"
modify = true                        # read each block and write it back, instead of reads
sync = "fdatasync"                   # or fsync, after each write or a number: every = 8
streams = 4                          # sequential only: positions to access in turn
area = [0.0, 40.0]                   # percent of the volume
align = "4K"                         # alignment of offsets; default: the block size
name = "mine"                        # only for a single curve

[[curves]]                           # jobs that run together
name = "database"
[[curves.jobs]]                      # the keys above, but a single block and read
name = "data"
pattern = "random"
block = "8K"
read = 70
depths = [1, 8, 64]
volumes = ["data"]                   # names of its volumes; default: all
"""

from __future__ import annotations

from pydantic import Field, field_validator

from dyno import profiles
from dyno.config import presets, strict
from dyno.config.strict import Strict
from dyno.config.units import parse_bytes, parse_seconds
from dyno.errors import UsageError
from dyno.profiles.access import DEEPEST, NAME, Access, JobSpec, block_size, curve_name, fits
from dyno.profiles.job import Block, Job
from dyno.profiles.model import (
    WARMUP,
    CeilingOf,
    Curve,
    CurveMetric,
    Pages,
    Profile,
    Search,
    Settle,
)

MOST_IN_FLIGHT = 1 << 30


class CurvesSpec(Access):
    """Curves: one per combination of block size and read share, or one curve of several jobs."""

    name: str | None = Field(default=None, pattern=NAME)
    blocks: list[str] | None = Field(default=None, min_length=1)
    reads: list[int] | None = Field(default=None, min_length=1)
    until_ceiling: bool = False
    search: float | None = Field(default=None, ge=2, le=1e7, allow_inf_nan=False)
    settle: int | None = Field(default=None, ge=5, le=10_000)
    figure: CurveMetric | None = None
    jobs: list[JobSpec] | None = Field(default=None, min_length=1)

    @field_validator("blocks")
    @classmethod
    def _sizes(cls, blocks: list[str] | None) -> list[str] | None:
        for text in blocks or ():
            block_size(text)
        return blocks

    @field_validator("reads")
    @classmethod
    def _shares(cls, reads: list[int] | None) -> list[int] | None:
        if any(not 0 <= share <= 100 for share in reads or ()):
            raise ValueError("use percent, 0 to 100")
        return reads

    def misfit(self) -> str | None:
        """Returns the conflict between fields, or None."""
        if self.search is not None and self.settle is not None:
            return "set search or settle, not both"
        if (self.search or self.settle) and self.until_ceiling:
            return "until_ceiling needs a list of depths or rates"
        if self.jobs is not None:
            return self._misfit_of_jobs()
        if (self.blocks is None) == (self.mix is None):
            return "set blocks, mix, or jobs"
        if self.reads is None and not self.modify:
            return "reads is missing"
        found = super().misfit() or fits(self.modify, self.sync, set(self.reads or ()), self.reads)
        return found or self._misfit_of_load(self.depths or [], self.rates or [])

    def _misfit_of_jobs(self) -> str | None:
        shared = sorted(self.model_fields_set - {"name", "jobs", "search", "settle", "figure"})
        shared = [key for key in shared if key != "until_ceiling"]
        if shared:
            return f"{shared[0]} belongs into the jobs"
        if self.name is None:
            return "name is missing: several jobs make one curve"
        for place, job in enumerate(self.jobs or ()):
            misfit = job.misfit() or self._misfit_of_load(job.depths or [], job.rates or [])
            if misfit:
                return f"in jobs[{place}] {misfit}"
        lists = [levels for job in self.jobs or () for levels in (job.depths, job.rates) if levels]
        lengths = {len(levels) for levels in lists if len(levels) > 1}
        return (
            "depths and rates of several levels need one for each level" * (len(lengths) > 1)
            or None
        )

    def _misfit_of_load(self, depths: list[int], rates: list[float]) -> str | None:
        if self.search is not None and (len(depths) > 1 or len(rates) > 1):
            return "search starts from one depth and one rate"
        if self.search is not None and not rates and self.search > DEEPEST:
            return f"search is a depth here, at most {DEEPEST}"
        if self.settle is not None and (len(depths) > 1 or len(rates) > 1):
            return "settle is for one depth and one rate"
        return None


class ProfileSpec(Strict):
    """A complete profile."""

    size: str = "4GiB"
    step: str = "2s"
    ceiling_ms: float = Field(default=20.0, gt=0, allow_inf_nan=False)
    ceiling_of: CeilingOf = "p95"
    pages: Pages = "auto"
    curves: list[CurvesSpec] = Field(min_length=1)

    @field_validator("size")
    @classmethod
    def _file(cls, text: str) -> str:
        try:
            parse_bytes(text)
        except UsageError as error:
            raise ValueError(str(error).rstrip(".")) from None
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
    """Reads the profile that ``text`` names: a preset, or the path of a file.

    Raises:
        UsageError: If it does not exist, cannot be read, or is invalid.
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
        ceiling_of=spec.ceiling_of,
        pages=spec.pages,
        curves=tuple(
            curve
            for part, curves in enumerate(spec.curves)
            for curve in _curves(what, part, curves)
        ),
    )
    repeated = profile.repeated()
    if repeated:
        raise UsageError(f"{what}: two curves are '{repeated[0]}'; rename or remove one.")
    for curve in profile.curves:
        if curve.in_flight_bytes() > MOST_IN_FLIGHT:
            deepest = max(job.depths[-1] for job in curve.jobs)
            raise UsageError(
                f"{what}: {curve.name} has up to {deepest} blocks of "
                f"{max(job.block_bytes for job in curve.jobs)} bytes in flight; at most 1 GiB can "
                "be."
            )
    return profile


def _curves(what: str, part: int, spec: CurvesSpec) -> list[Curve]:
    misfit = spec.misfit()
    if misfit:
        raise UsageError(f"{what}: in curves[{part}] {misfit}.")
    if spec.jobs is not None:
        jobs = tuple(job.made() for job in spec.jobs)
        names = [job.name for job in jobs]
        if len(set(names)) < len(names):
            raise UsageError(f"{what}: in curves[{part}] two jobs have the same name.")
        return [_curve(spec, spec.name or "", jobs)]
    mixes = (
        [spec.mixed] if spec.mixed else [(Block(bytes=block_size(b)),) for b in spec.blocks or ()]
    )
    shapes = [(reads, blocks) for reads in spec.reads or [100] for blocks in mixes]
    if spec.name is not None and len(shapes) > 1:
        raise UsageError(
            f"{what}: curves[{part}].name names one curve, but there are {len(shapes)}: leave it "
            "out."
        )
    found: list[Curve] = []
    for reads, blocks in shapes:
        size = blocks[0].bytes if len(blocks) == 1 else None
        name = spec.name or curve_name(spec, reads, size)
        job = spec.job(name, blocks, reads)
        if not job.rates:
            job = job.model_copy(update={"depths": tuple(sorted(set(job.depths)))})
        found.append(_curve(spec, name, (job,)))
    return found


def _curve(spec: CurvesSpec, name: str, jobs: tuple[Job, ...]) -> Curve:
    usual: CurveMetric = "mbps" if all(job.pattern == "sequential" for job in jobs) else "iops"
    if any(job.sync for job in jobs):
        usual = "iops"
    return Curve(
        name=name,
        jobs=jobs,
        until_ceiling=spec.until_ceiling,
        metric=spec.figure or usual,
        search=None if spec.search is None else Search(most=spec.search),
        settle=None if spec.settle is None else Settle(most=spec.settle),
    )
