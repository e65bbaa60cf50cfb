"""Examples of ``dyno run``."""

from __future__ import annotations

from dyno.cli._options import examples

EXAMPLES = examples(
    "dyno run tpch --target embedded:duckdb",
    "dyno run tpch --target embedded:duckdb --test full",
    "dyno run tpch --target embedded:postgresql --test throughput --streams 4",
    "dyno run tpch --target embedded:postgresql --databases 2 --users 6",
    "dyno run tpch --target embedded:postgresql --set work_memory=64MB --cold",
    "dyno run tpcc --target embedded:postgresql --users 16 --duration 60s",
    "dyno run tpcc --target embedded:postgresql --users 8 --limit cpu=0.9",
    "dyno run tpcc --target embedded:postgresql --users 1 --users 4 --users 16",
    "dyno run tpcc --target embedded:postgresql --users 32 --rate 500 --rate 900",
    "dyno run tpcc --target embedded:postgresql --users 32 --rate 100..1000",
    "dyno run tpcc --target embedded:postgresql --users 50 --think",
    "dyno run tpcc --target embedded:postgresql --users 16 --mode procedure",
    "dyno run tpcc --target embedded:postgresql --users 8 --during reindex",
    "dyno run tpcc --target embedded:postgresql --users 8 --databases 4",
    "dyno run tpcc --target embedded:mysql --databases 2 --users 8 --rate 400",
    "dyno run tpcc --target embedded:mysql --databases 2 --during backup",
    "dyno run tpcc --target embedded:postgresql --users 8 --criterion 'cpu<70%'",
    "dyno run tpcc --target embedded:postgresql --users 8 --until-steady 10m",
    "dyno run tpcc --target embedded:postgresql --find-max --slo 'cpu < 70 %'",
    "dyno run tpcc --target null: --find-max rate --slo 'new_order p95 < 500ms'",
    "dyno run tpch --target embedded:duckdb --streams 2 --during integrity-check",
    "dyno run tpch --target embedded:sqlite --during backup",
    "dyno run tpch --target embedded:mysql --during reindex --estimate-only",
    "dyno run tpcc+tpch --target embedded:postgresql --users 8 --users tpch=2",
    "dyno run tpcc+tpch --target URL --rate tpcc=200 --users tpcc=16 --alone",
    "dyno run tpch --target URL --target embedded:postgresql --users 6",
    "dyno run tpch --target embedded:duckdb --analyse-plans",
    "dyno run tpch --target embedded:postgresql --accelerate empty",
    "dyno run ch --target embedded:postgresql --test throughput --users 4",
    "dyno run mine.toml --target embedded:postgresql --users 16 --dry-run",
    "dyno run ycsb-a --target embedded:postgresql --users 16",
    "dyno run tpcc --target 'null:?mean_us=500' --users 8   driver only",
)
