"""Rules on storage profiles: what makes a metric doubtful, and what does not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from dyno.bundle.model import Confined, Finding
from tests import bundle_data as data
from tests.bundles import Builder
from tests.judged import Judged, judged

Shape = Callable[[float], float]
"""The rate at a share of a step, in units of its mean."""

# The best loads of the curves that ``Builder.io`` writes.
BEST = {"sequential_write": 16, "sequential_read": 16, "random_read": 128, "mixed": 128}
FACTS = {
    "device": "vda",
    "virtual": True,
    "remote": False,
    "raid": None,
    "rotational": True,
    "write_cache": "write back",
    "memory_bytes": 24 * data.GIB,
    "cgroup_limit": None,
}
VOLUME = {"name": "here", "path": "/srv", "kind": "made", "bytes": 4 * data.GIB}


def profile(path: Path, step_s: float = 2.0, **detail: Any) -> Builder:
    """A valid storage profile: each step has a constant rate, in tenths of a second."""
    builder = Builder(path / "run", verb="io").machine().io(step_s=step_s)
    stored = {**builder.phases[-1].detail, "fsync": True, **detail}
    builder.phases[-1] = builder.phases[-1].model_copy(update={"detail": stored})
    for row in builder.tables["io"]:
        shape(builder, row, lambda _: 1.0)
    return builder


def shape(builder: Builder, row: dict[str, Any], rate: Shape) -> None:
    """Writes the intervals of a step anew."""
    count = round(row["seconds"] / 0.1)
    moments = [row["t_ns"] + place * data.SECOND // 10 for place in range(count)]
    kept = [one for one in intervals(builder) if one["t_ns"] not in moments]
    kept += [
        {
            **{name: row[name] for name in ("volume", "phase", "queue_depth")},
            **{name: row.get(name) for name in ("stage", "repeat", "level", "rate")},
            "t_ns": moment,
            "seconds": 0.1,
            "reads": round(row["reads"] / count * rate((place + 0.5) / count)),
            "writes": round(row["writes"] / count * rate((place + 0.5) / count)),
        }
        for place, moment in enumerate(moments)
    ]
    builder.tables["io_intervals"] = kept


def intervals(builder: Builder) -> list[dict[str, Any]]:
    return builder.tables.setdefault("io_intervals", [])


def step(builder: Builder, curve: str, depth: int) -> dict[str, Any]:
    rows = builder.tables["io"]
    return next(row for row in rows if (row["phase"], row["queue_depth"]) == (curve, depth))


def again(builder: Builder, row: dict[str, Any], share: float, after_s: float = 60) -> None:
    """One more window of a load, with a share of the rate of the first."""
    counts = {
        name: round(row[name] * share) for name in ("reads", "writes", "read_bytes", "write_bytes")
    }
    later = {**row, **counts, "t_ns": row["t_ns"] + round(after_s * data.SECOND), "repeat": 2}
    builder.tables["io"].append(later)
    shape(builder, later, lambda _: 1.0)


def of(found: Judged, code: str) -> list[Finding]:
    return [item for item in found.findings if item.code == code]


def codes(found: Judged) -> set[str]:
    """The codes of the warnings on storage."""
    return found.warned() - {"thp-always"}


def targets(**facts: Any) -> list[dict[str, Any]]:
    return [{**VOLUME, "facts": {**FACTS, **facts}}]


def test_a_sound_profile_is_silent(tmp_path: Path) -> None:
    found = judged(profile(tmp_path, targets=targets()).write())
    assert found.validity.valid is True
    assert codes(found) == set()
    assert found.value("io.mixed.qd128.intervals") == 20


def test_a_device_that_is_memory(tmp_path: Path) -> None:
    words = "loop0 goes through the page cache"
    found = judged(profile(tmp_path, targets=targets(in_memory=words)).write())
    assert found.validity.valid is False
    (ruling,) = of(found, "untrusted-storage")
    assert words in ruling.message and "here" in ruling.message


@pytest.mark.parametrize(
    ("how", "other", "level"),
    [("scaling", "vda", "warning"), ("together", "vda", "note"), ("compare", "vdb", None)],
)
def test_volumes_on_one_disk(tmp_path: Path, how: str, other: str, level: str | None) -> None:
    (one,) = targets(members=["vda"])
    (two,) = targets(members=[other])
    builder = profile(tmp_path, targets=[one, {**two, "name": "there"}], how=how)
    found = of(judged(builder.write()), "shared-disk")
    assert [item.level for item in found] == ([] if level is None else [level])
    assert all("here and there are on the same disk, vda" in item.message for item in found)


@pytest.mark.parametrize(
    ("depth", "rate", "valid", "words"),
    [
        (128, lambda at: 1.25 - at / 2, False, "at the best load random_read at depth 128"),
        (128, lambda at: 0.9 + at / 5, True, "rose by 19 %"),
        (8, lambda at: 1.25 - at / 2, True, "fell by 4"),
        (8, lambda at: 0.9 + at / 5, True, ""),
    ],
)
def test_a_rate_that_drifts(
    tmp_path: Path, depth: int, rate: Shape, valid: bool, words: str
) -> None:
    builder = profile(tmp_path)
    shape(builder, step(builder, "random_read", depth), rate)
    found = judged(builder.write())
    assert found.validity.valid is valid
    assert codes(found) == ({"unsteady-storage"} if words else set())
    assert all(words in item.message for item in of(found, "unsteady-storage"))


def test_a_device_that_stands_still(tmp_path: Path) -> None:
    builder = profile(tmp_path)
    row = step(builder, "random_read", 8)
    shape(builder, row, lambda at: 0.0 if 0.4 < at < 0.55 else 1.0)
    found = judged(builder.write())
    assert found.validity.valid is True
    (finding,) = of(found, "unsteady-storage")
    assert "at random_read at depth 8 I/O stalled for 300 ms" in finding.message


def test_a_warm_up_without_end(tmp_path: Path) -> None:
    builder = profile(tmp_path, step_s=8.0)
    row = step(builder, "mixed", BEST["mixed"])
    # Levels only near the end; its line is not significant, but MSER-5 says more.
    shape(builder, row, lambda at: min(1.0, 0.7 + at**2 / 2) + (0.02 if at * 80 % 2 < 1 else 0))
    found = judged(builder.write())
    assert found.codes() == {"unsteady-storage"}
    assert "never settled" in found.validity.reasons[0].message


def test_windows_of_the_best_load_that_differ(tmp_path: Path) -> None:
    builder = profile(tmp_path)
    row = step(builder, "random_read", BEST["random_read"])
    again(builder, row, 1.24)
    again(builder, {**row, "t_ns": row["t_ns"] + data.SECOND}, 1.25)
    again(builder, step(builder, "random_read", 4), 1.4)  # not reported
    found = judged(builder.write())
    assert found.codes() == {"unsteady-storage"}
    (reason,) = found.validity.reasons
    assert "3 windows differ by 12 %" in reason.message
    assert reason.phase == "io"


def test_steps_that_are_too_short_are_reported_once(tmp_path: Path) -> None:
    found = judged(profile(tmp_path, step_s=0.5).write())
    assert found.validity.valid is True
    (warning,) = of(found, "unsteady-storage")
    assert "Steps of 500 ms are too short" in warning.message
    assert "and 23 more" in warning.message


def test_bundles_without_intervals_are_not_judged(tmp_path: Path) -> None:
    builder = profile(tmp_path)
    del builder.tables["io_intervals"]
    assert codes(judged(builder.write())) == set()


@pytest.mark.parametrize(("depth", "valid"), [(BEST["mixed"], False), (4, True)])
def test_a_rate_that_falls_by_a_step(tmp_path: Path, depth: int, valid: bool) -> None:
    builder = profile(tmp_path)
    row = step(builder, "mixed", depth)
    shape(builder, row, lambda at: 1.2 if at < 0.5 else 0.8)
    found = judged(builder.write())
    assert found.validity.valid is valid
    assert codes(found) == {"throttled-storage"}
    (finding,) = of(found, "throttled-storage")
    iops = (row["reads"] + row["writes"]) / row["seconds"]
    assert f"from {iops * 1.2:,.0f} to {iops * 0.8:,.0f}," in finding.message
    at_s = (row["t_ns"] - data.START_NS) / data.SECOND + 1
    assert f"{at_s:.0f} s into the run" in finding.message


def test_a_rate_that_falls_between_windows(tmp_path: Path) -> None:
    builder = profile(tmp_path)
    again(builder, step(builder, "mixed", 8), 0.5)
    found = judged(builder.write())
    assert codes(found) == {"throttled-storage"}
    (finding,) = of(found, "throttled-storage")
    assert "mixed at depth 8 " in finding.message
    assert "by 50 % between two windows" in finding.message


@pytest.mark.parametrize("depth", [BEST["mixed"], 4])
def test_a_small_fall_by_a_step_is_reported(tmp_path: Path, depth: int) -> None:
    builder = profile(tmp_path)
    row = step(builder, "mixed", depth)
    shape(builder, row, lambda at: 1.08 if at < 0.5 else 0.92)
    found = judged(builder.write())
    assert found.validity.valid is True
    assert codes(found) == {"unsteady-storage"}
    (finding,) = of(found, "unsteady-storage")
    iops = (row["reads"] + row["writes"]) / row["seconds"]
    assert "by 15 %, from" in finding.message
    name = f"io.mixed.qd{depth}"
    assert found.value(f"{name}.drop_from_iops") == pytest.approx(iops * 1.08, rel=0.001)
    assert found.value(f"{name}.drop_to_iops") == pytest.approx(iops * 0.92, rel=0.001)


def test_a_fall_beside_other_work_names_it(tmp_path: Path) -> None:
    builder = profile(tmp_path)
    shape(builder, step(builder, "mixed", BEST["mixed"]), lambda at: 1.2 if at < 0.5 else 0.8)
    dyno = {"source": "process", "subject": "dyno", "metric": "cpu"}
    busy = [one for one in builder.tables["samples"] if one["metric"] == "busy"]
    builder.tables["samples"] += [{**one, **dyno, "value": 10.0} for one in busy]
    for sample in busy:
        sample["value"] = 90.0
    found = judged(builder.write())
    assert found.codes() == {"background-load", "throttled-storage"}
    (finding,) = of(found, "throttled-storage")
    assert "85 % CPU" in finding.message


# Sizes of a rate that goes back and forth over several intervals, as that of a shared disk may.
WAVE = [1.0, 1.05, 1.1, 1.1, 1.05, 0.95, 0.9, 0.9, 0.95, 1.0]


@pytest.mark.parametrize(
    ("size", "level"), [(0.5, None), (1.0, "note"), (2.0, "warning")], ids=["none", "note", "more"]
)
def test_a_rate_that_wanders(tmp_path: Path, size: float, level: str | None) -> None:
    builder = profile(tmp_path)
    row = step(builder, "random_read", BEST["random_read"])
    shape(builder, row, lambda at: 1 + size * (WAVE[int(at * 20) % 10] - 1))
    shape(builder, step(builder, "random_read", 8), lambda at: 1 + 2 * (WAVE[int(at * 10)] - 1))
    found = judged(builder.write())
    assert found.validity.valid is True
    findings = of(found, "unsteady-storage")
    assert [item.level for item in findings] == ([] if level is None else [level])
    assert all("±" in item.message for item in findings)


def test_noise_that_looks_like_a_warm_up_spoils_nothing(tmp_path: Path) -> None:
    builder = profile(tmp_path, step_s=10.0)
    row = step(builder, "mixed", BEST["mixed"])
    shape(builder, row, lambda at: 1.0 if at > 0.7 else 1 + 0.03 * (-1) ** int(at * 20))
    found = judged(builder.write())
    assert found.validity.valid is True
    assert found.value("io.mixed.qd128.mser_discard_percent") > 50
    assert codes(found) == set()


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (
            {"riops": 85_000},
            "85,000 reads a second, was the bottleneck (random_read at depth 32 and 3 more)",
        ),
        ({"wbps": 930_000_000}, "930 MB/s, was the bottleneck (sequential_write at depth 16)"),
        ({"riops": 120_000, "wiops": 40_000}, None),
    ],
)
def test_a_control_group_that_sets_the_pace(
    tmp_path: Path, limits: dict[str, int], words: str | None
) -> None:
    found = judged(profile(tmp_path, targets=targets(cgroup_limit=limits)).write())
    assert found.validity.valid is True
    findings = of(found, "throttled-storage")
    assert len(findings) == (words is not None)
    assert all((words or "") in item.message for item in findings)


def test_a_limit_that_the_run_asked_for_is_a_note(tmp_path: Path) -> None:
    builder = profile(tmp_path, targets=targets(cgroup_limit={"riops": 85_000}))
    builder.confined = Confined(where="process", version=2, limits={"read_iops": "85000"})
    found = judged(builder.write())
    assert found.validity.valid is True
    (note,) = [item for item in found.findings if item.code == "throttled-storage"]
    assert note.level == "note"
    assert "this run's limit on" in note.message
    assert "Remove it" not in note.message


@pytest.mark.parametrize(
    ("facts", "median", "warned"),
    [
        ({}, 0.098, False),
        ({}, 0.03, True),
        ({"virtual": False}, 0.03, False),
        ({"virtual": False, "raid": "raid10"}, 0.4, True),
        ({"virtual": False, "raid": "raid10", "rotational": False}, 0.4, False),
        ({"device": "nvme0n1"}, 0.03, False),
        ({"memory_bytes": data.GIB}, 0.03, False),
    ],
)
def test_a_file_that_a_cache_may_hold(
    tmp_path: Path, facts: dict[str, Any], median: float, warned: bool
) -> None:
    from tests.bundle_rows import histogram

    builder = profile(tmp_path, targets=targets(**facts))
    row = step(builder, "random_read", 1)
    row["read_latency"] = histogram(row["reads"], median)
    found = judged(builder.write())
    assert found.validity.valid is True
    assert codes(found) == ({"small-file"} if warned else set())


@pytest.mark.parametrize(
    ("fsync", "cache", "count"),
    [(False, "write back", 1), (True, "write back", 0), (False, "write through", 0)],
)
def test_a_volatile_cache_is_a_note(tmp_path: Path, fsync: bool, cache: str, count: int) -> None:
    builder = profile(tmp_path, targets=targets(write_cache=cache), fsync=fsync)
    found = judged(builder.write())
    assert found.validity.valid is True
    assert codes(found) == set()
    notes = of(found, "volatile-cache")
    assert [note.level for note in notes] == ["note"] * count
    assert all("volatile cache of vda" in note.message for note in notes)


def test_blocks_that_the_kernel_splits(tmp_path: Path) -> None:
    facts = targets(largest_request_bytes=128 << 10)
    builder = profile(tmp_path, targets=facts)
    for row in builder.tables["io"]:
        row["block_bytes"] = 256 << 10 if row["phase"] == "sequential_read" else 128 << 10
    (note,) = of(judged(builder.write()), "split-blocks")
    assert (note.level, note.evidence) == ("note", ("max_sectors_kb = 128",))
    assert "256 KiB" in note.message


@pytest.mark.parametrize(
    ("share", "members", "told"), [(0.79, ["vda"], False), (0.81, ["vda"], True)]
)
def test_a_rate_near_that_of_the_link(
    tmp_path: Path, share: float, members: list[str], told: bool
) -> None:
    estimates = judged(profile(tmp_path, targets=targets()).write()).estimates
    best = max(one.value for one in estimates if one.name.endswith("qd16.mbps"))
    link = {"link": "SATA 6.0 Gbit/s", "link_mbps": best / share, "members": members}
    found = judged(profile(tmp_path / "other", targets=targets(**link)).write())
    assert [note.level for note in of(found, "link-ceiling")] == ["note"] * told
    assert found.validity.valid is True


@pytest.mark.parametrize(
    ("content", "valid", "words"),
    [
        ({"zero_percent": 4.0, "duplicate_percent": 4.5, "compressed_percent": 98.0}, True, ""),
        ({"zero_percent": 6.0, "duplicate_percent": 3.0}, True, "6 % zeroes."),
        ({"compressed_percent": 40.0}, True, "60 % compressible"),
        ({"zero_percent": 20.0, "duplicate_percent": 10.0}, False, "20 % zeroes, 10 % duplicates"),
        ({"zero_percent": "all"}, True, ""),
    ],
)
def test_what_is_easy_to_read(
    tmp_path: Path, content: dict[str, Any], valid: bool, words: str
) -> None:
    subjects = [{"name": "/srv", "content": content}]
    notes = [{"code": "content", "text": "here: 99 % of 256 sampled blocks are zeroes"}]
    builder = profile(tmp_path, targets=targets(), subjects=subjects, notes=notes)
    found = judged(builder.write())
    assert found.validity.valid is valid
    assert codes(found) == ({"compressible"} if words else set())
    assert all(words in item.message for item in of(found, "compressible"))


@pytest.mark.parametrize(
    ("errors", "words"),
    [
        ('{"io": 3}', "(sequential_read at depth 1): 3 io. Check the device's health"),
        ('{"short_read": 7, "io": 2}', "7 short_read, 2 io. The file was truncated"),
        ('{"gone": 1200}', "1,200 gone. The device or file disappeared"),
    ],
)
def test_failed_ios_are_reported_by_class(tmp_path: Path, errors: str, words: str) -> None:
    builder = profile(tmp_path)
    builder.tables["io"][3]["errors"] = errors
    found = judged(builder.write())
    assert found.codes() == {"errors"}
    assert words in found.validity.reasons[0].message


def open_loop(builder: Builder, purposes: Iterable[str], late: int) -> Builder:
    """Turns a curve into one of rates that rise."""
    rows = [row for row in builder.tables["io"] if row["phase"] == "random_read"]
    for place, (row, purpose) in enumerate(zip(rows, purposes, strict=False)):
        row.update(rate=1000.0 * (place + 1), purpose=purpose, level=place, late=0, unissued=late)
        row.update(queue_depth=64)
    builder.tables["io"] = [row for row in builder.tables["io"] if row.get("rate") is not None]
    del builder.tables["io_intervals"]
    return builder


@pytest.mark.parametrize(("purpose", "reported"), [("list", True), ("grow", False)])
def test_a_rate_that_is_not_kept(tmp_path: Path, purpose: str, reported: bool) -> None:
    builder = open_loop(profile(tmp_path), [purpose] * 9, late=2000)
    found = judged(builder.write())
    (message,) = [item.message for item in of(found, "rate-not-sustained")] or [""]
    assert (
        "Storage fell behind the rate: random_read at 1,000 I/Os a second" in message
    ) is reported
    assert found.validity.valid is True


def test_a_disturbance_in_one_curve_of_a_long_profile(tmp_path: Path) -> None:
    builder = profile(tmp_path)
    rows = [row for row in builder.tables["io"] if row["phase"] == "sequential_read"]
    start, end = rows[0]["t_ns"], rows[-1]["t_ns"] + 3 * data.SECOND
    for sample in builder.tables["samples"]:
        if sample["metric"] == "steal" and start <= sample["t_ns"] < end:
            sample["value"] = 20.0
    found = judged(builder.write())
    assert found.codes() == {"cpu-steal"}
    (reason,) = found.validity.reasons
    assert "Storage profile, sequential_read: CPU steal: 20 %" in reason.message
    assert reason.phase == "io"
    assert found.validity.verdict == "disturbed"


def test_a_curve_that_never_settled(tmp_path: Path) -> None:
    notes = [{"code": "unsettled", "text": "mixed: not steady after 9 windows: the metrics …"}]
    builder = profile(tmp_path, settled={"mixed": False, "random_read": True}, notes=notes)
    row = step(builder, "mixed", BEST["mixed"])
    rows = [{**row, "purpose": "settle", "level": place} for place in range(9)]
    for place, one in enumerate(rows):
        one["t_ns"] += place * data.SECOND // 2
        # Of the windows before the last five nothing is said.
        one["reads"] = one["reads"] if place > 3 else one["reads"] // 9
    builder.tables["io"] = [one for one in builder.tables["io"] if one["phase"] != "mixed"] + rows
    del builder.tables["io_intervals"]
    found = judged(builder.write())
    assert codes(found) == {"unsteady-storage"}
    (reason,) = found.validity.reasons
    assert "mixed did not settle in 9 windows" in reason.message


def test_a_file_system_with_a_cache_of_its_own_is_marked(tmp_path: Path) -> None:
    found = judged(profile(tmp_path, targets=targets(filesystem="zfs")).write())
    assert codes(found) == {"untrusted-storage"}
    assert found.validity.valid is True
    assert "ARC" in of(found, "untrusted-storage")[0].message


@pytest.mark.parametrize(
    ("search", "valid", "words"),
    [
        ({"best": 64, "confirmed": True, "stopped": "resolution"}, True, ""),
        ({"best": 64, "confirmed": False, "stopped": "most"}, False, "no second window"),
        ({"best": None, "confirmed": False, "stopped": "none inside"}, True, "even the smallest"),
    ],
)
def test_a_search_that_found_nothing_sure(
    tmp_path: Path, search: dict[str, Any], valid: bool, words: str
) -> None:
    found = judged(profile(tmp_path, searches={"mixed": {"0": search}}).write())
    assert found.validity.valid is valid
    assert codes(found) == ({"unconfirmed-maximum"} if words else set())
    assert all(words in item.message for item in of(found, "unconfirmed-maximum"))


def test_details_of_another_shape_spoil_nothing(tmp_path: Path) -> None:
    odd: dict[str, Any] = {"targets": [5, {"facts": [], "bytes": "many"}], "subjects": {"a": 1}}
    odd |= {"settled": 1, "searches": {"mixed": {"0": None}, "random_read": []}}
    found = judged(profile(tmp_path, **odd).write())
    assert found.validity.valid is True
