"""A storage profile."""

from __future__ import annotations

from typing import Any

from dyno.bundle.detail import Detail, Int, Many, Number, Pair, Part


class Stage(Part):
    """A fill level.

    Attributes:
        label: ``40 %``.
        percent: Percent of the volume, or of the size that the user gave.
        bytes: Size of the test file, by volume.
    """

    label: str | None = None
    percent: Number | None = None
    bytes: dict[str, Number] | None = None


class Asked(Part):
    """A requested volume.

    Attributes:
        name: The name from the user.
        path: The folder, file or device.
        kind: ``made`` (a test file), ``file`` or ``device``.
        bytes: Bytes to use; None for all.
        facts: Volume facts as documented in ``dyno.host.fields``.
    """

    name: str | None = None
    path: str | None = None
    kind: str | None = None
    bytes: Number | None = None
    facts: dict[str, Any] | None = None


class Seen(Part):
    """A volume as the engine opened it (``dyno_io::Subject``).

    Attributes:
        name: The name in the engine.
        path: The file or device under test.
        kind: Same as requested.
        bytes: Bytes used, from the start.
        direct: Whether I/O bypassed the page cache, as far as known.
        extents_written: Whether all I/O was on written extents; None if unknown.
        content: Sampled content of an existing file or device, in percent.
    """

    name: str | None = None
    path: str | None = None
    kind: str | None = None
    bytes: Number | None = None
    direct: bool | None = None
    extents_written: bool | None = None
    content: dict[str, Number] | None = None


class Remark(Part):
    """A remark of the engine.

    Attributes:
        code: Code in ``dyno_io::Topic``: ``content``, ``unsettled``, ``page-cache``, ``unwritten``,
            ``unchecked``, ``leftover``, ``disturbed``, ``long-drain`` or ``fallback``.
        text: The message.
    """

    code: str | None = None
    text: str | None = None


class Found(Part):
    """The result of a search on a curve. Loads are queue depths, or rates if the rate varies.

    Attributes:
        best: The load with the maximum IOPS within the ceiling; None if there is none.
        outside: The smallest load that exceeded the ceiling or had failures.
        confirmed: Whether further windows confirmed ``best`` within the ceiling.
        windows: Number of windows.
        stopped: Why no larger load was tried.
    """

    best: Number | None = None
    outside: Number | None = None
    confirmed: bool | None = None
    windows: Int | None = None
    stopped: str | None = None


class IoDetail(Detail):
    """One measurement of one arm of a storage profile.

    Attributes:
        volume: Label of the arm: its volume names, or the path of a single volume.
        arm: Position of the arm.
        arms: Labels of all arms.
        how: ``single``, ``together``, ``compare`` or ``scaling``.
        repeat: Number of this repeat, from 1.
        repeats: Planned number of repeats.
        profile: Name of the profile.
        file_bytes: Size of its test file.
        ceiling_ms: Latency ceiling.
        ceiling_of: Latency statistic of the ceiling: ``p95``, ``mean`` or ``p99``.
        figures: Metric by curve: ``iops`` or ``mbps``.
        fsync: Whether each write completed only when it was on the media.
        pages: Requested memory pages: ``auto``, ``huge`` or ``ordinary``.
        on_error: Reaction to many failed I/Os: ``stop`` or ``continue``.
        targets: The requested volumes.
        stages: Fill levels.
        engine: ``io_uring`` or ``psync``.
        direct: Whether I/O bypassed the page cache.
        notes: Remarks of the engine; plain text in bundles of earlier versions.
        searches: Search results by curve and number of the fill level.
        settled: By curve, whether it was steady at the end of its windows.
        subjects: The volumes as the engine opened them, in the order of ``targets``.
        huge_percent: Minimum and maximum share of buffers in huge pages over all steps.
    """

    volume: str | None = None
    arm: Int | None = None
    arms: Many[str] = ()
    how: str | None = None
    repeat: Int | None = None
    repeats: Int | None = None
    profile: str | None = None
    file_bytes: Number | None = None
    ceiling_ms: Number | None = None
    ceiling_of: str | None = None
    figures: dict[str, str] | None = None
    fsync: bool | None = None
    pages: str | None = None
    on_error: str | None = None
    targets: Many[Asked] = ()
    stages: Many[Stage] = ()
    engine: str | None = None
    direct: bool | None = None
    notes: Many[Remark | str] = ()
    searches: dict[str, dict[str, Found]] | None = None
    settled: dict[str, bool] | None = None
    subjects: Many[Seen] = ()
    huge_percent: Pair[Number] | None = None

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """Returns ``notes``. Those of earlier versions have no code."""
        return tuple(
            Remark(code="", text=note) if isinstance(note, str) else note for note in self.notes
        )


DETAIL = IoDetail
