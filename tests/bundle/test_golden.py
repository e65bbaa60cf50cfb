"""Bundles of earlier versions open and give the metrics that they gave then, to the letter.

``golden/`` has a bundle of each kind of work (an archive without its report), and beside it what
its own version made of it: estimates, findings, the JSON document and the summary. After a change
of metrics that is meant: ``DYNO_UPDATE_GOLDEN=1 pytest tests/bundle/test_golden.py``.
"""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from dyno.analyse import estimate
from dyno.bundle import metrics
from dyno.bundle.archive import opened
from dyno.bundle.phases import DETAILS
from dyno.bundle.reader import Bundle
from dyno.decide.judge import judge
from dyno.report import document, summary

GOLDEN = Path(__file__).parent / "golden"
NAMES = sorted(file.name.removesuffix(".tar.gz") for file in GOLDEN.glob("*.tar.gz"))


def made(bundle: Bundle) -> dict[str, Any]:
    """What this version makes of a bundle."""
    estimates = estimate(bundle)
    validity, findings = judge(bundle, estimates)
    judged = bundle.judged(validity)
    found = {
        "estimates": [item.model_dump() for item in estimates],
        "validity": validity.model_dump(),
        "findings": [item.model_dump() for item in findings],
        "document": {**document(judged, estimates, findings), "bundle": "…"},
        "summary": summary(judged, estimates, findings),
    }
    return json.loads(json.dumps(found))


@pytest.mark.parametrize("name", NAMES)
def test_a_bundle_gives_the_metrics_of_its_time(name: str) -> None:
    kept = GOLDEN / f"{name}.json.gz"
    with opened(GOLDEN / f"{name}.tar.gz") as bundle:
        found = made(bundle)
    if os.environ.get("DYNO_UPDATE_GOLDEN") == "1":
        kept.write_bytes(gzip.compress(json.dumps(found, indent=1).encode(), mtime=0))
    expected = json.loads(gzip.decompress(kept.read_bytes()))
    for part, value in expected.items():
        assert json.dumps(found[part], indent=1) == json.dumps(value, indent=1), part


@pytest.mark.parametrize("name", NAMES)
def test_every_estimate_is_of_a_declared_metric_and_has_its_unit(name: str) -> None:
    kept = json.loads(gzip.decompress((GOLDEN / f"{name}.json.gz").read_bytes()))
    for item in kept["estimates"]:
        units = {one.unit for one in metrics.declared(item["name"])}
        assert units, f"{item['name']} is not declared"
        assert units <= {None, item["unit"]}, item["name"]


def test_there_is_a_bundle_with_each_kind_of_phase() -> None:
    kinds: set[str] = set()
    for name in NAMES:
        with opened(GOLDEN / f"{name}.tar.gz") as bundle:
            kinds |= {phase.kind for phase in bundle.run.phases}
    assert kinds == set(DETAILS)
