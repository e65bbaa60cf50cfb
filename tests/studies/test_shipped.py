"""The studies that Dyno ships, and the metrics that they ask about."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

from dyno import studies, targets
from dyno.bundle.model import Estimate
from dyno.cli._options import Options, chosen
from dyno.cli._strictly import strictly
from dyno.layouts.resolve import resolve
from dyno.plans import documents
from dyno.plans.fields import Plan
from dyno.plans.loading import LoadingPlan
from dyno.plans.run import RunPlan
from dyno.plans.storage import StoragePlan
from dyno.studies import asked, runs, spec
from dyno.studies.metrics import METRICS, had_by
from tests.bundles import Builder
from tests.process import dyno


def estimates(**values: float) -> list[Estimate]:
    return [Estimate(name=name, value=value, unit="", source="") for name, value in values.items()]


def test_metrics_of_fill_levels_are_compared_level_with_level() -> None:
    one = estimates(**{"io.fill40.mixed.best_iops": 5000, "io.fill40.mixed.qd8.iops": 1})
    several = [*one, *estimates(**{"io.fill85.mixed.best_iops": 4000})]
    assert METRICS["iops"].of(one) == {"iops.mixed": 5000}
    assert METRICS["iops"].of(several) == {"iops.mixed": 4000}
    by_level = {"iops_by_fill.fill40.mixed": 5000, "iops_by_fill.fill85.mixed": 4000}
    assert METRICS["iops_by_fill"].of(several) == by_level


def test_a_run_without_maintenance_is_all_beside_none() -> None:
    plain = estimates(**{"oltp.users-4.tps": 90})
    kept = [*estimates(**{"during.reindex-tpcc-postgresql-users-4.during_tps": 70}), *plain]
    assert METRICS["tps_beside"].of(plain) == {"tps_beside": 90}
    assert METRICS["tps_beside"].of(kept) == {"tps_beside": 70}
    assert METRICS["tps"].of(kept) == {"tps": 90}


def test_of_several_databases_the_sum_is_compared() -> None:
    """The record has it first, and then each database."""
    levels = {"users-4": 400, "users-4-db-1": 90, "users-4-db-2": 310}
    run = [
        *estimates(**{f"oltp.{level}.tps": value for level, value in levels.items()}),
        *estimates(**{f"oltp.{level}.trade_result.response_p95_ms": value
                      for level, value in levels.items()}),
    ]  # fmt: skip
    assert METRICS["tps"].of(run) == {"tps": 400}
    assert METRICS["tps_beside"].of(run) == {"tps_beside": 400}
    assert METRICS["p95_ms"].of(run) == {"p95_ms.trade_result": 400}


def test_work_that_stands_still_beside_maintenance_has_no_other_value() -> None:
    run = estimates(**{
        "during.reindex-tpcc-postgresql-users-4.during_tps": 0,
        "oltp.users-4.tps": 90, "oltp.users-4.new_order.response_p95_ms": 5,
    })  # fmt: skip
    assert METRICS["tps_beside"].of(run) == {"tps_beside": 0}
    assert METRICS["p95_beside_ms"].of(run) == {}


def test_of_several_phases_the_least_memory_counts() -> None:
    run = estimates(**{
        "resource.load-tpch.memory.host.available.min": 3e9,
        "resource.index-tpch.memory.host.available.min": 5e9,
    })  # fmt: skip
    assert METRICS["memory_available"].of(run) == {"memory_available": 3e9}


def test_metrics_of_the_machine_are_those_of_the_server_s(tmp_path: Path) -> None:
    bundle = Builder(tmp_path / "run", "run").machine().target("postgresql").oltp(4).write()
    facts = bundle.run.targets["postgresql"].model_copy(update={"machine": "db1"})
    run = bundle.run.model_copy(
        update={"targets": {"postgresql": facts}, "machines": {"db1": {}, "app": {}}}
    )
    busy = {"oltp-a": 10, "oltp-a@db1": 80, "oltp-a@app": 30}
    listed = estimates(
        **{f"resource.{phase}.cpu.host.busy.mean": value for phase, value in busy.items()}
    )
    for order in (listed, listed[::-1]):
        kept = runs._of_server(run, order)  # pyright: ignore[reportPrivateUsage]
        assert METRICS["cpu_percent"].of(kept) == {"cpu_percent": 80}


def test_maintenance_beside_queries_is_measured_by_its_own_metrics() -> None:
    at = "during.integrity-check-tpch-postgresql"
    run = estimates(**{
        f"{at}.before_qph": 900, f"{at}.during_qph": 870, f"{at}.after_qph": 910,
        f"{at}.db-2.during_qph": 1, f"{at}.during_of_before_percent": 96.7, f"{at}.round_s": 12,
        f"{at}.space_peak_bytes": 37, f"{at}.space_estimate_bytes": 38, f"{at}.estimate_s": 0.5,
        f"{at}.log_bytes": 7, f"{at}.step-attach.seconds": 0.2,
        f"{at}.step-wal_log.seconds": 0.5, f"{at}.step-wal_log.mb_per_s": 540,
        f"{at}.step-file_copy.mb_per_s": 700, f"{at}.mb_per_s": 90,
        "index.tpch.postgresql.log_bytes": 50,
    })  # fmt: skip
    found = {name: metric.of(run) for name, metric in METRICS.items()}
    assert found["window_s"] == {"window_s.attach": 0.2}
    assert found["create_s"] == {"create_s.wal_log": 0.5}
    assert found["create_mbps"] == {"create_mbps.wal_log": 540, "create_mbps.file_copy": 700}
    assert found["backup_mbps"] == {"backup_mbps": 90}
    for name, value in {
        "beside_qph": 870, "before_qph": 900, "beside_percent": 96.7, "maintenance_s": 12,
        "maintenance_space": 37, "space_estimate": 38, "estimate_s": 0.5,
        "maintenance_log": 7, "index_log": 50,
    }.items():  # fmt: skip
        assert found[name] == {name: value}
    assert {"beside_qph", "beside_percent", "maintenance_s"} <= set(had_by("tpch", "run"))
    assert "beside_qph" not in had_by("tpcc", "run")
    assert {"beside_percent", "maintenance_s"} <= set(had_by("tpcc", "run"))


def typed(words: list[str]) -> Plan:
    """The plan that a command line makes."""
    verb = importlib.import_module(f"dyno.cli.{words[0]}").command
    kinds: dict[str, type[Plan]] = {
        "load": LoadingPlan, "run": RunPlan, "io": StoragePlan
    }  # fmt: skip
    with strictly(verb).make_context(words[0], words[1:]) as context:
        given = {name: value for name, value in context.params.items()
                 if name in kinds[words[0]].model_fields}  # fmt: skip
        out = Path(context.params["out"]).absolute()
        options = Options(out, as_json=False, quiet=True, yes=False)
        return chosen(kinds[words[0]], options, given)


@pytest.mark.parametrize("name", studies.names())
def test_its_plans_are_what_their_command_lines_ask_for(name: str) -> None:
    """Each says what it asks; its plans go to another process whole, and can be typed."""
    found = spec.read(name)
    assert all((found.question, found.design, found.rule, found.misleads))
    for variant in found.variants:
        made = (
            *asked.loads(variant, found, Path("out")),
            asked.run(variant, "restart", 1, Path("o")),
        )
        for plan in made:
            assert documents.read(json.dumps(documents.document(plan))) == plan
            assert typed(plan.words()) == plan
        if variant.load and variant.scale:
            layout = resolve(
                str(variant.load.get("layout", "default")), variant.workload, variant.scale
            )
            assert variant.load.get("databases", 1) == variant.run.get("databases", 1)
            targets.require_layout(targets.parse(variant.target), layout)


def test_metrics_and_shipped_studies_are_listed() -> None:
    printed = dyno("study", "metrics").stdout.splitlines()
    assert all(len(line) <= 80 for line in printed)
    assert any(line.startswith("query_s.* ") for line in printed)
    assert {line.split()[0].removesuffix(".*") for line in printed if line[0] != " "} == set(
        METRICS
    )
    written = dyno("study", "plan", "io-raid", "--toml").stdout
    assert written == (studies.FOLDER / "io-raid.toml").read_text(encoding="utf-8")
