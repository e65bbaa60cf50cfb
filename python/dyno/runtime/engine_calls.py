"""Long calls with progress and interrupts: Rust engines and database statements."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from dyno.errors import DynoError, Interrupted, error_of_kind
from dyno.runtime.progress import Progress

if TYPE_CHECKING:
    from dyno import _core

T = TypeVar("T")

_POLL_S = 0.1
_GRACE_S = 15.0


class Handle(Protocol):
    """The progress of one engine or several, for a concurrent watcher."""

    def progress(self) -> dict[str, Any]:
        """The progress: ``done`` and ``total``, and the ``step``."""
        ...

    def finish(self) -> None:
        """Ends it early, with an outcome."""
        ...

    def cancel(self) -> None:
        """Ends it without an outcome."""
        ...

    def release(self) -> None:
        """Lets it begin, if it was held back."""
        ...

    @property
    def ready(self) -> bool:
        """Whether it is ready to begin, or has begun."""
        ...


Beside = Callable[[Handle, threading.Event], None]
"""Runs during an engine call; must return soon after the event is set."""

Prepare = Callable[[dict[str, Any]], dict[str, Any]]
"""Receives an engine's plan in the thread that will call the engine, the parent of the engine's
threads. Its result becomes part of the outcome.
"""


def interruptible(
    work: Callable[[], T], cancel: Callable[[], None], poll: Callable[[], None] | None = None
) -> T:
    """Runs ``work`` in another thread so that Ctrl-C reaches this one at once.

    On Ctrl-C, this thread calls ``cancel``, waits up to 15 s for the work to end, and raises
    ``Interrupted``. ``poll`` is called about ten times per second meanwhile.

    Raises:
        Interrupted: After Ctrl-C.
        Exception: The exception of ``work``.
    """
    result: list[T] = []
    failure: list[BaseException] = []
    ended = threading.Event()

    def run() -> None:
        try:
            result.append(work())
        except BaseException as error:
            failure.append(error)
        finally:
            ended.set()

    thread = threading.Thread(target=run, daemon=True, name="dyno-work")
    try:
        thread.start()
        while thread.is_alive():
            thread.join(_POLL_S)
            if poll is not None:
                poll()
    except KeyboardInterrupt:
        cancel()
        # Not a join: the interrupt may arrive while the thread starts, when join raises.
        ended.wait(_GRACE_S)
        raise Interrupted("Interrupted.") from None
    if failure:
        raise failure[0]
    return result[0]


def run_engine(
    name: str,
    plan: dict[str, Any],
    progress: Progress,
    beside: Beside | None = None,
    prepare: Prepare | None = None,
    *,
    held: bool = False,
) -> dict[str, Any]:
    """Calls a Rust engine: ``generate``, ``load``, ``drive`` or ``profile``.

    Args:
        name: The engine.
        plan: Its plan, as the Rust ``Plan`` describes it.
        progress: Receives the engine's progress.
        beside: Runs in another thread meanwhile. It may watch the engine and end it early by the
            control handle, and must return soon after the event is set.
        prepare: Prepares the thread that calls the engine.
        held: Whether ``drive`` waits, with all its connections, until ``beside`` releases it.

    Returns:
        The engine's outcome.

    Raises:
        DynoError: Of the class of the engine's error kind.
        Exception: The exception of ``beside``; the engine is cancelled then.
    """

    def work(control: _core.Control) -> dict[str, Any]:
        if held:
            control.hold()
        if beside is None:
            return _call(name, plan, control, prepare)
        with _beside(beside, control):
            return _call(name, plan, control, prepare)

    return watched(work, progress)


class _Together:
    """The control handles of several engines as one."""

    def __init__(self, controls: Sequence[_core.Control]) -> None:
        self._controls = controls
        self.over: set[int] = set()
        """Places of those that have ended, which nobody needs to wait for."""

    def progress(self) -> dict[str, Any]:
        """The progress of the slowest."""
        return min((one.progress() for one in self._controls), key=lambda state: state["done"])

    def finish(self) -> None:
        """Ends all of them early."""
        for control in self._controls:
            control.finish()

    def cancel(self) -> None:
        """Ends all of them."""
        for control in self._controls:
            control.cancel()

    def release(self) -> None:
        """Lets all of them begin."""
        for control in self._controls:
            control.release()

    @property
    def ready(self) -> bool:
        """Whether all of them are ready, or over."""
        return all(one.ready or place in self.over for place, one in enumerate(self._controls))


def run_engines(
    name: str,
    plans: Sequence[dict[str, Any]],
    progress: Progress,
    beside: Beside | None = None,
    prepare: Prepare | None = None,
    *,
    held: bool = False,
) -> list[dict[str, Any]]:
    """Calls an engine several times in parallel, each call with its own control handle.

    Args:
        name: The engine.
        plans: One plan per call.
        progress: Receives the progress of the slowest.
        beside: Runs in another thread meanwhile, as in :func:`run_engine`, with all handles as one.
        prepare: Prepares each thread that calls the engine.
        held: Whether each waits, with all its connections, until ``beside`` releases all of them.

    Returns:
        Their outcomes, in the order of the plans.

    Raises:
        DynoError: Of the class of the first error; the others are cancelled then.
        Exception: The exception of ``beside``; all are cancelled then.
    """
    from dyno import _core

    controls = [_core.Control() for _ in plans]
    together = _Together(controls)
    if held:
        for control in controls:
            control.hold()
    outcomes: dict[int, dict[str, Any]] = {}
    failures: list[BaseException] = []

    def call(number: int, plan: dict[str, Any]) -> None:
        try:
            outcomes[number] = _call(name, plan, controls[number], prepare)
        except BaseException as error:
            failures.append(_classed(error) if isinstance(error, _core.EngineError) else error)
            together.cancel()
        finally:
            together.over.add(number)

    def run() -> None:
        threads = [
            threading.Thread(target=call, args=(number, plan), daemon=True)
            for number, plan in enumerate(plans)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]

    def work() -> None:
        if beside is None:
            run()
            return
        with _beside(beside, together):
            run()

    def poll() -> None:
        slowest = together.progress()
        text = f"{len(plans)} at once, {slowest['step']}"
        progress.update(float(slowest["done"]), float(slowest["total"]), text)

    interruptible(work, together.cancel, poll)
    return [outcomes[number] for number in range(len(plans))]


def _call(
    name: str, plan: dict[str, Any], control: _core.Control, prepare: Prepare | None
) -> dict[str, Any]:
    from dyno import _core

    found = {} if prepare is None else prepare(plan)
    return json.loads(getattr(_core, name)(json.dumps(plan), control)) | found


@contextlib.contextmanager
def _beside(work: Beside, control: Handle) -> Generator[None]:
    """Runs ``work`` in a thread for as long as the context is open."""
    ended = threading.Event()
    failure: list[BaseException] = []

    def run() -> None:
        try:
            work(control, ended)
        except BaseException as error:
            failure.append(error)
            control.cancel()

    thread = threading.Thread(target=run, daemon=True, name="dyno-beside")
    thread.start()
    try:
        yield
    except Exception:
        # The cancellation is only a consequence.
        if failure:
            raise failure[0] from None
        raise
    finally:
        ended.set()
        thread.join(_GRACE_S)
    if failure:
        raise failure[0]


def watched(
    work: Callable[[_core.Control], T],
    progress: Progress,
    words: Callable[[dict[str, Any]], str] | None = None,
) -> T:
    """Runs ``work`` with a control handle that is connected to ``progress`` and Ctrl-C.

    ``words`` makes the text from the handle's state (``done``, ``total``, ``bytes``, ``step``); the
    default text is the step.

    Raises:
        DynoError: Of the class of the engine's error kind.
    """
    from dyno import _core

    control = _core.Control()

    def poll() -> None:
        state = control.progress()
        text = str(state["step"]) if words is None else words(state)
        progress.update(float(state["done"]), float(state["total"]), text)

    def run() -> T:
        try:
            return work(control)
        except _core.EngineError as error:
            raise _classed(error) from None

    return interruptible(run, control.cancel, poll)


def _classed(error: _core.EngineError) -> DynoError:
    kind, message = error.args
    return error_of_kind(kind, message[:1].upper() + message[1:])
