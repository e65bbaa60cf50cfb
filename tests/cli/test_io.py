"""``dyno io`` as a user runs it: volumes, loads, fill levels, what it refuses."""

from __future__ import annotations

import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest

from dyno.bundle.reader import Bundle
from dyno.studies.metrics import METRICS
from tests.process import document, dyno

SHORT = ("--size", "8M", "--step", "100ms")
READS = (
    'size = "8M"\nstep = "100ms"\n[[curves]]\nname = "reads"\npattern = "random"\nblocks = ["8K"]\n'
    "reads = [100]\ndepths = [1, 4]\n"
)


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(READS)
    return path


def folders(place: Path, *names: str) -> list[Path]:
    made = [place / name for name in names]
    for folder in made:
        folder.mkdir()
    return made


def table(made: dict[str, Any], name: str = "io") -> list[dict[str, Any]]:
    return Bundle.open(Path(made["bundle"])).table(name).to_pylist()


def test_several_at_once_have_rows_of_their_own(tmp_path: Path, out: Path, profile: Path) -> None:
    a, b = folders(tmp_path, "a", "b")
    made = document(dyno("io", a, b, "--profile", profile, "--json", "--out", out))
    rows = table(made)
    assert [(row["volume"], row["queue_depth"]) for row in rows] == [("a+b", 2), ("a+b", 8)]
    parts = table(made, "io_parts")
    of_targets = [row for row in parts if row["volume"] != "a+b" and row["job"] is None]
    assert {row["volume"] for row in of_targets} == {"a", "b"}
    for row in rows:
        own = [part["reads"] for part in of_targets if part["level"] == row["level"]]
        assert sum(own) == row["reads"] > 0
    assert table(made, "io_intervals")
    assert not list(a.iterdir())
    assert not list(b.iterdir())


@pytest.mark.long
def test_arms_are_measured_forth_and_back(tmp_path: Path, out: Path, profile: Path) -> None:
    a, b = folders(tmp_path, "a", "b")
    options = ("--profile", profile, "--depths", "2", "--repeat", "2", "--json", "--out", out)
    made = document(dyno("io", f"one={a}", f"two={b}", "--compare", *options))
    assert [(row["volume"], row["repeat"]) for row in table(made)] == [
        ("one", 1), ("two", 1), ("two", 2), ("one", 2),
    ]  # fmt: skip
    phases = [phase for phase in Bundle.open(Path(made["bundle"])).run.phases if phase.kind == "io"]
    assert [phase.name for phase in phases] == ["io-one-1", "io-two-1", "io-two-2", "io-one-2"]
    assert phases[0].detail.arms == ("one", "two")
    made = document(dyno("io", a, b, "--scaling", *options[:4], "--json", "--out", out))
    assert [row["volume"] for row in table(made)] == ["a", "a+b"]


@pytest.mark.long
def test_a_volume_is_filled_level_by_level(tmp_path: Path, out: Path, profile: Path) -> None:
    (a,) = folders(tmp_path, "a")
    made = document(
        dyno(
            *("io", a, "--profile", profile, "--fill", "40,85", "--fill-of", "10M"),
            *("--depths", "2", "--step", "500ms", "--json", "--out", out),
        )
    )
    assert [row["stage"] for row in table(made)] == [0, 1]
    bundle = Bundle.open(Path(made["bundle"]))
    (phase,) = [p for p in bundle.run.phases if p.kind == "io"]
    assert [stage.label for stage in phase.detail.stages] == ["40 %", "85 %"]
    by_level = METRICS["iops_by_fill"].of(bundle.estimates())
    by_level |= METRICS["mbps_by_fill"].of(bundle.estimates())
    assert {name.split(".")[1] for name in by_level} == {"fill40", "fill85"}
    assert phase.detail.targets[0].bytes == 85 * (10 << 20) // 100 // 4096 * 4096
    assert not list(a.iterdir())


def test_a_rate_is_kept_and_its_response_times_recorded(tmp_path: Path, out: Path) -> None:
    (a,) = folders(tmp_path, "a")
    made = document(
        dyno("io", a, *SHORT, "--reads-only", "--rate", "200,400", "--json", "--out", out)
    )
    rows = [row for row in table(made) if row["phase"] == "random_read"]
    assert [row["rate"] for row in rows] == [200, 400]
    assert all(row["read_response"] for row in rows)
    assert {row["phase"] for row in table(made)} == {"sequential_read", "random_read"}


