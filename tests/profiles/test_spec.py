"""Storage profiles as they are written: presets fit, and each mistake gets one clear line."""

from __future__ import annotations

from pathlib import Path

import pytest

from dyno import profiles
from dyno.errors import UsageError
from dyno.profiles import spec

CURVES = '[[curves]]\npattern = "random"\nblocks = ["8K"]\nreads = [100]\ndepths = [1]\n'


@pytest.mark.parametrize("name", profiles.names())
def test_every_preset_says_what_it_is_for(name: str) -> None:
    found = spec.read(name)
    assert len(profiles.purpose(name)) > 40
    assert (found.name, found.source) == (name, "preset")
    assert found.steps > 0
    assert type(found).model_validate_json(found.model_dump_json()) == found


def test_the_grids_are_those_of_the_method() -> None:
    oltp = {(c.block_bytes >> 10, c.read_percent): c for c in spec.read("oltp").curves}
    assert set(oltp) == {(kib, share) for kib in (8, 16, 32, 64) for share in (100, 80, 70, 60)}
    assert all(c.pattern == "random" and c.until_ceiling for c in oltp.values())
    dss = spec.read("dss").curves
    kinds = {(c.pattern, c.read_percent) for c in dss}
    assert kinds == {("sequential", 100), ("sequential", 0), ("random", 100)}
    assert {c.block_bytes >> 10 for c in dss} == {64, 128, 256, 512, 1024}
    assert all(c.figure == "mbps" and max(c.depths) == 128 for c in dss)


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('size = "1M"\nstep = "500ms"\n' + CURVES)
    found = spec.read(str(path))
    assert (found.name, found.source, found.file_bytes) == ("mine", str(path), 1 << 20)
    assert (found.step_s, found.warmup_s, found.longest_s) == (0.5, 0.125, 0.625)
    assert [c.name for c in found.curves] == ["random_read_8k"]
    fitted = found.fitted(1 << 21, 2.0, 5.0)
    assert (fitted.file_bytes, fitted.warmup_s, fitted.ceiling_ms) == (1 << 21, 0.5, 5.0)
    assert found.fitted() == found
    with pytest.raises(UsageError, match=r"4,096 bytes does not hold the largest block, 8,192"):
        found.fitted(4096)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "curves is missing"),
        (CURVES.replace("blocks", "block"), r"unknown key 'curves\[0\].block'. Did you mean"),
        (CURVES.replace("8K", "1000"), r"blocks is \['1000'\]; use multiples of 512"),
        (CURVES.replace("8K", "huge"), "'huge' is no size"),
        (CURVES.replace("[100]", "[101]"), r"reads is \[101\]; use percent"),
        (CURVES.replace("[1]", "[0]"), r"depths is \[0\]; use 1 to 4096"),
        (CURVES.replace("[1]", "[]"), r"depths is \[\]"),
        (CURVES.replace("random", "zigzag"), "pattern is 'zigzag'; it must be"),
        (CURVES + CURVES, "two curves are 'random_read_8k'"),
        (CURVES.replace('"8K"', '"8K", "16K"') + 'name = "a"', "names one curve, but there are 2"),
        (CURVES.replace("8K", "16M").replace("[1]", "[128]"), "at most 1 GiB can be"),
        ('step = "soon"\n' + CURVES, "'soon' is no time"),
        ("ceiling_ms = 0.0\n" + CURVES, "ceiling_ms is 0.0"),
    ],
)
def test_a_mistake_is_told_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=message):
        spec.read(str(path))


def test_an_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"Unknown profile 'olpt'. Did you mean 'oltp'"):
        spec.read("olpt")
    with pytest.raises(UsageError, match=r"Cannot read the profile .*no\.toml"):
        spec.read("no.toml")
