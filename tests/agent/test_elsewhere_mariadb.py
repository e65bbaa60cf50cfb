"""A MariaDB on another machine: transactions, with an agent beside it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from dyno.host.storage import storage_facts
from tests.agent.network import agent, mariadb, server_network
from tests.agent.test_elsewhere import dyno, ended, estimates


@pytest.mark.long
def test_the_machine_of_a_mariadb_is_judged(tmp_path: Path) -> None:
    root = os.environ.get("PYTEST_DEBUG_TEMPROOT")
    with server_network() as link, tempfile.TemporaryDirectory(dir=root) as made:
        folder = Path(made)
        folder.chmod(0o755)
        words = ("--listen", link.address, "--port", "0", "--plain-http")
        with mariadb(link, folder) as url, agent(*words, inside=link.inside) as (_, asked):
            shared = ("--target", url, "--agent", f"db1={asked}")
            place = ("--out", str(tmp_path / "load"))
            loaded = dyno("load", "tpcc", *shared, "--scale", "1", *place)
            assert loaded.wait(300) in (0, 1), "disturbed loads are whole, too"
            level = ("--users", "2", "--duration", "6s", "--warmup", "1s", "--json")
            process = dyno("run", "tpcc", *shared, *level, "--out", str(tmp_path / "run"))
            found, bundle = ended(process, tmp_path / "run")
            subject = storage_facts(folder / "mariadb")["subject"]
    facts = bundle.run.targets["mysql"]
    assert (facts.place, facts.machine) == ("elsewhere", "db1")
    if subject is not None:
        for role in ("data", "log"):
            assert facts.devices.get(role) == (subject,), facts.device_notes
    known = estimates(bundle)
    assert known["resource.oltp-tpcc-mysql-users-2@db1.process.server.cpu.mean"] > 0
    limits = [item for item in found["criteria"] if item["criterion"].startswith("cpu")]
    assert limits[0]["passed"] is not None
    assert "of db1" in limits[0]["note"]
