"""What PostgreSQL says of its checkpoints."""

from __future__ import annotations

from contextlib import closing

from dyno.contracts.checkpoints import Checkpointed
from dyno.targets.postgresql.target import PostgresTarget
from tests.process import wait_until


def test_each_counts_when_it_has_begun(postgres: PostgresTarget) -> None:
    assert isinstance(postgres, Checkpointed)
    before = postgres.checkpoints()
    assert before.interval_s == 600
    assert before.setting == "checkpoint_timeout"
    for _ in range(2):
        with closing(postgres.connect()) as session:
            session.execute("CHECKPOINT")
    # The server's processes hand in their counters a moment later.
    wait_until(lambda: postgres.checkpoints().begun >= before.begun + 2, "the counters")
