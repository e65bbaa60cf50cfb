"""The job of ``dyno certify``: measures the intervals of a certificate, and issues it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, TypeVar

from dyno import _core, targets, workloads
from dyno.bundle.model import Estimate, Finding
from dyno.bundle.phases.certify import COMBINED, RATE, CertifyDetail
from dyno.bundle.reader import Bundle
from dyno.certificates import Bom, Reference
from dyno.config import settings as words
from dyno.config.settings import Setting
from dyno.config.strict import Strict, parse
from dyno.config.units import parse_seconds
from dyno.contracts import tuning
from dyno.contracts.layout import Form, Layout
from dyno.contracts.sized import Sized
from dyno.contracts.target import Limits, Loaded, LoadPlan, Made, PowerResult, Target, TargetUrl
from dyno.contracts.workload import Workload
from dyno.errors import UsageError
from dyno.host.cpu import usable_cpus
from dyno.host.hardware import hardware_facts
from dyno.plans.certify import CertifyPlan
from dyno.report.kit.pdf import browser
from dyno.runner import certified, stages
from dyno.runner.engine import confinement_of, settings_of
from dyno.runner.layout import note_layout
from dyno.runner.session import Issued, Job, Session
from dyno.runner.transacted import transacted
from dyno.safety import signing, toml
from dyno.stages import drive, prove
from dyno.stages.drive import IntervalPlan, PowerPlan
from dyno.targets.space import require_space, required_bytes
from dyno.workloads import USUAL
from dyno.workloads.rows import expected_rows

SCALE, QUICK_SCALE = 1.0, 0.1
"""Scale of the data that is loaded if there is none."""
PARALLELISM = 4
"""CPUs of a query in the test of the maximum consumption rate."""
MEMORY_SHARE, LEAST_MEMORY = 8, 256 << 20
"""Memory of a private engine in the concurrent tests: this part of its data, and at least this."""

M = TypeVar("M", bound=Strict)


@dataclasses.dataclass(frozen=True)
class _Work:
    """One target of the job."""

    url: TargetUrl
    form: Form
    settings: Sequence[Setting]
    parallelism: Setting | None
    note: str | None


def job(asked: CertifyPlan) -> Job:
    """Turns the plan into a job. Starts and changes nothing.

    Raises:
        UsageError: If options exclude each other, a file is invalid, or a target does not support
            the tests.
        TargetError: If a target cannot be used.
    """
    asked.require_sense()
    workload = workloads.get(USUAL["dss"])
    scale = None if asked.scale is None else workload.parse_scale(asked.scale)
    reference = _read(Reference, "Reference", asked.reference)
    bill = _read(Bom, "Bill of materials", asked.bom)
    key = None if asked.sign is None else signing.private_key(asked.sign)
    tps = None if asked.tps is None else transacted(asked.out, asked.tps)
    if asked.pdf:
        browser()
    urls = [targets.parse(text) for text in asked.targets]
    work = [_work(asked, url) for url in urls]
    if len({one.url.name for one in work}) < len(work):
        raise UsageError("Name each kind of target once.")
    if len({one.form for one in work}) < len(work):
        raise UsageError(
            f"Both targets store {work[0].form}s: name one that stores rows and one that stores "
            "columns."
        )
    if asked.limits and len(urls) > 1:
        raise UsageError("--limit applies to one engine: name one target.")
    confinement = confinement_of(asked, urls[0])
    warmup_s, duration_s = asked.times
    users = asked.users or 2 * usable_cpus()
    record: dict[str, Any] = {
        "target": ", ".join(url.redacted for url in urls),
        **{"scale": scale, "users": users, "quick": asked.quick, "seed": asked.seed},
        **{"warmup_s": warmup_s, "duration_s": duration_s, "number": asked.number, "tps": tps},
        "reference": None if reference is None else reference.model_dump(mode="json"),
        "bom": None if bill is None else bill.model_dump(mode="json"),
    }

    def body(session: Session) -> None:
        results: dict[str, PowerResult] = {}
        loaded = scale
        for one in work:
            test = _Test(session, asked, workload, one, users, loaded)
            loaded = test.run(results)
        if results:
            stages.answers(session, PowerPlan(workload.name, loaded or SCALE), results)

    def after(bundle: Bundle, estimates: list[Estimate], findings: list[Finding]) -> Issued:
        if bundle.run.validity.verdict == "invalid":
            return Issued({"certificate": None}, ("No certificate: the run is invalid.",))
        names = certified.issue(bundle, estimates, findings, key=key, pdf=asked.pdf)
        found = [str(bundle.path / name) for name in names]
        return Issued({"certificate": found}, (f"Certificate: {found[0]}",))

    return Job(
        asked, record, (workload.name,), asked.out, body, confinement=confinement, after=after
    )


def _read(model: type[M], what: str, path: Any) -> M | None:
    if path is None:
        return None
    return parse(model, f"{what} {path}", toml.text_of(path, str(path)))


def _work(asked: CertifyPlan, url: TargetUrl) -> _Work:
    targets.require(url, asked.out, "dss")
    known = tuning.knobs(url.name)
    if len(asked.targets) > 1:  # each target takes the settings that it knows
        kept = tuple(one for one in asked.settings if one.partition("=")[0].strip() in known)
        asked = asked.model_copy(update={"settings": kept})
    given = settings_of(asked, url, None)
    note, parallelism = None, next((one for one in given if one.word == "parallelism"), None)
    if parallelism is None:
        parallelism = Setting("parallelism", str(PARALLELISM), PARALLELISM)
        try:
            tuning.require(url, [parallelism])
            _tuned(asked, url, [parallelism])
        except UsageError as error:
            reason = tuning.lacks(url.name, "parallelism") or str(error).removesuffix(".")
            parallelism, note = None, f"no parallelism of {PARALLELISM} CPUs per query: {reason}"
    form: Form = "column" if targets.store(url.name) == "column store" else "row"
    return _Work(url, form, given, parallelism, note)


def _tuned(asked: CertifyPlan, url: TargetUrl, wanted: Sequence[Setting]) -> None:
    """Checks settings against a target that does not start.

    Raises:
        UsageError: If it does not take them.
    """
    tuning.tune(targets.open_target(url, asked.out, Limits(1 << 30, 1)), wanted)


class _Test:
    """The tests of one target."""

    def __init__(
        self,
        session: Session,
        asked: CertifyPlan,
        workload: Workload,
        work: _Work,
        users: int,
        scale: float | None,
    ) -> None:
        self._session, self._asked, self._workload = session, asked, workload
        self._work, self._users, self._scale = work, users, scale
        self._facts = CertifyDetail(form=work.form)
        self._timeout_s = parse_seconds(asked.timeout)

    def run(self, results: dict[str, PowerResult]) -> float:
        """Loads the data if there is none, and runs all intervals.

        Args:
            results: Receives the answers of the target, if they can be verified.

        Returns:
            The scale of the data.
        """
        work, session = self._work, self._session
        given = [one for one in work.settings if one.word not in ("memory", "parallelism")]
        alone = [*given, *([work.parallelism] if work.parallelism else [])]
        with session.target(work.url.text, self._before, settings=alone, part=RATE) as target:
            loaded = self._loaded(target)
            self._facts = self._described(target, loaded)
            self._configuration(target)
            self._answers(target, loaded, results)
            first = next(iter(self._workload.classes.values()))
            warm: dict[str, Any] = (
                {"parallelism": int(work.parallelism.value)} if work.parallelism else {}
            )
            if work.note is not None:
                warm["parallelism_note"] = work.note
            self._interval(target, loaded, RATE, (first,), 1, warm)
        with session.target(work.url.text, settings=self._held(target)) as target:
            for name, query in self._workload.classes.items():
                self._interval(target, loaded, name, (query,), self._users)
            every = tuple(self._workload.classes.values())
            self._interval(target, loaded, COMBINED, every, self._users)
        return loaded.scale

    def _before(self, target: Target) -> None:
        _core.prepare(self._workload.name)
        if isinstance(target, Made) and self._work.url.scheme == "embedded":
            target.before_load()

    def _loaded(self, target: Target) -> Loaded:
        """The loaded data; loads it first if there is none."""
        name, session = self._workload.name, self._session
        if target.loaded(name) is None:
            scale = self._scale or (QUICK_SCALE if self._asked.quick else SCALE)
            raw = self._workload.bytes_per_scale * scale
            if self._work.url.scheme == "embedded":
                advice = "Free space, or use a smaller --scale or another --out."
                require_space(session.out, required_bytes({target.name: raw}), advice)
            plan = LoadPlan(name, scale, seed=1, streams=max(2, session.limits.threads))
            stages.load_and_prove(session, target, plan, replace=False)
        found = stages.loaded_data(target, name, self._scale)
        note_layout(session, target, found)
        return found

    def _described(self, target: Target, loaded: Loaded) -> CertifyDetail:
        """The facts of the data that all intervals record."""
        name = self._workload.name
        sizes = self._workload.row_bytes
        raw = sum(sizes[table] * rows for table, (rows, _) in expected_rows(name, loaded).items())
        stored = target.data_bytes(name) if isinstance(target, Sized) else None
        form = self._work.form
        if loaded.layout:
            tables = Layout.model_validate_json(loaded.layout).tables.values()
            forms = {one.form for one in tables if one.form is not None}
            form = forms.pop() if len(forms) == 1 else form
        return CertifyDetail(form=form, raw_bytes=round(raw), data_bytes=stored)

    def _configuration(self, target: Target) -> None:
        """Records the hardware, with the volumes of all targets so far."""
        recorder = self._session.recorder
        places = self._session.places(target)
        found = hardware_facts({target.name: places})
        before = recorder.run.host.get("hardware", {}).get("volumes", [])
        hardware = {**found, "volumes": [*before, *found["volumes"]]}
        recorder.set_host({**recorder.run.host, "hardware": hardware})

    def _answers(self, target: Target, loaded: Loaded, results: dict[str, PowerResult]) -> None:
        """Asks for the answers, if there is something to compare them with."""
        name, session = self._workload.name, self._session
        several = len(self._asked.targets) > 1
        if not several and loaded.scale not in self._workload.expected_scales:
            prove.unproven(session.recorder, name, loaded.scale, target.name)
            return
        with session.events.phase(f"Answers of {target.name}") as progress:
            results[target.name] = prove.ask(
                session.recorder, target, name, loaded.scale, progress, self._timeout_s
            )

    def _held(self, target: Target) -> list[Setting]:
        """The settings of the concurrent tests: memory of a private engine below the data."""
        url, given = self._work.url, list(self._work.settings)
        stored = self._facts.data_bytes
        named = any(one.word == "memory" for one in given)
        if named or stored is None or url.scheme != "embedded":
            return given
        most = self._session.limits.memory_bytes
        size = min(most, max(LEAST_MEMORY, int(stored) // MEMORY_SHARE)) >> 20 << 20
        memory = Setting("memory", words.bytes_text(size), size)
        try:
            tuning.require(url, [memory])
            _tuned(self._asked, url, [*given, memory])
        except UsageError as error:
            self._session.events.say(f"! Memory of {target.name} is not held: {error}")
            return given
        return [*given, memory]

    def _interval(
        self,
        target: Target,
        loaded: Loaded,
        test: str,
        queries: tuple[str, ...],
        users: int,
        more: dict[str, Any] | None = None,
    ) -> None:
        warmup_s, duration_s = self._asked.times
        plan = IntervalPlan(
            self._workload.name,
            loaded.scale,
            timeout_s=self._timeout_s,
            seed=self._asked.seed,
            test=test,
            queries=queries,
            users=users,
            warmup_s=warmup_s,
            duration_s=duration_s,
            facts=self._facts.model_copy(update=more or {}),
        )
        title = f"{test.capitalize()} queries on {target.name}, {users} user{'s'[: users != 1]}"
        session = self._session
        with session.events.phase(title) as progress, session.probed(target):
            drive.interval(session.recorder, target, plan, progress)
