"""A recorded piece of work: lock, bundle, sampling, judgement, sheet, exit code."""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from dyno import host, targets
from dyno.analyse import estimate
from dyno.bundle.reader import Bundle
from dyno.bundle.writer import Recorder, write_atomically
from dyno.cli._colour import coloured
from dyno.cli._console import Console
from dyno.cli._faults import shown_fault
from dyno.cli._limits import lines as limit_lines
from dyno.cli._options import Options
from dyno.cli._settings import lines as settings_lines
from dyno.cli._signals import Signals
from dyno.config.settings import Setting, as_record
from dyno.confinement import places
from dyno.confinement.limits_asked import as_record as limits_record
from dyno.confinement.run import Confinement
from dyno.contracts import tuning
from dyno.contracts.probe import Probed
from dyno.contracts.target import Limits, Target
from dyno.decide import broken, definitions, judge
from dyno.errors import (
    EXIT_DONE,
    EXIT_INTERRUPTED,
    EXIT_INVALID,
    DynoError,
    Interrupted,
)
from dyno.host.limits import usable_memory_bytes
from dyno.report import document, latencies, sheet, summary
from dyno.safety import plainjson
from dyno.safety.redaction import redact
from dyno.safety.text import plain
from dyno.stages.observe.sampler import Sampler
from dyno.targets import scratch
from dyno.targets.devices import devices
from dyno.workloads import notices
from dyno.workspace import engine_folders
from dyno.workspace.lock import OutLock


@dataclass
class Session:
    """What the body of a verb works with while its bundle is open."""

    options: Options
    console: Console
    recorder: Recorder
    sampler: Sampler
    limits: Limits
    settings: Sequence[Setting] = ()
    confinement: Confinement | None = None
    _watched: dict[str, list[int]] = field(default_factory=dict[str, list[int]])

    @contextlib.contextmanager
    def target(self, url: str, before: Callable[[Target], None] | None = None) -> Generator[Target]:
        """Starts or reaches a target, records what it is, and stops what was started.

        The run's settings are applied when it starts, and restored when it is left.
        ``before`` is called with the target just before that.

        Raises:
            UsageError: If the URL is wrong, or a setting cannot be.
            TargetError: If it cannot be used.
        """
        parsed = targets.parse(url)
        name = f"provision-{parsed.name}"
        if parsed.scheme == "embedded":
            engine_folders.claim(self.options.out, parsed.name)
        opened = targets.open_target(parsed, self.options.out, self.limits)
        tuning.tune(opened, self.settings)
        with self._restored(opened), self.confined(), contextlib.ExitStack() as stack:
            with (
                self.recorder.phase(name, f"Start {parsed.name}", "provision", parsed.name),
                self.console.phase(f"Start {parsed.name}"),
            ):
                if before is not None:
                    before(opened)
                if self.confinement is not None:
                    self.confinement.charge(opened.data_paths())
                target = stack.enter_context(opened)
                found = {"tuned": tuning.tuned(target), **devices(target)}
                facts = target.facts().model_copy(update=found)
                self.recorder.set_target(target.name, facts)
                self.watch(target)
            for line in settings_lines(facts.tuned):
                self.console.say(line)
            for note in facts.device_notes:
                self.console.say(f"  devices of {target.name}: {plain(note)}")
            try:
                yield target
            finally:
                del self._watched[target.name]
                self._watch()

    @contextlib.contextmanager
    def confined(self) -> Generator[None]:
        """Has the limits of the run hold inside the block, and records what they did."""
        if self.confinement is None:
            yield
            return
        for line in limit_lines(self.confinement.figures()):
            self.console.say(line)
        try:
            with self.confinement.within():
                yield
        finally:
            self.recorder.update(confined=self.confinement.figures())

    @contextlib.contextmanager
    def probed(self, target: Target) -> Generator[None]:
        """Has the target's own probes read as well while the block is open."""
        with self.sampler.joined(target.probes() if isinstance(target, Probed) else ()):
            yield

    def watch(self, target: Target) -> None:
        """Has the probes read the target's server processes, which a restart replaces."""
        self._watched[target.name] = target.process_ids()
        self._watch()

    def _watch(self) -> None:
        self.sampler.watch([pid for pids in self._watched.values() for pid in pids])

    @contextlib.contextmanager
    def _restored(self, target: Target) -> Generator[None]:
        """Records, once the target was left, whether its settings are what they were."""
        try:
            yield
        finally:
            facts = self.recorder.run.targets.get(target.name)
            if facts is not None and facts.tuned:
                left = facts.model_copy(update={"tuned": tuning.tuned(target)})
                self.recorder.set_target(target.name, left)


