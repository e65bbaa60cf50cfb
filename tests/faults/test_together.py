"""Two at once in one folder: the second is refused, the first is not disturbed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dyno.bundle.reader import list_bundles
from tests.process import dyno, end, start, wait_for_phase


@pytest.mark.long
def test_a_second_quickstart_in_the_same_folder_is_refused(out: Path) -> None:
    args = ("quickstart", "--quick", "--scale", "0.01", "--json", "--out", out)
    first = start(*args)
    wait_for_phase(first, out, "io")
    second = dyno(*args)
    assert second.returncode == 3
    assert str(first.pid) in second.stderr
    assert "Traceback" not in second.stderr
    code, output, errors = end(first)
    document = json.loads(output)
    assert code == (0 if document["valid"] else 1), errors
    (bundle,) = list_bundles(out)
    assert bundle.run.status == "done"
    promised(document)


def promised(document: dict[str, Any]) -> None:
    """The keys that quickstart's document promises, filled."""
    assert {"run", "bundle", "sheet", "valid", "reasons", "host", "io", "tpch", "tpcc"} <= set(
        document
    )
    speeds = ("sequential_read_mbps", "sequential_write_mbps", "random_read_iops", "mixed_iops")
    assert all(document["io"][name] > 0 for name in speeds)
    assert document["io"]["ceiling_ms"] == 20
    assert document["tpch"]["scale"] == 0.01
    assert document["tpch"]["answers_match"] is True
    for engine in ("postgresql", "duckdb"):
        values = document["tpch"]["engines"][engine]
        assert min(values[name] for name in ("load_s", "load_mb_per_s", "power_total_s")) > 0
        assert len(values["queries"]) == 22
    assert document["tpcc"]["warehouses"] == 1
    assert document["tpcc"]["load_s"] > 0
    assert [level["users"] for level in document["tpcc"]["levels"]] == [1, 4, 16]
    for level in document["tpcc"]["levels"]:
        assert {"tps", "new_orders_per_min", "p95_ms", "errors"} <= set(level)
        assert level["tps"] > 0
    assert document["tpcc"]["consistency"]
