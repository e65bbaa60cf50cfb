from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dyno import workloads
from dyno.contracts.transactions import Transactions
from dyno.criteria import Criterion, defaults, metrics, parse, parse_all
from dyno.criteria.language import OPERATORS
from dyno.errors import UsageError

OPERATIONS = ("new_order", "payment")
KNOWN = metrics(OPERATIONS)


def of(workload: str) -> Transactions:
    return workloads.get(workload).transactions


numbers = st.floats(allow_nan=False, allow_infinity=False, width=64).map(lambda x: x + 0.0)


@st.composite
def criteria(draw: st.DrawFn) -> Criterion:
    metric = KNOWN[draw(st.sampled_from(sorted(KNOWN)))]
    return Criterion(
        metric.name,
        draw(st.sampled_from(metric.stats)),
        draw(st.sampled_from(sorted(OPERATORS))),
        draw(numbers),
        draw(st.sampled_from(sorted(metric.units))),
    )


@given(criteria())
def test_the_normal_form_reads_back_as_the_same(criterion: Criterion) -> None:
    assert parse(str(criterion), KNOWN) == criterion


@given(criteria(), st.sampled_from(["", " ", "   "]))
def test_spaces_do_not_matter(criterion: Criterion, space: str) -> None:
    text = (
        f"{space}{criterion.metric}  {criterion.stat}{space}{criterion.op}{space}"
        f"{criterion.limit!r}{space}{criterion.unit}{space}"
    )
    assert parse(text, KNOWN) == criterion


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    try:
        parse(text, KNOWN)
    except UsageError as error:
        # What a user types in several lines is shown as it was typed.
        assert str(error).replace(text, "").count("\n") == 0


@given(criteria(), numbers, st.floats(1e-3, 1e3))
def test_beyond_the_limit_is_what_does_not_hold(
    criterion: Criterion, value: float, factor: float
) -> None:
    excess, holds = criterion.excess(value, factor), criterion.holds(value, factor)
    if holds:
        assert excess <= 0
    elif criterion.op not in {"<", ">"}:
        assert excess > 0
    else:
        assert excess >= 0


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("new_order p95 < 500ms", "new_order p95 < 500 ms"),
        ("new_order<0.5s", "new_order p95 < 0.5 s"),
        ("p99 of new_order < 20 ms", "new_order p99 < 20 ms"),
        ("max of cpu<70 %", "cpu max < 70 %"),
        ("cpu < 70 %", "cpu mean < 70 %"),
        ("cpu max≤70%", "cpu max <= 70 %"),
        ("errors == 0", "errors total = 0"),
        ("errors < .1 %", "errors total < 0.1 %"),
        ("throughput > 1e3/s", "throughput mean > 1000 /s"),
        ("response p999 >= 1 us", "response p999 >= 1 us"),
    ],
)
def test_what_people_write(text: str, normal: str) -> None:
    assert str(parse(text, KNOWN)) == normal


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("new_ordr p95 < 1s", "Did you mean 'new_order'?"),
        ("new_order p955 < 1s", "Did you mean 'p95'?"),
        ("cpu p95 < 1 %", "cpu has no statistic 'p95'. Known: max, mean."),
        ("cpu < 80", "cpu needs a unit; use %."),
        ("cpu < 80 ms", "cpu cannot have the unit 'ms'"),
        ("new_order < 5 sec", "use ms, us, µs, s, min"),
        ("errors = 1 /s", "use %, a plain number"),
        ("new_order p95", "write it like"),
        ("", "write it like"),
        ("a b c < 5", "write it like"),
        ("errors < 1e999", "too large"),
    ],
)
def test_what_is_wrong_is_said(text: str, words: str) -> None:
    with pytest.raises(UsageError) as error:
        parse(text, KNOWN)
    assert words in str(error.value)


def test_the_same_twice_is_one() -> None:
    assert len(parse_all(["cpu < 70 %", "cpu mean<70%", "cpu < 60 %"], KNOWN)) == 2


def test_the_usual_limits_and_their_source() -> None:
    found = {criterion.metric: criterion for criterion in defaults(of("tpcc"))}
    assert {str(criterion) for criterion in found.values()} == {
        "cpu mean < 80 %",
        "data_read mean < 20 ms",
        "data_write mean < 20 ms",
        "log_write mean < 5 ms",
        "response p95 < 2 s",
        "retransmits mean < 0.5 %",
    }
    assert all("2013" in criterion.source for criterion in found.values())


def test_a_workload_adds_limits_of_its_own() -> None:
    usual = {str(criterion) for criterion in defaults(of("tpcc"))}
    own = [one for one in defaults(of("brokerage")) if str(one) not in usual]
    assert {one.metric for one in own} == set(of("brokerage").mix)
    assert all("TPC-E" in one.source for one in own)
    assert "trade_status p90 < 1 s" in {str(one) for one in own}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("iops.dta > 1", "Did you mean 'iops.data'?"),
        ("data_raed_ms < 1", "Did you mean 'data_read_ms'?"),
        ("iops.partition-0 > 1", "Did you mean 'iops.partition-1'?"),
        ("read_share.log > 1 MB/s", "read_share.log cannot have the unit 'MB/s'"),
        ("memory_available mean > 1 GB", "no statistic 'mean'"),
    ],
)
def test_a_wrong_word_of_a_role_is_refused_with_the_nearest(text: str, reason: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse(text, KNOWN)
    assert reason in str(refused.value)


def test_every_partition_has_metrics_of_its_own() -> None:
    assert str(parse("iops.partition-12 > 5", KNOWN)) == "iops.partition-12 mean > 5"
    assert str(parse("data_read_ms<20ms", KNOWN)) == "data_read_ms mean < 20 ms"
