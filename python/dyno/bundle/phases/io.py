"""Storage is profiled."""

from __future__ import annotations

from typing import Any

from dyno.bundle.detail import Detail, Int, Many, Number, Pair, Part


class Stage(Part):
    """A fill level.

    Attributes:
        label: ``40 %``.
        percent: Of the volume, or of what the user named.
        bytes: Of the test file, by volume.
    """

    label: str | None = None
    percent: Number | None = None
    bytes: dict[str, Number] | None = None


class Asked(Part):
    """A volume as it was asked for.

    Attributes:
        name: As the user named it.
        path: The folder, file or device.
        kind: ``made`` (a test file), ``file`` or ``device``.
        bytes: Of it to be used; None for all of it.
        facts: As ``dyno.host.fields`` documents them of a volume.
    """

    name: str | None = None
    path: str | None = None
    kind: str | None = None
    bytes: Number | None = None
    facts: dict[str, Any] | None = None


class Seen(Part):
    """A volume as the engine found it (``dyno_io::Subject``).

    Attributes:
        name: The engine's own.
        path: The file or device that was read and written.
        kind: As asked for.
        bytes: Bytes used, from the start.
        direct: Whether I/O bypassed the page cache, as far as it is known.
        extents_written: Whether all of it was on written extents; None if unknown.
        content: What a sample of an existing file or device showed, in percent.
    """

    name: str | None = None
    path: str | None = None
    kind: str | None = None
    bytes: Number | None = None
    direct: bool | None = None
    extents_written: bool | None = None
    content: dict[str, Number] | None = None


class Remark(Part):
    """What the engine remarked on while it worked.

    Attributes:
        code: As ``dyno_io::Topic`` has it: ``content``, ``unsettled``, ``page-cache``,
            ``unwritten``, ``unchecked``, ``leftover``, ``disturbed``, ``long-drain`` or
            ``fallback``.
        text: The words.
    """

    code: str | None = None
    text: str | None = None


class Found(Part):
    """What a search found on a curve; loads are queue depths, or rates where these vary.

    Attributes:
        best: The load with the most I/Os a second inside the ceiling; None if none was inside.
        outside: The smallest load that was outside, or had failures.
        confirmed: Whether further windows found ``best`` inside, too.
        windows: Windows that it took.
        stopped: Why no larger load was tried.
    """

    best: Number | None = None
    outside: Number | None = None
    confirmed: bool | None = None
    windows: Int | None = None
    stopped: str | None = None


class IoDetail(Detail):
    """One arm of a storage profile, measured once.

    Attributes:
        volume: The arm's label: its volumes by name, or the path of a single one.
        arm: Its place among the arms.
        arms: Labels of all.
        how: ``single``, ``together``, ``compare`` or ``scaling``.
        repeat: Which repeat this is, from 1.
        repeats: How many there are to be.
        profile: Name of the profile.
        file_bytes: Size of its test file.
        ceiling_ms: Latency ceiling.
        ceiling_of: What it is for: ``p95``, ``mean`` or ``p99``.
        figures: By curve, what it is about: ``iops`` or ``mbps``.
        fsync: Whether each write counted only once it was on the media.
        pages: Pages of memory asked for: ``auto``, ``huge`` or ``ordinary``.
        on_error: What many failed I/Os do: ``stop`` or ``continue``.
        targets: Its volumes as they were asked for.
        stages: Fill levels.
        engine: ``io_uring`` or ``psync``.
        direct: Whether I/O bypassed the page cache.
        notes: What the engine remarked on; only words in bundles of earlier versions.
        searches: By curve and number of the fill level, what a search found.
        settled: By curve, whether it had settled at the end of its windows.
        subjects: The volumes as the engine found them, in the order of ``targets``.
        huge_percent: Least and most of any step's buffers in huge pages of memory.
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
        """``notes``; those of earlier versions have no code."""
        return tuple(
            Remark(code="", text=note) if isinstance(note, str) else note for note in self.notes
        )


DETAIL = IoDetail
