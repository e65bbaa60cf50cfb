"""Counts, intervals and refusals, on evidence with planted truths."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dyno.analyse import estimate
from dyno.bundle.metrics import Estimates
from dyno.bundle.model import Location, those
from dyno.bundle.phases.oltp import OltpDetail
from dyno.decide.size.count import count, need
from dyno.decide.size.evidence import Evidence, Found, Load, Machine, Queries
from dyno.decide.size.growth import growth
from dyno.decide.size.loads import server
from dyno.decide.size.lot import Lot, spread
from dyno.decide.size.model import Sizing
from dyno.decide.size.sizing import size
from dyno.decide.size.wants import Wants
from dyno.errors import UsageError
from dyno.statistics.usl import Usl
from tests.bundles import Builder
from tests.decide.size.evidence import array, load

DRAWS = 200
LEVELS = tuple(
    load(tps, users, mean_ms=1000 * users / tps, p95_ms=2200 * users / tps)
    for users, tps in ((1, 400), (2, 700), (4, 1200), (8, 1500))
)
FOUND = Evidence(loads=LEVELS, storage=(array(50_000, size_tb=4.0),))


def sized(wants: Wants, found: Evidence = FOUND, **what_if: float) -> Sizing:
    return size(found, wants, what_if, draws=DRAWS)


def test_the_count_is_the_largest_of_all_needs() -> None:
    one = np.ones(1000)
    found = count([need("a", 2.5 * one, 1.0), need("b", 3.0 * one, 1.0), need("c", one, 8.0)])
    assert found is not None
    assert (found.p50, found.recommended, found.binding, found.runner_up) == (3, 3, "b", "a")
    assert [part.count for part in found.parts] == [3, 3, 1]
    assert count([]) is None


def test_cpu_by_hand() -> None:
    """2,900 tps × 1 ms = 2.9 CPUs of 2 × 80 %: two servers."""
    found = sized(Wants(tps=2900))
    assert found.servers is not None
    assert found.servers.p50 == 2
    assert found.servers.binding == "CPU"
    assert found.servers.parts[0].needed == pytest.approx(2900 * 0.001 / 1.6, rel=0.02)


@pytest.mark.parametrize(("place", "known"), [("machine", True), ("elsewhere", False)])
def test_the_clients_cpus_are_not_those_of_a_server_elsewhere(
    tmp_path: Path, place: Location, known: bool
) -> None:
    builder = Builder(tmp_path / "run", "run").machine().target("third").oltp(4, target="third")
    builder.targets["third"] = builder.targets["third"].model_copy(update={"place": place})
    samples = builder.tables["samples"]
    samples[:] = [row for row in samples if row["source"] != "process"]
    bundle = builder.write()
    (phase,) = those(bundle.run.phases, OltpDetail)
    found = server(bundle.run, phase, Estimates(estimate(bundle)), 100.0)
    assert (found["cpu_s"] is not None) is known
    assert (found["whole_cpu_s"] is not None) is known


@pytest.mark.parametrize(
    ("measured", "devices", "least_ms", "most_ms"),
    [
        # 16 CPUs 99 % busy: with half the load, users still need their CPU time.
        ({"tps": 7920.0, "cpus": 16.0, "cpu_s": 0.002, "ios": 0.1, "mean_ms": 8.1}, 1, 2.0, 3.0),
        # All the IOPS of a device: of 10 ms, 0.7 are reads.
        ({"tps": 1000.0, "ios": 10.0, "reads": 0.7, "read_ms": 0.1}, 1, 9.0, 10.1),
        # On four devices, a device had a quarter of the I/Os.
        ({"tps": 2000.0, "ios": 10.0, "reads": 0.7, "read_ms": 0.1}, 4, 9.5, 12.0),
    ],
    ids=["CPUs busy", "storage busy", "four devices"],
)
def test_times_near_saturation_stay_near_the_measured_ones(
    measured: dict[str, float], devices: int, least_ms: float, most_ms: float
) -> None:
    facts = {"mean_ms": 10.0, "p95_ms": 20.0, "cpus": 16.0, "cpu_s": 0.001} | measured
    one = load(users=64, devices=devices, **facts)
    found = sized(Wants(tps=facts["tps"]), Evidence(loads=(one,), storage=(array(10_000),)))
    assert found.mean_ms is not None
    assert least_ms <= found.mean_ms.mid <= most_ms


def test_more_data_makes_queries_larger() -> None:
    """Scans read in proportion; growth beyond twice the measured data is a caveat."""
    tested = Queries("run", "tpch", "duckdb", 4, 3600, 8, cpu_s=4.0, mb=2000, data_tb=1.0)

    def servers(**wants: float) -> tuple[float, str]:
        found = sized(Wants(queries_per_h=3600, **wants), replace(FOUND, queries=(tested,)))
        assert found.servers is not None
        return found.servers.parts[0].needed, " ".join(found.caveats)

    (same, _), (twice, said) = servers(tb=1), servers(tb=2)
    assert twice == pytest.approx(2 * same)
    assert "growth" not in said
    (grown, said) = servers(growth=1.0, years=2)
    assert grown == pytest.approx(16 * same)  # four times the queries of four times the data
    assert "growth" in said


def test_every_input_has_a_source() -> None:
    found = sized(Wants(tps=1000, tb=4, io_per_tx=3.1, p95_ms=40, growth=0.1, years=2))
    assert all(one.source for one in found.inputs)
    known = {"asked for", "assumption", "run oltp", "profile", "(1 + gr"}
    assert all(any(one.source.startswith(word) for word in known) for one in found.inputs)
    names = [one.name for one in found.inputs]
    assert len(names) == len(set(names))


def test_growth_multiplies_load_and_data() -> None:
    found = sized(Wants(tps=1000, tb=4, io_per_tx=3, growth=0.2, years=3))
    assert found.tps is not None
    assert found.tps.mid == pytest.approx(1728)
    assert found.data_tb == pytest.approx(4 * 1.728)


def test_space_leaves_headroom() -> None:
    found = sized(Wants(tb=10))
    assert found.servers is None
    assert found.devices is not None
    assert found.devices.p50 == 4  # 10 / (4 × 70 %) = 3.6
    assert found.fill == pytest.approx(10 / 16)


def test_plain_disks_form_a_level() -> None:
    plain = Evidence(storage=(array(raid=None, size_tb=1.0),))
    counts = {
        level: sized(Wants(tb=2.1, raid=level), plain).devices.p50  # type: ignore[union-attr]
        for level in ("0", "10", "5", "6")
    }
    assert counts == {"0": 3, "10": 6, "5": 4, "6": 5}


def test_mirrors_come_in_pairs_but_carry_what_they_can() -> None:
    """Disks of 5,000 IOPS at 78 %, halved by writes only: 1.5 of them are two, 73 % busy."""
    disk = array(5000, raid=None, size_tb=4.0)
    found = replace(FOUND, loads=tuple(replace(one, reads=0.0) for one in LEVELS), storage=(disk,))
    mirrored = sized(Wants(tps=1000, io_per_tx=2.85, raid="1"), found, devices=2)
    assert mirrored.devices is not None
    assert mirrored.devices.p50 == 2
    assert mirrored.what_if is not None
    assert mirrored.what_if.used["IOPS"].mid == pytest.approx(0.73, rel=0.03)


def test_queries_need_cpu_and_bandwidth() -> None:
    tested = Queries("run", "throughput", "duckdb", 4, 3600, 8, cpu_s=4.0, mb=2000)
    found = sized(Wants(queries_per_h=7000), replace(FOUND, queries=(tested,)))
    assert found.servers is not None
    assert found.devices is not None
    # 1.94 queries/s × 4 s of 8 × 80 %; × 2,000 MB of 86 % of 1,042 MB/s
    assert found.servers.parts[0].needed == pytest.approx(7000 / 3600 * 4 / 6.4, rel=0.02)
    assert found.devices.parts[0].needed == pytest.approx(
        7000 / 3600 * 2000 / 0.86 / 1042, rel=0.02
    )


def test_a_search_limits_a_server() -> None:
    limits = "new_order p95 < 15 ms"
    own = Found("run", FOUND.loads[0].target, 500, 490, 510, limits)
    # Of another server, which is not sized.
    other = Found("run", "another", 5000, 4900, 5100, limits)
    found = sized(Wants(tps=1400), replace(FOUND, found=(own, other)))
    assert found.servers is not None
    assert (found.servers.p50, found.servers.binding) == (3, "limits of the search")


def test_a_response_limit_takes_servers() -> None:
    loose, tight = (sized(Wants(tps=2900, p95_ms=ms)) for ms in (500, 9))
    assert loose.servers is not None
    assert tight.servers is not None
    assert tight.servers.p50 > loose.servers.p50
    assert tight.servers.binding == "response p95"
    assert tight.p95_ms is not None
    assert tight.p95_ms.high <= 9 * 1.001


def test_users_who_think_are_a_closed_network() -> None:
    found = sized(Wants(users=1000, think_s=1))
    assert found.tps is not None
    assert found.mean_ms is not None
    assert found.tps.mid == pytest.approx(1000 / 1.0025)
    assert 2 < found.mean_ms.mid < 10


@pytest.mark.parametrize(
    ("wants", "fault"),
    [
        (Wants(), "Nothing is wanted"),
        (Wants(p95_ms=5), "Nothing is wanted"),
        (Wants(tb=1, p95_ms=5), "for transactions"),
        (Wants(tps=10, growth=0.1), "takes both"),
        (Wants(tps=10, p95_ms=1), "cannot hold"),
        (Wants(tps=10, mean_ms=1), "cannot hold"),
        (Wants(users=5, tps=9000), "cannot hold together"),
        (Wants(users=500, tps=9000, think_s=1), "cannot hold together"),
        (Wants(users=500, tps=10, think_s=1, mean_ms=50), "cannot hold together"),
        (Wants(users=17), "more than 2 times the 8"),
        (Wants(queries_per_h=5), "No run has a completed query test"),
    ],
)
def test_wants_that_are_refused(wants: Wants, fault: str) -> None:
    with pytest.raises(UsageError, match=fault) as refused:
        sized(wants)
    assert "\n" not in str(refused.value)


def test_a_load_beyond_what_was_measured_is_refused() -> None:
    """A level of 100/s that hardly used the CPU shows nothing of 1,000/s on the same server."""
    idle = Evidence(loads=(load(100, cpu_s=0.0001),))
    assert sized(Wants(tps=199), idle).servers is not None
    with pytest.raises(UsageError, match=r"2 times.*Measure at least 500"):
        sized(Wants(tps=1000), idle)


def test_more_data_than_twice_the_measured_is_refused() -> None:
    small = replace(FOUND, loads=tuple(replace(one, data_tb=0.5) for one in LEVELS))
    assert sized(Wants(tps=100, tb=1), small).data_tb == 1
    with pytest.raises(UsageError, match="io_per_tx"):
        sized(Wants(tps=100, tb=1.1), small)
    assert sized(Wants(tps=100, tb=1.1, io_per_tx=3), small).data_tb == 1.1


def test_without_cpu_samples_a_server_is_unknown() -> None:
    blind = Evidence(loads=tuple(replace(one, cpu_s=None) for one in LEVELS))
    with pytest.raises(UsageError, match="--agent"):
        sized(Wants(tps=100), blind)


def test_runs_that_differ() -> None:
    from dyno.decide.size.checks import require_alike

    one = Machine("host a", "PostgreSQL", "tpcc at 5")
    alike = (one, Machine("host a"), Machine("host a", "PostgreSQL", "tpch at 1"))
    require_alike(Evidence(machines=alike))
    for other, what in (
        (replace(one, host="host b"), "hosts"),
        (replace(one, database="DuckDB"), "databases"),
        (replace(one, scale="tpcc at 9"), "scales"),
    ):
        with pytest.raises(UsageError, match=f"{what}.*--mixed"):
            require_alike(Evidence(machines=(one, other)))


def test_what_if() -> None:
    wants = Wants(tps=2900)
    enough, few = (sized(wants, FOUND, servers=n).what_if for n in (2, 1))
    assert enough is not None
    assert few is not None
    assert (enough.holds, few.holds) == (True, False)
    assert enough.tps is not None
    assert enough.tps.mid == pytest.approx(2 * 1.6 / 0.001, rel=0.02)
    assert enough.limited == "CPU"
    wider = sized(wants, FOUND, servers=1, cpus=4).what_if
    assert wider is not None
    assert wider.holds
    with pytest.raises(UsageError, match="2 times"):
        sized(wants, FOUND, cpus=5)


def test_a_what_if_carries_no_more_than_twice_what_was_measured() -> None:
    idle = Evidence(loads=(load(100, cpu_s=0.0001),))
    found = sized(Wants(tps=50), idle, servers=3).what_if
    assert found is not None
    assert found.tps is not None
    assert found.tps.mid == pytest.approx(600)
    assert "measured" in found.limited


@settings(max_examples=10, deadline=None)
@given(st.floats(1, 20_000), st.floats(1, 3), st.floats(7, 200))
def test_more_wants_never_take_fewer(tps: float, more: float, p95: float) -> None:
    small, large = (sized(Wants(tps=x, p95_ms=p95)) for x in (tps, tps * more))
    tighter = sized(Wants(tps=tps, p95_ms=max(6.0, p95 / more)))
    for low, high in ((small, large), (small, tighter)):
        assert low.servers is not None
        assert high.servers is not None
        assert low.servers.p50 <= high.servers.p50
        assert low.servers.recommended <= high.servers.recommended
    assert small.devices is not None
    assert large.devices is not None
    assert small.devices.recommended <= large.devices.recommended


@settings(max_examples=10, deadline=None)
@given(st.integers(1, 6), st.integers(1, 6), st.floats(0.001, 0.02))
def test_more_never_hurts(few: int, added: int, log_s: float) -> None:
    slow = tuple(replace(one, read_ms=0.5, log_ms=1000 * log_s / 10) for one in LEVELS)
    found = replace(FOUND, loads=slow, storage=(array(3000, size_tb=4.0),))
    wants = Wants(tps=2500, tb=2, io_per_tx=1.5, p95_ms=500)
    for name in ("devices", "servers"):
        less, more = (sized(wants, found, **{name: n}) for n in (few, few + added))
        assert less.what_if is not None
        assert more.what_if is not None
        assert more.what_if.holds >= less.what_if.holds
        assert more.what_if.mean_ms is not None
        assert less.what_if.mean_ms is not None
        assert more.what_if.mean_ms.mid <= less.what_if.mean_ms.mid * (1 + 1e-9)
        for resource, used in more.what_if.used.items():
            assert used.mid <= less.what_if.used[resource].mid + 1e-9


def test_recommended_covers_the_interval() -> None:
    found = sized(Wants(tps=9000)).servers
    assert found is not None
    assert found.low <= found.p50 <= found.recommended
    assert found.high == found.recommended


def test_the_same_runs_give_the_same_numbers() -> None:
    wants = Wants(tps=3000, p95_ms=50)
    assert sized(wants) == sized(wants)


def test_intervals_cover_a_planted_demand() -> None:
    """90 % intervals of a demand measured at four levels with 5 % noise, over 300 studies."""
    chance = np.random.default_rng(2)
    held = 0
    for seed in range(300):
        values = 0.001 * np.exp(0.05 * chance.normal(size=4))
        found = spread(Lot(2000, seed).sample(list(values), 0.05, 3))
        held += found.low <= 0.001 <= found.high
    assert 0.85 <= held / 300 <= 0.95


def levels_of(law: Usl, noise: float, seed: int) -> tuple[Load, ...]:
    chance = np.random.default_rng(seed)
    return tuple(
        load(law.at(n) * float(np.exp(noise * chance.normal())), n, noise=noise, whole_cpu_s=None)
        for n in (1, 2, 4, 8, 12, 16)
    )


def test_intervals_cover_a_planted_law_beyond_the_levels() -> None:
    law, held = Usl(400, 0.05, 0.002), 0
    for seed in range(100):
        found = growth(levels_of(law, 0.02, seed), Lot(1000, seed))
        assert found is not None
        at = spread(found.at(24))
        held += at.low <= law.at(24) <= at.high
    assert 0.82 <= held / 100 <= 0.99


def test_the_cpu_bounds_a_law_that_sees_no_contention() -> None:
    """Levels that scale with users until then: 2 CPUs at 1 ms carry 2,000 at most."""
    straight = tuple(load(450 * n, n, whole_cpu_s=0.001) for n in (1, 2, 3, 4))
    found = growth(straight, Lot(500))
    assert found is not None
    assert spread(found.at(8)).mid == pytest.approx(2000, rel=0.03)
    assert growth(straight[:2], Lot(500)) is None