@pytest.mark.long
def test_a_file_is_read_as_it_is_or_overwritten(tmp_path: Path, out: Path, profile: Path) -> None:
    file = tmp_path / "data"
    content = bytes(range(256)) * (1 << 15)
    file.write_bytes(content)
    options = ("--depths", "2", "--step", "100ms", "--json", "--out", out)
    done = dyno("io", file, "--profile", profile, *options)
    assert table(document(done))[0]["reads"] > 0
    assert file.read_bytes() == content
    refused = dyno("io", file, *options)
    assert refused.returncode == 2
    assert "would overwrite" in refused.stderr
    assert "--reads-only, or --destroy" in refused.stderr
    for typed in ("", "yes\n"):
        done = run("io", file, "--destroy", "--yes", *options, typed=typed)
        assert done.returncode == 2, done.stderr
        assert f"All data on {file} (8,388,608 bytes) will be lost." in done.stderr
        assert file.read_bytes() == content
    done = run("io", file, "--destroy", *options, typed=f"{file}\n")
    assert done.returncode in {0, 1}, done.stderr
    assert len(file.read_bytes()) == len(content)
    assert file.read_bytes() != content


@pytest.mark.long
def test_written_data_neither_repeats_nor_compresses(tmp_path: Path, out: Path) -> None:
    """Storage that knows a block from another volume or an earlier run stores it no more."""
    profile = tmp_path / "writes.toml"
    profile.write_text(READS.replace("[100]", "[0]").replace("[1, 4]", "[1]"))
    names = ("first", "second", "third")
    files = {name: tmp_path / name for name in names}
    for file in files.values():
        file.write_bytes(bytes(4 << 20))
    for arms in (("first", "second"), ("third",)):
        pairs = [f"{name}={files[name]}" for name in arms]
        compare = ("--compare",) * (len(arms) > 1)
        done = run(
            *("io", *pairs, *compare, "--profile", profile, "--destroy", "--json", "--out", out),
            typed="".join(f"{files[name]}\n" for name in arms),
        )
        assert done.returncode in {0, 1}, done.stderr
    seen: set[bytes] = set()
    for file in files.values():
        data = file.read_bytes()
        blocks = {data[at : at + 4096] for at in range(0, len(data), 4096)}
        assert len(blocks) == len(data) // 4096
        assert not blocks & seen
        seen |= blocks
        units = [data[at : at + (128 << 10)] for at in range(0, len(data), 128 << 10)]
        stored = sum(len(zlib.compress(unit, 1)) for unit in units)
        assert stored > 0.97 * len(data)


def run(*args: object, typed: str) -> subprocess.CompletedProcess[str]:
    """As ``dyno``, with something typed."""
    return subprocess.run(
        [sys.executable, "-m", "dyno", *map(str, args)],
        input=typed, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def test_dry_run_prints_the_plan_only(tmp_path: Path, out: Path) -> None:
    a, b = folders(tmp_path, "a", "b")
    printed = dyno("io", a, b, "--compare", "--repeat", "3", "--size", "1M", "--dry-run").stdout
    assert "One after the other: a, b." in printed
    assert "24 steps, 6 times: " in printed
    assert all(len(line) <= 80 for line in printed.splitlines() if str(tmp_path) not in line)
    printed = dyno("io", a, "--fill", "40", "--fill-of", "10M", "--dry-run", "--out", out).stdout
    assert "40 % full: 4.19 MB" in printed
    searched = dyno("io", a, "--profile", "oltp", "--size", "1M", "--dry-run").stdout
    assert "depth 1, searched up to 256 until p95 exceeds 20 ms" in searched
    assert not [*a.iterdir(), *b.iterdir()]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("{}", "--compare"), "--compare needs several volumes"),
        (("{}", "--fill-of", "1G"), "--fill-of requires --fill"),
        (("{}", "--fill", "half"), "--fill 'half': use numbers above 0"),
        (("{}", "--fill", "40", "--size", "1G"), "remove --size"),
        (("{}", "--fill", "40,0.0001", "--fill-of", "1M"), "smaller than the largest block"),
        (("{}", "--destroy"), "--destroy is for files and block devices"),
        (("{}", "--depths", "1,5000"), "integers from 1 to 4096"),
        (("{}", "--depths", "1.5"), "integers from 1 to 4096"),
        (("{}", "--rate", "fast"), "--rate 'fast'"),
        (("{}", "--rate", "1e9"), "use 0.001 to 10000000 per second"),
        (("{}", "--compare", "--scaling"), "--compare and --scaling cannot be combined"),
        (("{}", "--profile", "OLTP"), "Did you mean 'oltp'?"),
        (("{}", "--ceiling-of", "p9"), "p95"),
        (("{}", "--profile", "log", "--reads-only"), "All curves of the profile 'log' write"),
        (("{}", "--profile", "database", "--rate", "5"), "database runs several jobs"),
        (("{}/file", "--size", "1G", "--reads-only"), "has 10 bytes. Use a smaller --size"),
        (("{}/file", "--reads-only"), "10 bytes, less than the largest block of the profile"),
        (("{}/file", "--fill", "40"), "--fill is for folders"),
        (("{}", "{}/."), "is given twice"),
        (("/dev/null",), "not a folder, file or block device"),
    ],
)
def test_wrong_use(tmp_path: Path, args: tuple[str, ...], words: str) -> None:
    (tmp_path / "file").write_bytes(b"0123456789")
    done = dyno("io", *(arg.format(tmp_path) for arg in args), "--dry-run")
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