def run_session(
    options: Options,
    verb: str,
    plan: dict[str, Any],
    workloads: tuple[str, ...],
    volume: Path,
    body: Callable[[Session], None],
    settings: Sequence[Setting] = (),
    confinement: Confinement | None = None,
) -> int:
    """Does ``body`` as a recorded run and concludes it, whatever happens in between.

    Args:
        options: The shared options.
        verb: Name of the verb, for the bundle.
        plan: What is going to be done, without secrets.
        workloads: Workloads whose figures will appear (for the notices).
        volume: The folder whose file system and device are described.
        body: The work.
        settings: What the targets of this run are set to.
        confinement: Limits of the engine's processes, if there are any.

    Returns:
        The exit code.
    """
    if options.rehearsed:
        return EXIT_DONE
    console = Console(quiet=options.quiet)
    places.sweep()  # groups of a run that was killed
    with confinement or contextlib.nullcontext(), OutLock(options.out), Signals() as signals:
        scratch.sweep(options.out)  # of a run that was killed, with the passwords in it
        asked = {"settings": as_record(settings)} if settings else {}
        asked |= {} if confinement is None else {"limits": limits_record(confinement.asked)}
        recorder = Recorder(
            options.out,
            verb,
            {**plan, **asked, "command": _command()},
            workloads,
            notices(workloads),
        )
        failure: BaseException | None = None
        try:
            try:
                signals.begin_work()
                with Sampler(recorder) as sampler:
                    recorder.meter = sampler.meter
                    limits = _machine(recorder, console, volume)
                    if confinement is not None:
                        total = usable_memory_bytes(recorder.run.host)
                        limits = confinement.fitted(limits, total)
                    given = (limits, settings, confinement)
                    body(Session(options, console, recorder, sampler, *given))
            finally:
                signals.end_work()  # what still strikes before this is caught below
        except BaseException as error:
            failure = error
        return _conclude(options, console, recorder, failure)


def _command() -> str:
    """The command line of this run, fit for a bundle: URLs without their passwords."""
    return shlex.join(["dyno", *(redact(word) for word in sys.argv[1:])])


def _machine(recorder: Recorder, console: Console, volume: Path) -> Limits:
    with recorder.phase("machine", "Machine", "machine"):
        facts = host.collect(volume)
        recorder.set_host(facts)
    for finding in host.warnings(facts):
        if finding.level == "warning":
            console.say(f"! {finding.message}")
    return host.limits(facts)


def _conclude(
    options: Options, console: Console, recorder: Recorder, failure: BaseException | None
) -> int:
    """Closes the bundle, judges it, writes the sheet and prints the outcome."""
    if isinstance(failure, (KeyboardInterrupt, Interrupted)):
        status, code, message = "interrupted", EXIT_INTERRUPTED, "Interrupted."
    elif isinstance(failure, DynoError):
        status, code, message = "failed", failure.exit_code, str(failure)
    elif failure is not None:
        fault = shown_fault(failure, recorder.path)
        status, code, message = "failed", fault.exit_code, str(fault)
    else:
        status, code, message = "done", EXIT_DONE, None
    try:
        recorder.finish(status, message)
        bundle = Bundle.open(recorder.path)
        estimates = estimate(bundle)
        validity, findings = judge(bundle, estimates)
        recorder.judge(validity, estimates, findings)
        bundle = Bundle.open(recorder.path)
        page = recorder.path / "sheet.html"
        write_atomically(page, sheet(bundle, estimates, findings, definitions()))
        lines = [*latencies(bundle, estimates, findings), *summary(bundle, estimates, findings)]
        measured = message is None or bundle.measured
        result = {**document(bundle, estimates, findings), "sheet": str(page), "error": message}
    except Exception as error:
        unconcluded = _unconcluded(console, recorder.path, message, error)
        return code or unconcluded
    finally:
        recorder.close()
    if message is not None:
        console.warn(f"dyno: {message}")
    if options.as_json:
        click.echo(plainjson.dumps(result))
    if measured and options.as_json:
        console.say("\n".join(lines))
    elif measured:
        click.echo(coloured(lines))
    # After a failed start the error above says it all; the page stays in the bundle.
    console.say(f"Sheet: {page}" if measured else "Nothing was measured.")
    if code == EXIT_DONE and (validity.valid is False or broken(findings)):
        return EXIT_INVALID
    return code


def _unconcluded(console: Console, bundle: Path, message: str | None, error: Exception) -> int:
    """Tells of a bundle that could not be closed or analysed; gives the exit code for that.

    It is a full disk, mostly: what the spools hold stays readable.
    """
    if message is not None:
        console.warn(f"dyno: {message}")
    if not isinstance(error, DynoError):
        error = shown_fault(error)
    reason = str(error).rstrip(".")
    console.warn(
        f"dyno: The run was recorded, but not closed and analysed ({reason}). Its bundle is "
        f"{bundle}; `dyno report {bundle}` tries again."
    )
    return error.exit_code
