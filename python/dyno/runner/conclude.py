"""The end of a recorded run: its tables, its verdict, its report and its exit code.

Imported when the work has ended: until then, a process that observes needs neither the analysis nor
its libraries.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dyno.analyse import estimate
from dyno.bundle.model import Estimate, Finding
from dyno.bundle.reader import Bundle
from dyno.bundle.writer import Recorder, write_atomically
from dyno.decide.judge import broken, definitions, judge
from dyno.errors import (
    EXIT_DONE,
    EXIT_INTERRUPTED,
    EXIT_INVALID,
    DynoError,
    FaultError,
    Interrupted,
)
from dyno.report import document, latencies, run_report, summary
from dyno.runner.faults import fault_of


@dataclass(frozen=True)
class Issued:
    """What a job made of its judged bundle: additions to the JSON document and the summary."""

    document: dict[str, Any]
    lines: tuple[str, ...]


After = Callable[[Bundle, list[Estimate], list[Finding]], Issued]
"""Makes something of a judged bundle."""


@dataclass(frozen=True)
class Ended:
    """Result of a job.

    Attributes:
        path: The bundle folder.
        code: The exit code.
        message: Why the job failed; empty on success.
        failure: The exception that ended the job, if any.
        document: The JSON document of the run; empty if the analysis failed.
        lines: The summary.
        page: The report page; None if nothing was measured.
        unanalysed: Why the bundle could not be closed and analysed; empty on success.
    """

    path: Path
    code: int
    message: str
    failure: BaseException | None
    document: dict[str, Any] = field(default_factory=dict[str, Any])
    lines: tuple[str, ...] = ()
    page: Path | None = None
    unanalysed: str = ""

    def raise_fault(self) -> None:
        """Raises a fault in Dyno. Other errors and interrupts are only reported."""
        if isinstance(self.failure, FaultError):
            raise self.failure


def conclude(recorder: Recorder, failure: BaseException | None, after: After | None) -> Ended:
    """Closes the bundle, computes the verdict and writes the report page."""
    if isinstance(failure, (KeyboardInterrupt, Interrupted)):
        status, code, message = "interrupted", EXIT_INTERRUPTED, "Interrupted."
    elif isinstance(failure, DynoError):
        status, code, message = "failed", failure.exit_code, str(failure)
    elif failure is not None:
        failure = fault_of(failure, recorder.path)
        status, code, message = "failed", failure.exit_code, str(failure)
    else:
        status, code, message = "done", EXIT_DONE, ""
    try:
        recorder.finish(status, message or None)
        bundle = Bundle.open(recorder.path)
        estimates = estimate(bundle)
        validity, findings = judge(bundle, estimates)
        recorder.judge(validity, estimates, findings)
        bundle = Bundle.open(recorder.path)
        page = recorder.path / "sheet.html"
        write_atomically(page, run_report(bundle, estimates, findings, definitions()))
        lines = [*latencies(bundle, estimates, findings), *summary(bundle, estimates, findings)]
        measured = not message or bundle.measured
        content = document(bundle, estimates, findings)
        if after is not None and not message:
            issued = after(bundle, estimates, findings)
            content |= issued.document
            lines += issued.lines
    except Exception as error:
        seen = error if isinstance(error, DynoError) else fault_of(error)
        # The error that ended the work takes precedence over a fault in the analysis.
        raised = None if code or not isinstance(seen, FaultError) else seen
        reason, code = str(seen).rstrip("."), code or seen.exit_code
        return Ended(recorder.path, code, message, raised, unanalysed=reason)
    finally:
        recorder.close()
    if code == EXIT_DONE and (validity.valid is False or broken(findings)):
        code = EXIT_INVALID
    result = {**content, "sheet": str(page), "error": message or None}
    # After a failed start, the error message suffices. The page remains in the bundle.
    shown = page if measured else None
    return Ended(recorder.path, code, message, failure, result, tuple(lines), shown)
