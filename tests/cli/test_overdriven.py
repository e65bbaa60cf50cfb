"""A driver that cannot keep up says so: its run is not valid, with the reason and the way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from dyno.bundle.reader import Bundle
from tests.busy import others_work
from tests.process import document, dyno


@pytest.mark.long
@pytest.mark.parametrize("arrivals", ["fixed", "poisson"])
def test_a_rate_that_no_driver_keeps_is_no_fault_of_the_target(out: Path, arrivals: str) -> None:
    done = dyno(
        "run", "tpcc", "--target", "null:?scale=10", "--users", "8", "--rate", "20000000",
        "--arrivals", arrivals, "--warmup", "200ms", "--duration", "1s", "--json", "--out", out,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    found = document(done)
    assert found["valid"] is False
    (level,) = found["tpcc"]["levels"]
    # All that was due is reported: sent, late or never.
    assert level["scheduled"] == pytest.approx(20_000_000, rel=0.01)
    assert level["late"] + level["unsent"] > 0.5 * level["scheduled"]
    reasons = {reason["code"]: reason["message"] for reason in found["reasons"]}
    assert "the driver was the bottleneck" in reasons["client-bound"]
    assert "or reduce --rate." in reasons["client-bound"]
    findings = Bundle.open(Path(found["bundle"])).findings()
    (behind,) = [finding.message for finding in findings if finding.code == "rate-not-sustained"]
    assert "the driver fell behind the rate" in behind
    (limit,) = [finding for finding in findings if finding.code.startswith("limit-")]
    # Where others take the CPU from its threads, they wait for it and are not busy.
    assert limit.code == "limit-client" or others_work(), limit.message
