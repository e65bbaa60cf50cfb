"""Kinds of files of the databases that Dyno knows, as the daemon sees them."""

from __future__ import annotations

import pytest

from dyno.accelerate.attach.folder import Rule
from dyno.accelerate.attach.presets import rules
from tests.accelerate.attach.conftest import Volume, forget

FILES = {
    "base/5/16384": "table",
    "main/base/5/16384.1": "table",
    "base/5/16384_fsm": "map",
    "base/5/t3_16399": "temporary",
    "base/pgsql_tmp/pgsql_tmp12.0": "temporary",
    "global/1262": "catalog",
    "pg_tblspc/dyno/PG_18_1/5/16384": "table",
    "pg_wal/000000010000000000000001": "log",
    "postmaster.pid": "state",
    "engines/mysql/data/tpcc/stock.ibd": "table",
    "ibdata1": "table",
    "ib_logfile0": "log",
    "ibtmp1": "temporary",
    "undo001": "undo",
    "shop.db": "table",
    "shop.db-wal": "log",
    "shop.db-shm": "state",
    "dwh.duckdb": "table",
    "dwh.duckdb.wal": "log",
    "dwh.duckdb.tmp/block": "temporary",
    "notes.txt": "other",
}
PASSED = {"log", "temporary", "state"}


@pytest.mark.long
def test_the_kinds_of_files(volume: Volume) -> None:
    """Each kind's files have a size of their own, by which they are told apart."""
    kinds = sorted(set(FILES.values()))
    for name, kind in FILES.items():
        path = volume.origin / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(8192 * (1 + kinds.index(kind))))
    volume.attach()
    for name in FILES:
        with (volume.origin / name).open("r+b", buffering=0) as file:
            file.write(bytes(8192))
        forget(volume.origin / name)
        (volume.origin / name).read_bytes()
    told = {kind["kind"]: kind for kind in volume.told()["kinds"]}
    for kind in kinds:
        assert told[kind]["cached"] is (kind not in PASSED)
        if kind not in PASSED:
            files = [name for name, of_it in FILES.items() if of_it == kind]
            assert told[kind]["misses"] == len(files) * (1 + kinds.index(kind)), kind


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.glob)
def test_only_files_that_can_be_read_again_are_cached(rule: Rule) -> None:
    assert (rule.action == "pass") is (rule.kind in PASSED)
