"""What PostgreSQL says of its checkpoints."""

from __future__ import annotations

from contextlib import closing

import pytest

from dyno.contracts.checkpoints import BEGUN, SOURCE
from dyno.contracts.probe import TargetProbe
from dyno.errors import DynoError
from dyno.targets.postgresql.target import PostgresTarget
from tests.process import wait_until


def checkpoints(postgres: PostgresTarget) -> TargetProbe:
    (probe,) = [one for one in postgres.probes() if one.name == SOURCE]
    return probe


def test_each_counts_when_it_has_begun(postgres: PostgresTarget) -> None:
    probe = checkpoints(postgres)

    def read() -> dict[str, float]:
        return {sample.metric: sample.value for sample in probe.read(0)}

    with closing(probe):
        before = read()
        assert before.keys() == {BEGUN, "checkpoint_timeout"}
        assert before["checkpoint_timeout"] == 600
        for _ in range(2):
            with closing(postgres.connect()) as session:
                session.execute("CHECKPOINT")
        # The server's processes hand in their counters a moment later.
        wait_until(lambda: read()[BEGUN] >= before[BEGUN] + 2, "the counters")


def test_a_session_that_broke_is_replaced(postgres: PostgresTarget) -> None:
    probe = checkpoints(postgres)
    mine = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%num_timed%' "
    with closing(probe), closing(postgres.connect()) as admin:
        probe.read(0)
        assert admin.execute(mine + "AND pid <> pg_backend_pid()").rows == [(True,)]
        with pytest.raises(DynoError):
            probe.read(0)
        assert probe.read(0)
    gone = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%num_timed%' "
    with closing(postgres.connect()) as admin:
        question = gone + "AND pid <> pg_backend_pid()"
        wait_until(lambda: admin.execute(question).rows == [(0,)], "the end of the session")
