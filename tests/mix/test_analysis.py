"""Metrics of several at once, worked out by hand from bundles without a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dyno.analyse import estimate
from dyno.bundle import mixes
from dyno.bundle.histograms import Latencies
from dyno.bundle.metrics import Estimates
from dyno.bundle.model import Estimate, Phase, TargetFacts
from dyno.bundle.phases.dss import HELD, DssDetail
from dyno.bundle.phases.mix import Member, MixDetail
from dyno.bundle.phases.oltp import OltpDetail, Outcome
from dyno.bundle.reader import Bundle
from dyno.bundle.writer import Recorder
from dyno.decide.advise.loads import of_run
from dyno.decide.case import Case
from dyno.decide.judge import judge
from dyno.decide.size.loads import loads
from dyno.decide.view import view
from dyno.errors import UsageError
from dyno.live.watched import Watched
from dyno.runner.transacted import transacted

S = 1_000_000_000
NO_TIMES = Latencies().encode()


class Made:
    """A bundle with windows at chosen times, in seconds from its start."""

    def __init__(self, out: Path) -> None:
        self.recorder = Recorder(out, "run", {}, ("tpcc", "tpch"))
        self.start = self.recorder.clock.unix_ns + S
        self.phases: list[Phase] = []

    def level(
        self,
        name: str,
        target: str,
        begun: float,
        rate: int,
        seconds: int = 10,
        **data: Any,
    ) -> Member:
        rows = [
            {
                "t_ns": self.start + round(begun * S) + second * S, "seconds": 1.0,
                "phase": "measure", "op": "new_order", "done": rate, "rolled_back": 0,
                "errors": {}, "retries": {}, "response": NO_TIMES, "service": NO_TIMES,
            }
            for second in range(seconds)
        ]  # fmt: skip
        self.recorder.add(f"ops/{name}", rows)
        detail = OltpDetail(
            workload="tpcc", level=name, users=8, duration_s=float(seconds),
            outcome=Outcome(seconds=float(seconds)), **data,
        )  # fmt: skip
        phase = self._phase(f"oltp-tpcc-{target}-{name}", detail, target, begun, begun + seconds)
        return Member(name=name, workload="tpcc", target=target, phase=phase, level=name, users=8)

    def streams(
        self,
        target: str,
        begun: float,
        ended: float,
        ends: list[float],
        workload: str = "tpch",
        seconds: Sequence[float] = (0.5,),
        numbers: Sequence[int] = (1,),
    ) -> Member:
        """Streams whose queries end at ``ends``; they take ``seconds``, q01 the first of these.

        With several ``numbers`` of streams, each runs q01, and takes its own of ``seconds``.
        """
        window = (self.start + round(begun * S), self.start + round(ended * S))
        detail = DssDetail(workload=workload, test=HELD, streams=2, scale=0.01, window=window)
        name = self._phase(f"held-{workload}-{target}", detail, target, 0, ended)
        for place, end in enumerate(ends):
            at = self.start + round(end * S)
            row: dict[str, Any] = {
                "t_ns": at - S // 2, "end_ns": at, "seconds": seconds[place % len(seconds)],
                "stream": numbers[place % len(numbers)], "position": place,
                "query": "q01" if len(numbers) > 1 else f"q{place % len(seconds) + 1:02d}",
                "target": target,
                "workload": workload, "rows": 1,
                "error": None, "error_kind": None,
            }  # fmt: skip
            self.recorder.add("queries", [row])
        return Member(name=workload, workload=workload, target=target, phase=name, users=2)

    def window(
        self, name: str, *members: Member, alone: str | None = None, number: int = 1
    ) -> None:
        detail = MixDetail(
            name=name, alone=alone, round=number, members=members, warmup_s=0.0, duration_s=10.0
        )
        self._phase(f"mix-{name}", detail, None, 0, 20)

    def _phase(self, name: str, detail: Any, target: str | None, begun: float, ended: float) -> str:
        from dyno.bundle.phases import kind_of

        self.phases.append(Phase(
            name=name, title=name, kind=kind_of(type(detail)), target=target, status="done",
            start_ns=self.start + round(begun * S), end_ns=self.start + round(ended * S),
            detail=detail,
        ))  # fmt: skip
        if target is not None:
            facts = TargetFacts(url="null:", version="1", place="machine")
            self.recorder.set_target(target, facts)
        return name

    def done(self) -> tuple[Bundle, dict[str, Estimate]]:
        self.recorder.update(phases=tuple(self.phases))
        self.recorder.finish("done")
        self.recorder.close()
        bundle = Bundle.open(self.recorder.path)
        return bundle, {one.name: one for one in estimate(bundle)}


def test_rates_count_the_time_in_which_all_were_measured(tmp_path: Path) -> None:
    made = Made(tmp_path)
    # Levels of 10 s that begin half a second apart: 9.5 s in common, 9 whole seconds and a half.
    made.window(
        "together",
        made.level("users-8-a", "a", 0.0, 100),
        made.level("users-8-b", "b", 0.5, 40),
    )
    bundle, found = made.done()
    assert found["mix.together.common_s"].value == pytest.approx(9.5)
    assert found["mix.together.apart_s"].value == pytest.approx(0.5)
    assert found["mix.together.users-8-a.tps"].value == pytest.approx(100)
    assert found["total.together.tpcc.tps"].value == pytest.approx(140)
    assert found["total.together.tpcc.targets"].value == 2
    validity, _ = judge(bundle, found.values())
    assert "mixed-load" in {reason.code for reason in validity.reasons}, "5 % apart"


def test_without_a_common_time_there_is_no_sum_and_the_run_is_invalid(tmp_path: Path) -> None:
    made = Made(tmp_path)
    made.window(
        "together",
        made.level("users-8-a", "a", 0.0, 100),
        made.level("users-8-b", "b", 12.0, 40),
    )
    bundle, found = made.done()
    assert found["mix.together.common_s"].value == 0
    assert found["mix.together.apart_s"].value == pytest.approx(12)
    assert not any(name.startswith("total.") for name in found)
    validity, findings = judge(bundle, found.values())
    assert validity.verdict == "invalid"
    evidence = [one.evidence for one in findings if one.code == "mixed-load"]
    assert ("mix.together.common_s",) in evidence


def test_streams_without_a_common_time_have_no_sum(tmp_path: Path) -> None:
    made = Made(tmp_path)
    made.window(
        "together",
        made.streams("a", 0.0, 10.0, [1.0, 2.0]),
        made.streams("b", 12.0, 22.0, [13.0, 14.0]),
    )
    _, found = made.done()
    assert found["mix.together.common_s"].value == 0
    assert not any(name.startswith("total.") for name in found)


@pytest.mark.parametrize(
    ("first", "second", "warned"),
    [
        ({"warehouses": 10}, {"warehouses": 20}, True),
        ({"warehouses": 10}, {"warehouses": 10}, False),
        ({"scale": 1, "days": 30}, {"scale": 1, "days": 60}, True),
        ({"scale": 1, "days": 30}, {"scale": 1, "days": 30}, False),
    ],
)
def test_a_sum_over_data_of_different_size_is_a_warning(
    tmp_path: Path, first: dict[str, int], second: dict[str, int], warned: bool
) -> None:
    made = Made(tmp_path)
    made.window(
        "together",
        made.level("users-8-a", "a", 0.0, 100, **first),
        made.level("users-8-b", "b", 0.0, 40, **second),
    )
    bundle, found = made.done()
    assert found["total.together.tpcc.tps"].value == pytest.approx(140)
    _, findings = judge(bundle, found.values())
    evidence = [
        one.evidence for one in findings if (one.code, one.level) == ("mixed-load", "warning")
    ]
    assert (("total.together.tpcc.targets",) in evidence) is warned


def test_queries_count_if_they_end_in_the_common_time(tmp_path: Path) -> None:
    made = Made(tmp_path)
    made.window(
        "together",
        made.level("users-8", "a", 1.0, 100),
        made.streams("a", 0.5, 11.2, [0.8, *(2.0 + 0.2 * one for one in range(44)), 11.1]),
    )
    bundle, found = made.done()
    assert found["mix.together.tpch.queries"].value == 44
    assert found["mix.together.tpch.queries_per_h"].value == pytest.approx(3600 * 44 / 10)
    assert found["mix.together.tpch.p95_s"].value == 0.5
    assert not any(name.startswith("total.") for name in found)
    validity, _ = judge(bundle, found.values())
    assert "mixed-load" not in {reason.code for reason in validity.reasons}


def test_queries_count_for_their_workload_even_with_the_same_names(tmp_path: Path) -> None:
    made = Made(tmp_path)
    made.window(
        "together",
        made.streams("a", 0.0, 10.0, [1.0 + 0.2 * one for one in range(44)]),
        made.streams("a", 0.0, 10.0, [1.0 + 0.18 * one for one in range(48)], "ch"),
    )
    bundle, found = made.done()
    assert found["mix.together.tpch.queries"].value == 44
    assert found["mix.together.ch.queries"].value == 48
    assert found["mix.together.apart_s"].value == 0
    (load, _) = (one for one in of_run(bundle, "a"))
    assert (load.database, load.queries) == ("tpch", {"q01": 44 * 0.5})
    validity, _ = judge(bundle, found.values())
    assert "mixed-load" not in {reason.code for reason in validity.reasons}


def test_advice_is_for_one_of_several_databases(tmp_path: Path) -> None:
    made = Made(tmp_path)
    made.level("users-8", "a", 0.0, 100, warehouses=8, databases=4, users_each=2)
    bundle, _ = made.done()
    (load,) = of_run(bundle, "a")
    assert (load.scale, load.users) == (2, 2)


def test_work_beside_other_work_has_no_cost_of_its_own(tmp_path: Path) -> None:
    made = Made(tmp_path)
    one = made.level("users-8-alone", "a", 0.0, 100)
    other = made.level("users-8", "a", 20.0, 80)
    made.window("tpcc-alone", one, alone="tpcc")
    made.window("together", other, made.streams("a", 20.0, 30.0, [21.0]))
    bundle, found = made.done()
    run = bundle.run
    beside = {phase.name: mixes.beside(run, phase) for phase in run.phases}
    assert [len(beside[str(each.phase)]) for each in (one, other)] == [0, 1]
    assert not [each for each in loads(run, Estimates(found.values())) if each.name == "users-8"]
    with pytest.raises(UsageError, match="several workloads"):
        transacted(tmp_path.parent, str(bundle.path))


def test_the_slowdown_is_that_of_pairs(tmp_path: Path) -> None:
    made = Made(tmp_path)
    for number, (alone, shared) in enumerate(((100, 80), (200, 160), (50, 40)), 1):
        own = made.level(f"users-8-alone-{number}", "a", 20.0 * number, alone)
        both = made.level(f"users-8-{number}", "a", 20.0 * number + 10, shared)
        own, both = (one.model_copy(update={"name": "tpcc"}) for one in (own, both))
        made.window(f"tpcc-alone-{number}", own, alone="tpcc", number=number)
        made.window(f"together-{number}", both, number=number)
    _, found = made.done()
    change = found["slowdown.tpcc.throughput_percent"]
    assert (change.value, change.low, change.high) == pytest.approx((-20, -20, -20))
    assert found["slowdown.tpcc.pairs"].value == 3


def test_the_slowdown_of_queries_is_that_of_the_same_queries(tmp_path: Path) -> None:
    made = Made(tmp_path)
    # Alone, both ended, the slow one in 8 s. Among the others only the fast one did, in 2 s.
    alone = made.streams("a", 0.0, 10.0, [1.0, 9.0], seconds=(1.0, 8.0))
    made.window("tpch-alone-1", alone, alone="tpch")
    made.window("together-1", made.streams("b", 20.0, 30.0, [22.0], "tpch", (2.0,)))
    _, found = made.done()
    assert found["mix.tpch-alone-1.tpch.p95_s"].value == 8
    assert found["mix.together-1.tpch.p95_s"].value == 2
    assert found["slowdown.tpch.throughput_percent"].value == pytest.approx(-50)
    assert found["slowdown.tpch.p95_percent"].value == pytest.approx(100)


def test_less_than_a_pass_of_each_stream_is_a_warning(tmp_path: Path) -> None:
    made = Made(tmp_path)
    streams = made.streams("a", 0.0, 10.0, [1.0 + 0.2 * one for one in range(40)])
    made.window("together", streams)
    bundle, found = made.done()
    _, findings = judge(bundle, found.values())
    assert ("mixed-load", "warning") in {(one.code, one.level) for one in findings}, "40 of 2 x 22"


def test_a_window_that_failed_is_no_part_of_a_pair_or_a_sum(tmp_path: Path) -> None:
    made = Made(tmp_path)
    lost = made.level("users-8-a", "a", 0.0, 100).model_copy(update={"error": "it was killed"})
    made.window("together", lost, made.level("users-8-b", "b", 0.0, 40))
    _, found = made.done()
    assert found["mix.together.users-8-b.tps"].value == pytest.approx(40)
    assert not any(name.startswith(("total.", "slowdown.")) for name in found)


def test_what_ran_to_the_end_is_measured_to_the_end(tmp_path: Path) -> None:
    made = Made(tmp_path)
    lost = made.level("users-8-a", "a", 0.0, 100, seconds=2)
    early = made.streams("a", 0.5, 0.5, [])
    gone = [one.model_copy(update={"error": "it was killed"}) for one in (lost, early)]
    streams = made.streams("b", 0.0, 10.0, [0.5 * one for one in range(1, 19)], "ch")
    made.window("together", *gone, made.level("users-8-b", "b", 0.0, 40), streams)
    _, found = made.done()
    assert found["mix.together.common_s"].value == pytest.approx(10)
    assert found["mix.together.users-8-b.tps"].value == pytest.approx(40)
    assert found["mix.together.ch.queries"].value == 18
    assert found["mix.together.users-8-a.tps"].value == pytest.approx(100), "over its own time"


def test_a_slowdown_without_its_starved_rounds_would_flatter(tmp_path: Path) -> None:
    made = Made(tmp_path)
    for number, shared in enumerate((0, 0, 40), 1):
        own = made.level(f"users-8-alone-{number}", "a", 20.0 * number, 100)
        both = made.level(f"users-8-{number}", "a", 20.0 * number + 10, shared)
        own, both = (one.model_copy(update={"name": "tpcc"}) for one in (own, both))
        made.window(f"tpcc-alone-{number}", own, alone="tpcc", number=number)
        made.window(f"together-{number}", both, number=number)
    alone = made.streams("b", 0.0, 10.0, [1.0])
    made.window("tpch-alone-1", alone, alone="tpch")
    made.window("together-4", made.streams("c", 20.0, 30.0, []))
    _, found = made.done()
    compared = {name for name in found if name.startswith("slowdown.") and "percent" in name}
    assert compared == set()
    assert found["slowdown.tpcc.pairs"].value == 3
    assert found["slowdown.tpch.pairs"].value == 1


def test_the_slowdown_of_queries_is_that_of_the_same_stream(tmp_path: Path) -> None:
    """Streams have their own parameters: the slow one did not end among the others."""
    made = Made(tmp_path)
    alone = made.streams("a", 0.0, 10.0, [1.0, 9.0], seconds=(1.0, 8.0), numbers=(1, 2))
    made.window("tpch-alone-1", alone, alone="tpch")
    made.window("together-1", made.streams("b", 20.0, 30.0, [22.0], "tpch", (2.0,)))
    _, found = made.done()
    assert found["slowdown.tpch.throughput_percent"].value == pytest.approx(-50)
    assert found["slowdown.tpch.p95_percent"].value == pytest.approx(100)


def test_a_killed_window_ends_with_its_last_query(tmp_path: Path) -> None:
    made = Made(tmp_path)
    made.window("together", made.streams("a", 0.0, 10.0, [1.0, 2.0, 4.0]))
    made.phases[:] = [phase.model_copy(update={"end_ns": None}) for phase in made.phases]
    made.recorder.update(phases=tuple(made.phases))
    made.recorder.close_spools()
    found = {one.name: one for one in estimate(Bundle.open(made.recorder.path))}
    assert found["mix.together.tpch.queries_per_h"].value == pytest.approx(3600 * 3 / 4)


def test_the_sessions_of_a_target_are_those_of_all_its_members(tmp_path: Path) -> None:
    made = Made(tmp_path)
    made.window(
        "together",
        made.level("users-8", "a", 0.0, 100),
        made.streams("a", 0.0, 10.0, [5.0]),
        made.level("users-8-b", "b", 0.0, 100),
    )
    bundle, found = made.done()
    case = Case.of(bundle, found.values())
    sessions = {phase.name: view(case, phase).sessions for phase in case.phases()}
    assert sessions == {
        "oltp-tpcc-a-users-8": 10, "held-tpch-a": 10, "oltp-tpcc-b-users-8-b": 8
    }  # fmt: skip


def test_the_live_page_names_the_member_of_each_operation(tmp_path: Path) -> None:
    made = Made(tmp_path)
    made.window(
        "together",
        made.level("users-8", "a", 0.0, 100),
        made.streams("a", 0.0, 10.0, [1.0, 2.0]),
        made.streams("a", 0.0, 10.0, [3.0], workload="ch"),
    )
    bundle, _ = made.done()
    watched = Watched(bundle.path)
    while not watched.poll():
        pass
    done = {name: watched.operations.by_name[name].done for name in watched.operations.names}
    watched.close()
    assert done == {"users-8 new_order": 1000.0, "tpch q01": 2.0, "ch q01": 1.0}
