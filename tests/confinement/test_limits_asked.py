"""What --limit may ask: words, values, and what there is on a machine."""

from __future__ import annotations

import pytest

from dyno.confinement import limits_asked
from dyno.errors import UsageError


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["cpu"], "write it like cpu=0.9"),
        (["memmory=1GB"], "Did you mean 'memory'?"),
        (["cpu=1", "cpu=2"], "given twice"),
        (["cpu=fast"], "give processors, as 0.9"),
        (["cpu=-1"], "give processors"),
        (["cpu=nan"], "give processors"),
        (["cpus=0-"], "numbers of processors"),
        (["cpus=2-1"], "ends before it begins"),
        (["memory=much"], "a size like 64MB"),
        (["read_iops=0.5"], "a whole number a second"),
        (["write_iops=2k"], "a whole number a second"),
        (["read_bytes=fast"], "a size like"),
    ],
)
def test_what_makes_no_sense(texts: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        limits_asked.parse(texts)
    assert message in str(caught.value)


def test_values_are_read_in_the_order_of_the_words() -> None:
    asked = limits_asked.parse(["read_bytes=1MB", "memory=1GiB", "cpu=1.5", "cpus=0-2,7"])
    found = {bound.word.name: bound.value for bound in asked}
    assert found == {"cpus": 4, "cpu": 1.5, "memory": 1 << 30, "read_bytes": 1 << 20}
    assert asked[0].processors == {0, 1, 2, 7}
    assert limits_asked.as_record(asked)["cpus"] == "0-2,7"


@pytest.mark.parametrize(
    ("text", "shared", "message"),
    [
        ("cpus=0-8", False, "the processors 0-3"),
        ("cpu=4.5", False, "from 0.05 to 4"),
        ("cpu=0.01", False, "from 0.05 to 4"),
        ("memory=16MB", False, "32MB at least"),
        ("memory=64MB", True, "256MB at least: the engine works in Dyno's own process"),
        ("memory=9GB", False, "this machine has 8GB"),
    ],
)
def test_what_this_machine_does_not_have(text: str, shared: bool, message: str) -> None:
    asked = limits_asked.parse([text])
    with pytest.raises(UsageError) as caught:
        limits_asked.require(asked, shared=shared, usable=range(4), memory_bytes=8 << 30)
    assert message in str(caught.value)


def test_a_quota_counts_against_the_processors_that_were_chosen() -> None:
    asked = limits_asked.parse(["cpus=0", "cpu=2"])
    with pytest.raises(UsageError, match=r"from 0\.05 to 1, processors"):
        limits_asked.require(asked, shared=False, usable=range(4))


@pytest.mark.parametrize(
    ("texts", "threads"),
    [([], 4), (["cpu=0.9"], 1), (["cpu=2.5"], 2), (["cpus=0,3"], 2), (["cpus=0-2", "cpu=1"], 1)],
)
def test_engines_count_on_whole_processors(texts: list[str], threads: int) -> None:
    assert limits_asked.threads(limits_asked.parse(texts), 4) == threads


def test_numbers_are_written_as_the_kernel_does() -> None:
    assert limits_asked.numbers_text({0, 1, 2, 5, 7, 8}) == "0-2,5,7-8"
