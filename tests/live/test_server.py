"""The server of the live page: who may read it, and what it answers."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

from dyno.live.access import Access
from tests.bundles import Builder, quickstart
from tests.live.served import Page, everything, served
from tests.process import dyno, end, start, wait_for_phase, wait_until


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    run = everything(tmp_path_factory.mktemp("bundle")).write().path
    with served(run) as found:
        wait_until(lambda: ticks(found, 1)[0]["loaded"], "the bundle to be read")
        yield found


def view(page: Page, query: str) -> dict[str, Any]:
    """The head of an answer with the values of each chart."""
    status, body, _ = page.get(f"/api/view?{query}")
    assert status == 200
    (length,) = struct.unpack_from("<I", body)
    found = json.loads(body[4 : 4 + length])
    values = np.frombuffer(body[4 + length :], "<f4").reshape(-1, found["bins"])
    at = 0
    for chart in found["charts"]:
        chart["values"] = values[at : at + len(chart["names"])]
        at += len(chart["names"])
    assert at == len(values)
    return {chart["id"]: chart for chart in found["charts"]} | {"head": found}


@contextlib.contextmanager
def stream(page: Page, headers: dict[str, str] | None = None) -> Iterator[Iterator[dict[str, Any]]]:
    """The events of one viewer: id and data."""
    host = page.base.removeprefix("http://")
    connection = http.client.HTTPConnection(host, timeout=60)
    given = {"Authorization": f"Bearer {page.token}", **(headers or {})}
    connection.request("GET", "/api/stream", headers=given)
    answer = connection.getresponse()
    assert answer.status == 200

    def parsed() -> Iterator[dict[str, Any]]:
        number = ""
        while line := answer.readline().decode():
            if line.startswith("id: "):
                number = line[4:].strip()
            if line.startswith("data: "):
                yield {"number": number, **json.loads(line[6:])}

    try:
        yield parsed()
    finally:
        connection.close()


def ticks(page: Page, count: int, **headers: str) -> list[dict[str, Any]]:
    with stream(page, {name.replace("_", "-"): text for name, text in headers.items()}) as found:
        return [next(found) for _ in range(count)]


@pytest.mark.parametrize("path", ["/", "/api/head", "/api/stream", "/metrics", "/static/main.js"])
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Bearer "},
        {"Cookie": "dyno_live_1=x; dyno_live_=y"},
    ],
)
def test_nothing_without_the_token(page: Page, path: str, headers: dict[str, str]) -> None:
    assert page.get(path, headers)[0] == 403
    assert page.get(f"{path}?token=wrong", headers)[0] == 403


def test_another_host_or_site_is_refused(page: Page) -> None:
    own = {"Authorization": f"Bearer {page.token}"}
    assert page.get("/api/head", own)[0] == 200
    for host in ("evil.example", "127.0.0.1:1", "localhost", "dyno.evil.example:80"):
        assert page.get("/api/head", {**own, "Host": host})[0] == 421
    for origin in ("http://evil.example", "null", "https://" + page.base.removeprefix("http://")):
        assert page.get("/api/head", {**own, "Origin": origin})[0] == 403
    assert page.get("/api/head", {**own, "Origin": page.base})[0] == 200
    assert page.get("/api/head", {**own, "Sec-Fetch-Site": "cross-site"})[0] == 403
    assert page.get("/api/head", {**own, "Sec-Fetch-Site": "same-site"})[0] == 403


def test_the_token_leaves_the_address(page: Page) -> None:
    status, _, headers = page.get(f"/?token={page.token}", {})
    assert (status, headers["Location"]) == (303, "/")
    cookie = headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    own = cookie.partition(";")[0]
    for kept in (own, f'of-another-port={{"theme":"dark"}}; {own}', f"empty; {own}"):
        assert page.get("/", {"Cookie": kept})[0] == 200


def test_an_address_for_a_command_line_opens_the_page_once() -> None:
    access = Access("127.0.0.1", 8080)
    ticket = parse_qs(urlsplit(access.once()).query)["token"][0]
    assert ticket not in access.url
    assert not access.takes(access.token)
    assert [access.takes(ticket), access.takes(ticket)] == [True, False]


@pytest.mark.parametrize(("port", "bare"), [(80, True), (8080, False)])
def test_browsers_leave_out_the_usual_port(port: int, bare: bool) -> None:
    access = Access("127.0.0.1", port)
    assert access.known_host(f"localhost:{port}")
    assert access.known_host("localhost") is bare
    assert not access.known_host("evil.example")


def test_every_answer_forbids_foreign_content(page: Page) -> None:
    for path in ("/", "/api/head", "/static/main.js", "/metrics", "/nothing"):
        headers = page.get(path)[2]
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert "unsafe" not in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("path", ["/static/../server.py", "/static/%2e%2e/server.py", "/api"])
def test_only_files_of_the_page(page: Page, path: str) -> None:
    assert page.get(path)[0] == 404


def test_the_charts_have_the_values_of_the_bundle(page: Page) -> None:
    found = view(page, "from=0&to=200&bins=600")
    assert found["head"]["width"] == 1
    sessions = found["sessions-postgresql"]
    assert sessions["names"] == ["cpu", "log", "lock"]
    level = np.nanmean(sessions["values"], axis=1)
    assert level[1] / level[0] == pytest.approx(2.1 / 1.4, rel=1e-3)
    assert found["cpu@db1"]["names"] == ["user", "steal"]
    latency = found["latency"]
    p50, p95, p99 = latency["values"]
    some = ~np.isnan(p50)
    assert some.sum() > 20
    assert (p50[some] <= p95[some]).all()
    assert (p95[some] <= p99[some]).all()
    heat = found["heat"]
    assert len(heat["bounds"]) == len(heat["names"]) + 1
    assert heat["values"].sum() > 10_000


def test_one_volume_and_one_operation(page: Page) -> None:
    found = view(page, "from=0&to=200&operation=payment&volume=nvme3n1")
    assert found["latency"]["title"] == "Latency of payment"
    volumes = {one["group"] for one in found["head"]["charts"] if one["id"].startswith("volume-")}
    assert volumes == {"Volume nvme3n1"}
    reads = found["volume-nvme3n1-IOPS"]
    assert np.nanmean(reads["values"]) == pytest.approx(900 * 1.14, rel=0.05)


@pytest.mark.parametrize(
    "query",
    ["from=x&to=y&bins=z", "from=1e300&to=-5", "from=-9e8&to=9e8&bins=1000000", "bins=-1&to=nan"],
)
def test_odd_ranges_are_answered(page: Page, query: str) -> None:
    assert view(page, query)["head"]["bins"] >= 1


def test_ten_viewers_and_one_that_comes_back(page: Page) -> None:
    with contextlib.ExitStack() as stack:
        viewers = [stack.enter_context(stream(page)) for _ in range(10)]
        first = [next(viewer) for viewer in viewers]
    assert {len(one["events"]) for one in first} == {1}
    (again,) = ticks(page, 1, Last_Event_ID=str(first[0]["number"]))
    assert again["events"] == []


def test_a_run_is_followed_to_its_end(tmp_path: Path) -> None:
    run = start("run", "tpcc", "--target", "null:?mean_us=2000", "--users", "2", "--warmup", "1s",
                "--duration", "6s", "--out", tmp_path)  # fmt: skip
    wait_for_phase(run, tmp_path, "oltp")
    with served(next(tmp_path.glob("2*"))) as page, stream(page) as found:
        seen = [next(found)]
        while seen[-1]["status"] == "running":
            seen.append(next(found))
        assert end(run)[0] in (0, 1)
        assert any(tick["progress"] and tick["progress"]["run_left_s"] is not None for tick in seen)
        assert any(tick["headline"].get("throughput", 0) > 100 for tick in seen)
        assert [tick["end"] for tick in seen] == sorted(tick["end"] for tick in seen)
        numbers = [event["id"] for tick in seen for event in tick["events"]]
        assert numbers == sorted(set(numbers))
        ended = [event["event"] for tick in seen for event in tick["events"]]
        assert "phase-ended" in ended
        done = view(page, "from=0&to=60")["throughput"]["values"]
        whole = seen[-1]["headline"]["done"]
        assert np.nansum(done) == pytest.approx(whole, rel=0.02)
    assert not list(tmp_path.glob("2*/progress.json"))


def test_only_work_of_one_kind_has_a_throughput_as_a_whole(page: Page, tmp_path: Path) -> None:
    several = ticks(page, 1)[0]["headline"]
    assert several["done"] > 0
    assert {"throughput", "p95"}.isdisjoint(several)
    transactions = Builder(tmp_path / "20261120T150000Z-cd34", "run").target("postgresql").oltp(4)
    with served(transactions.write().path) as found:
        wait_until(lambda: ticks(found, 1)[0]["loaded"], "the bundle to be read")
        assert {"throughput", "p95"} < {*ticks(found, 1)[0]["headline"]}


def test_a_killed_run_is_shown_as_such(tmp_path: Path) -> None:
    run = start("run", "tpcc", "--target", "null:?mean_us=2000", "--duration", "60s",
                "--out", tmp_path)  # fmt: skip
    wait_for_phase(run, tmp_path, "oltp")
    with served(next(tmp_path.glob("2*"))) as page, stream(page) as found:
        assert next(found)["status"] == "running"
        os.killpg(run.pid, signal.SIGKILL)
        run.communicate()
        status = "running"
        while status == "running":
            status = next(found)["status"]
        assert status == "cut off"
        assert page.head()["status"] == "cut off"


def test_the_page_of_a_run_and_of_an_archive(tmp_path: Path) -> None:
    bundle = quickstart(tmp_path).write()
    archive = tmp_path / "run.tar.gz"
    assert dyno("runs", "export", bundle.path, "--to", archive).returncode == 0
    with served(archive) as page:
        assert page.head()["run"] == bundle.run.run


def test_a_damaged_table_is_named_and_the_rest_is_shown(tmp_path: Path) -> None:
    bundle = quickstart(tmp_path).write()
    (bundle.path / "samples.parquet").write_bytes(b"PAR1 no table PAR1")
    with served(bundle.path) as page:
        wait_until(lambda: ticks(page, 1)[0]["loaded"], "the bundle to be read")
        (problem,) = page.head()["problems"]
        assert problem.startswith("samples: ")
        assert "throughput" in view(page, "from=0&to=200")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing"], "No run 'nothing'"),
        ([], "No runs in"),
        (["--host", "0.0.0.0"], "give one IP address"),
        (["--host", "example.org"], "give an IP address"),
        (["--for", "1h"], "applies to a TARGET"),
    ],
)
def test_wrong_use(tmp_path: Path, words: list[str], said: str) -> None:
    done = dyno("watch", *words, "--out", tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
