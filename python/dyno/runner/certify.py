"""The job of ``dyno certify``: measures the intervals of a certificate, and issues it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, TypeVar

from dyno import _core, targets, workloads
from dyno.bundle.model import Estimate, Finding
from dyno.bundle.phases.certify import COMBINED, RATE
from dyno.bundle.reader import Bundle
from dyno.certificates import Bom, Reference
from dyno.config import settings as words
from dyno.config.settings import Setting
from dyno.config.strict import Strict, parse
from dyno.config.units import parse_seconds
from dyno.contracts import tuning
from dyno.contracts.layout import Form
from dyno.contracts.target import Limits, Made, PowerResult, Target, TargetUrl
from dyno.contracts.workload import Workload
from dyno.errors import UsageError
from dyno.host.cpu import usable_cpus
from dyno.host.hardware import hardware_facts
from dyno.plans.certify import CertifyPlan
from dyno.report.kit.pdf import browser
from dyno.runner import certified, stages
from dyno.runner.certify_data import Data, prepared, require_both
from dyno.runner.conclude import Issued
from dyno.runner.engine import confinement_of, settings_of
from dyno.runner.session import Job, Session
from dyno.runner.transacted import transacted
from dyno.safety import signing, toml
from dyno.stages import drive, prove
from dyno.stages.drive import IntervalPlan, PowerPlan
from dyno.workloads import USUAL

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
        UsageError: If options cannot be combined, a file is invalid, or a target does not support
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
    if asked.both_forms:
        require_both(urls[0])
    if asked.limits and len(urls) > 1:
        raise UsageError("--limit applies to one engine: name one target.")
    confinement = confinement_of(asked, urls[0])
    warmup_s, duration_s = asked.times
    users = asked.users or 2 * usable_cpus()
    record: dict[str, Any] = {
        "target": ", ".join(url.redacted for url in urls),
        **{"both_forms": asked.both_forms, "scale": scale, "users": users, "seed": asked.seed},
        "quick": asked.quick,
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
        if results and loaded is not None:
            stages.answers(session, PowerPlan(workload.name, loaded), results)

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
        usual = Setting("parallelism", str(PARALLELISM), PARALLELISM)
        reason = tuning.lacks(url.name, usual.word) or tuning.only_named(url.name)
        try:
            tuning.require(url, [usual])
            _tuned(asked, url, [usual])
        except UsageError as error:
            reason = reason or str(error).removesuffix(".")
        if reason is None:
            parallelism = usual
        else:
            note = f"no parallelism of {PARALLELISM} CPUs per query: {reason}"
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
        self._timeout_s = parse_seconds(asked.timeout)

    def run(self, results: dict[str, PowerResult]) -> float:
        """Loads the data that is missing, and runs all intervals.

        Args:
            results: Receives the answers of the target, if they can be verified.

        Returns:
            The scale of the data.
        """
        work, session, classes = self._work, self._session, self._workload.classes
        given = [one for one in work.settings if one.word not in ("memory", "parallelism")]
        alone = [*given, *([work.parallelism] if work.parallelism else [])]
        with session.target(work.url.text, self._before, settings=alone, part=RATE) as target:
            every = prepared(session, target, self._asked, self._workload, work.form, self._scale)
            self._configuration(target)
            for data in every:
                self._answers(target, data, results)
                self._interval(target, data, RATE, (next(iter(classes.values())),), 1)
        with session.target(work.url.text, settings=self._held(target, every)) as target:
            for data in every:
                for name, query in classes.items():
                    self._interval(target, data, name, (query,), self._users)
                self._interval(target, data, COMBINED, tuple(classes.values()), self._users)
        return every[0].scale

    def _before(self, target: Target) -> None:
        _core.prepare(self._workload.name)
        if isinstance(target, Made) and self._work.url.scheme == "embedded":
            target.before_load()

    def _configuration(self, target: Target) -> None:
        """Records the hardware, with the volumes of all targets so far."""
        recorder = self._session.recorder
        places = self._session.places(target)
        found = hardware_facts({target.name: places})
        before = recorder.run.host.get("hardware", {}).get("volumes", [])
        hardware = {**found, "volumes": [*before, *found["volumes"]]}
        recorder.set_host({**recorder.run.host, "hardware": hardware})

    def _answers(self, target: Target, data: Data, results: dict[str, PowerResult]) -> None:
        """Asks for the answers, if there is something to compare them with."""
        session, several = self._session, self._asked.both_forms or len(self._asked.targets) > 1
        if not several and data.scale not in self._workload.expected_scales:
            prove.unproven(session.recorder, self._workload.name, data.scale, target.name)
            return
        name = f"{target.name}{data.words}"
        with session.events.phase(f"Answers of {name}") as progress:
            results[name] = prove.ask(
                session.recorder, target, data.name, data.scale, progress, self._timeout_s
            )

    def _held(self, target: Target, every: Sequence[Data]) -> list[Setting]:
        """The settings of the concurrent tests: memory of a private engine below the data.

        Both forms of a target are measured with the same memory: below the smaller data.
        """
        url, given = self._work.url, list(self._work.settings)
        sizes = [one.facts.data_bytes for one in every if one.facts.data_bytes is not None]
        named = any(one.word == "memory" for one in given)
        if named or not sizes or url.scheme != "embedded":
            return given
        most = self._session.limits.memory_bytes
        size = min(most, max(LEAST_MEMORY, int(min(sizes)) // MEMORY_SHARE)) >> 20 << 20
        memory = Setting("memory", words.bytes_text(size), size)
        try:
            tuning.require(url, [memory])
            _tuned(self._asked, url, [*given, memory])
        except UsageError as error:
            self._session.events.say(f"! Memory of {target.name} is not limited: {error}")
            return given
        return [*given, memory]

    def _interval(
        self, target: Target, data: Data, test: str, queries: tuple[str, ...], users: int
    ) -> None:
        warmup_s, duration_s = self._asked.times
        more: dict[str, Any] = {}
        if test == RATE and self._work.parallelism is not None:
            more["parallelism"] = int(self._work.parallelism.value)
        if test == RATE and self._work.note is not None:
            more["parallelism_note"] = self._work.note
        plan = IntervalPlan(
            data.name,
            data.scale,
            timeout_s=self._timeout_s,
            seed=self._asked.seed,
            test=test,
            queries=queries,
            users=users,
            warmup_s=warmup_s,
            duration_s=duration_s,
            facts=data.facts.model_copy(update=more),
        )
        session = self._session
        where, many = f"{target.name}{data.words}", "s"[: users != 1]
        title = f"{test.capitalize()} queries on {where}, {users} user{many}"
        with session.events.phase(title) as progress, session.probed(target):
            drive.interval(session.recorder, target, plan, progress)
