"""Names of metrics are made in ``dyno.bundle.metrics`` alone: elsewhere nobody writes one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import dyno
from dyno.bundle import metrics
from dyno.bundle.metrics.base import all_declared

PACKAGE = Path(dyno.__file__).parent
DECLARED = all_declared()
FAMILIES = {metric.owner.names.partition(r"\.")[0].partition("(")[0] for metric in DECLARED}
STARTS = re.compile(rf"(?:{'|'.join(sorted(FAMILIES))})\.")
ENDS = re.compile(
    rf"\.(?:{'|'.join(sorted({one.name for one in DECLARED if '{' not in one.name}))})"
    r"|(?:\.|_)(?:response|service|best|p\d+|mean|max)_\w*ms"
)
OTHERS = {
    "bundle/reader.py": ("io.*", "during.*"),  # files of a bundle
    "confinement/group.py": ("io.max",),  # of the kernel
    "host/cgroup.py": ("io.max",),
    "live/server.py": ("index.html",),  # a file
    "studies/form.py": ("load.layout", "load.index"),  # of a study
    "studies/metrics.py": ("{}_p95_ms",),  # of a study
    "targets/duckdb/meter.py": ("io.total_bytes_read", "io.total_bytes_written"),
}
"""What looks like a metric and is none."""


def written(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of each literal that begins or ends the name of a metric.

    Sentences, which have spaces, and docstrings may.
    """
    tree = ast.parse(source)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if id(node) in docstrings:
            continue
        if isinstance(node, ast.JoinedStr) and node.values:
            first, last = node.values[0], node.values[-1]
            text = "".join(
                str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values
            )
            begun = isinstance(first, ast.Constant) and STARTS.match(str(first.value))
            ended = isinstance(last, ast.Constant) and ENDS.fullmatch(str(last.value))
            if " " not in text and (begun or ended):
                yield node.lineno, text
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
            if " " not in text and STARTS.match(text) and not text.endswith("."):
                yield node.lineno, text


def test_names_that_are_written_are_found() -> None:
    source = '''
"""About oltp.users-8.tps."""
found = [f"oltp.{level}.tps", f"{name}.mser_bias_percent", "io.random_read.best_iops"]
found += [f"{start}.{side}_p95_ms", "dyno io --fill", f"{name}.json", f"the oltp.{x} one"]
'''
    assert {text for _, text in written(source)} == {
        "oltp.{}.tps",
        "{}.mser_bias_percent",
        "io.random_read.best_iops",
        "{}.{}_p95_ms",
    }


def test_no_module_writes_the_name_of_a_metric() -> None:
    found: list[str] = []
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE)
        if place.parts[:2] == ("bundle", "metrics"):
            continue
        others = OTHERS.get(str(place), ())
        texts = written(path.read_text(encoding="utf-8"))
        found += [f"{place}:{line} {text!r}" for line, text in texts if text not in others]
    assert not found, "\n".join(found)


def test_a_mistyped_metric_is_an_error() -> None:
    level = metrics.Level("users-8")
    assert level.operation("payment").response("p95").name == "oltp.users-8.payment.response_p95_ms"
    for mistyped in ("tsp", "trend_percents"):
        assert not hasattr(level, mistyped)
        assert not hasattr(metrics.Level, mistyped)
        assert not metrics.declared(f"oltp.users-8.{mistyped}")


def test_a_name_that_is_built_is_declared_with_its_unit() -> None:
    place = metrics.VolumeSet("a+b", "fill40").curve("random_read")
    for key in (
        metrics.Level("users-8").per_min("new_orders"),
        metrics.Queries("duckdb").refresh(1).function("rf1"),
        metrics.QueriesPair("postgresql", "duckdb").query("q01").ratio,
        metrics.Index("tpch", "postgresql").step("primary key").peak_ratio,
        metrics.Maintenance("vacuum").database(2).part("during").change_percent,
        metrics.Resources("load", "random_read").device("dm-0", "read_mbps").mean,
        place.load("rate5000.5").volume("a.b").side("read").response("p999"),
        place.best("p95"),
        metrics.Compared("scaling", "a+b", "fill40", "random_read").efficiency_percent,
        metrics.Criterion("users-8", "response p95 < 0.5 s").worst_t_ns,
        metrics.Gap("power").share("mix").profile_io_bytes,
        metrics.Capacity().operation("new_order").response("p95"),
    ):
        assert {one.unit for one in metrics.declared(key.name)} == {key.unit}, key


def test_estimates_between_a_start_and_a_metric_keep_their_order() -> None:
    level = metrics.Level("a")
    names = ["payment", "delivery", "new_order"]
    keys = [level.operation(name).per_s for name in names]
    keys += [metrics.Level("aa").operation("other").per_s, level.tps]
    known = metrics.Estimates(key.estimate(1.0, "test") for key in keys)
    assert level.operations(known) == names
    assert list(known.of(level)) == [*(f"{name}.per_s" for name in names), "tps"]
