"""``/metrics`` of a running run, as text and as a real Prometheus reads it."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import socket
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from dyno.bundle.reader import list_bundles
from tests.bundles import quickstart
from tests.conftest import missing
from tests.live.served import Page, served
from tests.process import dyno, end, start, wait_for_phase, wait_until

DASHBOARD = Path(__file__).parents[2] / "docs" / "grafana" / "dyno.json"
SAMPLE = re.compile(r'([a-z_]+)(\{[a-z]+="(?:[^"\\\n]|\\["\\n])*"(?:,[a-z]+="[^"\n]*")*\})? \S+')


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    out = tmp_path_factory.mktemp("out")
    run = start("run", "tpcc", "--target", "null:?mean_us=2000", "--users", "2", "--warmup", "1s",
                "--duration", "120s", "--out", out)  # fmt: skip
    wait_for_phase(run, out, "oltp")
    with served(next(out.glob("2*"))) as found:
        wait_until(lambda: "dyno_throughput" in text(found), "a rate", timeout=60)
        yield found
    run.terminate()
    end(run)


def text(page: Page) -> str:
    status, body, headers = page.get("/metrics")
    assert status == 200
    assert headers["Content-Type"].startswith("application/openmetrics-text; version=1.0.0")
    return body.decode()


def test_every_line_is_a_sample_of_its_family(page: Page) -> None:
    *lines, last, empty = text(page).split("\n")
    assert (last, empty) == ("# EOF", "")
    family = ""
    families: list[str] = []
    for line in lines:
        if line.startswith("# TYPE "):
            family = line.split()[2]
            families.append(family)
        elif line.startswith("# UNIT "):
            name, unit = line.split()[2:]
            assert name == family
            assert name.endswith(f"_{unit}")
        else:
            found = SAMPLE.fullmatch(line)
            assert found, line
            assert found[1] in (family, f"{family}_total", f"{family}_info")
    assert len(families) == len(set(families))
    assert {"dyno_run", "dyno_operations", "dyno_latency_seconds", "dyno_cpu_user_percent",
            "dyno_memory_available_bytes"} <= set(families)  # fmt: skip


def test_a_token_in_the_address_is_enough(page: Page) -> None:
    assert page.get(f"/metrics?token={page.token}", {})[0] == 200


def test_a_finished_run_has_no_values(tmp_path: Path) -> None:
    with served(quickstart(tmp_path).write().path) as page:
        assert [line for line in text(page).splitlines() if not line.startswith("#")] == [
            'dyno_run_info{run="20261120T140000Z-ab12",verb="quickstart",dyno="0.1.0",status="done"} 1'  # noqa: E501
        ]


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


@contextlib.contextmanager
def scraped(page: Page, folder: Path) -> Generator[str]:
    """The address of a Prometheus that scrapes the page."""
    binary = shutil.which("prometheus")
    if binary is None:
        missing("Prometheus")
    port = _free_port()
    (folder / "token").write_text(page.token)
    target = page.base.removeprefix("http://")
    (folder / "prometheus.yml").write_text(
        "global: {scrape_interval: 1s}\n"
        "scrape_configs:\n"
        "- job_name: dyno\n"
        f"  authorization: {{credentials_file: {folder}/token}}\n"
        f"  static_configs: [{{targets: ['{target}']}}]\n"
    )
    process = subprocess.Popen(
        [str(binary), f"--config.file={folder}/prometheus.yml",
         f"--storage.tsdb.path={folder}/data", f"--web.listen-address=127.0.0.1:{port}"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(scope="module")
def prometheus(page: Page, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with scraped(page, tmp_path_factory.mktemp("prometheus")) as found:
        yield found


def asked(prometheus: str, query: str) -> list[Any]:
    address = f"{prometheus}/api/v1/query?{urllib.parse.urlencode({'query': query})}"
    try:
        with urllib.request.urlopen(address) as answer:
            return json.load(answer)["data"]["result"]
    except OSError:
        return []


def test_prometheus_reads_what_the_dashboard_shows(page: Page, prometheus: str) -> None:
    wait_until(lambda: asked(prometheus, "up == 1"), "a scrape", timeout=60)
    counted = 'rate(dyno_operations_total{operation!="all"}[10s]) > 0'
    assert wait_until(lambda: asked(prometheus, counted), "two scrapes", timeout=60)
    # Those that need a database, or a device that is busy, may have nothing here.
    load = {"Throughput by operation", "Latency of all operations", "p95 latency by operation"}
    shown = load | {"Errors by operation", "CPU", "Memory", "IOPS by volume"}
    assert not shown & empty_panels(prometheus)


def empty_panels(prometheus: str) -> set[str]:
    """Titles of the dashboard's panels of which no query has a value."""
    panels = json.loads(DASHBOARD.read_text().replace("$instance", ".*").replace("$volume", ".*"))
    return {
        panel["title"]
        for panel in panels["panels"]
        if not any(asked(prometheus, item["expr"]) for item in panel["targets"])
    }


@pytest.mark.long
def test_every_panel_shows_a_run_on_postgresql(tmp_path: Path) -> None:
    words = ("tpcc", "--target", "embedded:postgresql", "--out", tmp_path)
    loaded = dyno("load", *words, "--scale", "1")
    assert loaded.returncode in {0, 1}, loaded.stderr
    run = start("run", *words, "--users", "2", "--warmup", "1s", "--duration", "120s")
    try:
        wait_for_phase(run, tmp_path, "oltp")
        with served(list_bundles(tmp_path)[0].path) as page, scraped(page, tmp_path) as prometheus:
            wait_until(lambda: not empty_panels(prometheus), "values in every panel", timeout=60)
            assert asked(prometheus, "sum(dyno_sessions_active) > 0")
    finally:
        run.terminate()
        end(run)
