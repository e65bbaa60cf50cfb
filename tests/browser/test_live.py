"""The live page in a real browser: it draws a run, obeys the user, and trusts nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

from dyno.bundle.reader import list_bundles
from dyno.host.storage import storage_facts
from tests import process
from tests.browser.chrome import chromium
from tests.live.served import Page, everything, served
from tests.process import dyno, end, start, wait_for_phase
from tests.targets.loops import mounted

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")
HOSTILE = "<script>window.owned=1</script><img src=x onerror='window.owned=1'>\"'`${1}"

INKED = """
const inked = [];
for (const figure of document.querySelectorAll("figure")) {
  const canvas = figure.querySelector("canvas");
  if (!canvas) continue;
  const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  const colours = new Set();
  for (let at = 0; at < pixels.length; at += 4) {
    const [red, green, blue] = [pixels[at] >> 5, pixels[at + 1] >> 5, pixels[at + 2] >> 5];
    if (pixels[at + 3] > 200) colours.add(red * 64 + green * 8 + blue);
  }
  if (colours.size > 1) inked.push(figure.dataset.chart);
}
return inked;
"""
"""Charts whose canvas has more than one colour: more than their axes."""


def wait_until(condition: Callable[[], Any], what: str) -> Any:
    return process.wait_until(condition, what, timeout=60)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    yield from chromium(tmp_path_factory.mktemp("chromium"))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with served(everything(tmp_path_factory.mktemp("bundle")).write().path) as found:
        yield found


def opened(browser: webdriver.Chrome, page: Page, width: int = 1280, scheme: str = "light") -> None:
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
    )
    resized(browser, width)
    browser.get("about:blank")
    browser.get_log("browser")
    browser.get_log("performance")  # what was asked for before
    browser.get(page.url)
    shown(browser, 0)
    wait_until(lambda: "throughput" in browser.execute_script(INKED), "the chart of the load")


def resized(browser: webdriver.Chrome, width: int) -> None:
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False},
    )
    wait_until(lambda: browser.execute_script("return innerWidth") == width, "the window")


def shown(browser: webdriver.Chrome, before: int) -> int:
    """Waits until the charts were drawn once more."""

    def count() -> int:
        return int(browser.execute_script("return document.body.dataset.shown || 0"))

    wait_until(lambda: count() > before, "the charts")
    return count()


def drawn(browser: webdriver.Chrome) -> int:
    return int(browser.execute_script("return document.body.dataset.shown || 0"))


def headings(browser: webdriver.Chrome) -> list[str]:
    return browser.execute_script(
        "return [...document.querySelectorAll('h2')].map((one) => one.textContent)"
    )


def asked_for(browser: webdriver.Chrome) -> list[str]:
    """Addresses that the page asked for."""
    found: list[str] = []
    for entry in browser.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            found.append(message["params"]["request"]["url"])
    return found


def well(browser: webdriver.Chrome, page: Page) -> None:
    """No error on the console, and no request to anyone else."""
    assert not [one for one in browser.get_log("browser") if one["level"] == "SEVERE"]
    assert all(url.startswith((page.base, "data:")) for url in asked_for(browser))


def test_the_charts_of_a_running_run(browser: webdriver.Chrome, tmp_path: Path) -> None:
    run = start("run", "tpcc", "--target", "null:?mean_us=2000", "--users", "2", "--warmup", "1s",
                "--duration", "15s", "--out", tmp_path)  # fmt: skip
    wait_for_phase(run, tmp_path, "oltp")
    with served(next(tmp_path.glob("2*"))) as page:
        opened(browser, page)
        assert browser.current_url == f"{page.base}/", "the token is gone from the address"
        headline = browser.find_element(By.ID, "headline")
        wait_until(lambda: "Run ends in" in headline.text, "the time left, which only a run has")
        wait_until(
            lambda: {"throughput", "latency", "p95", "heat"} <= set(browser.execute_script(INKED)),
            "the charts of the load",
        )
        assert end(run)[0] in (0, 1)
        state = browser.find_element(By.ID, "state")
        wait_until(lambda: state.text.startswith("Finished"), "the end of the run")
        wait_until(lambda: "run-ended" in browser.find_element(By.ID, "events").text, "its event")
        well(browser, page)


@pytest.mark.long
def test_a_database_and_a_volume_of_its_own_for_the_log(browser: webdriver.Chrome) -> None:
    with mounted("log") as home:
        layout, out = home / "apart.toml", home / "out"
        layout.write_text(f'[volumes]\nlog = "{home / "log"}"\n', encoding="utf-8")
        words = ("tpcc", "--target", "embedded:postgresql", "--out", out)
        loaded = dyno("load", *words, "--scale", "1", "--layout", layout)
        assert loaded.returncode in {0, 1}, loaded.stderr
        run = start("run", *words, "--users", "2", "--warmup", "1s", "--duration", "300s")
        try:
            wait_for_phase(run, out, "oltp")
            with served(list_bundles(out)[0].path) as page:
                follow_the_log(browser, page, storage_facts(home / "log")["subject"])
        finally:
            run.terminate()
            end(run)


def follow_the_log(browser: webdriver.Chrome, page: Page, device: str) -> None:
    """The page of a run on PostgreSQL; picks the volume of its log."""
    opened(browser, page)
    sessions, reads = "sessions-postgresql", "database-postgresql-"

    def inked() -> set[str]:
        return set(browser.execute_script(INKED))

    wait_until(lambda: sessions in inked(), "active sessions")
    wait_until(lambda: any(one.startswith(reads) for one in inked()), "the database's own values")
    title = browser.find_element(By.CSS_SELECTOR, f"[data-chart={sessions}] h3").text
    assert "Active sessions of postgresql" in title
    volume = Select(browser.find_element(By.ID, "volume"))
    wait_until(lambda: f"{device} (log)" in [one.text for one in volume.options], "the volume")
    volume.select_by_value(device)

    def volumes() -> list[str]:
        return [text for text in headings(browser) if text.startswith("Volume")]

    wait_until(lambda: volumes() == [f"Volume {device} (log)"], "only this volume")
    # Charts are drawn once they are in view; the log is written at each commit.
    chart = browser.find_element(By.CSS_SELECTOR, f"[data-chart=volume-{device}-IOPS]")
    browser.execute_script("arguments[0].scrollIntoView()", chart)
    wait_until(lambda: f"volume-{device}-IOPS" in inked(), "its I/O")
    well(browser, page)


RANGES = """
return [...document.querySelectorAll("figure")].filter((one) => one.dataset.range)
  .map((one) => [one.dataset.chart, one.dataset.range]);
"""


def test_a_drag_zooms_all_charts(browser: webdriver.Chrome, page: Page) -> None:
    opened(browser, page)
    whole = dict(browser.execute_script(RANGES))
    assert len(whole) > 5
    assert len(set(whole.values())) == 1
    plot = browser.find_element(By.CSS_SELECTOR, "[data-chart=throughput] .u-over")
    across = plot.size["width"]
    ActionChains(browser).move_to_element_with_offset(plot, -across // 4, 0).click_and_hold()\
        .move_by_offset(across // 2, 0).release().perform()  # fmt: skip

    def ranges() -> set[str]:
        zoomed = dict(browser.execute_script(RANGES))
        return set(zoomed.values()) if len(zoomed) > 3 else set()

    wait_until(lambda: len(ranges()) == 1 and ranges() != set(whole.values()), "the zoom")
    (only,) = ranges()
    start_s, end_s = map(float, only.split())
    first_s, last_s = map(float, whole["throughput"].split())
    assert end_s - start_s == pytest.approx((last_s - first_s) / 2, rel=0.05)
    assert Select(browser.find_element(By.ID, "range")).first_selected_option.text == "Zoomed"
    browser.find_element(By.TAG_NAME, "body").send_keys("0")
    # A zoom draws twice: what is there, then what it asked for.
    wait_until(lambda: ranges() == set(whole.values()), "the whole run")
    assert not browser.find_element(By.ID, "reset").is_enabled()
    well(browser, page)


def test_a_volume_and_an_operation_are_picked(browser: webdriver.Chrome, page: Page) -> None:
    opened(browser, page)
    before = drawn(browser)
    Select(browser.find_element(By.ID, "volume")).select_by_value("nvme3n1")
    shown(browser, before)
    wait_until(lambda: "Volume nvme3n1" in headings(browser), "the volume")
    assert not any("vda" in text for text in headings(browser))
    Select(browser.find_element(By.ID, "operation")).select_by_value("payment")
    title = browser.find_element(By.CSS_SELECTOR, "[data-chart=latency] h3")
    wait_until(lambda: title.text == "Latency of payment, ms", "the operation")
    well(browser, page)


def test_the_keyboard(browser: webdriver.Chrome, page: Page) -> None:
    opened(browser, page)
    body = browser.find_element(By.TAG_NAME, "body")
    pause = browser.find_element(By.ID, "pause")
    body.send_keys(Keys.SPACE)
    assert pause.get_attribute("aria-pressed") == "true"
    body.send_keys(Keys.SPACE)
    assert pause.get_attribute("aria-pressed") == "false"
    body.send_keys("+")
    assert browser.find_element(By.ID, "reset").is_enabled()
    theme = "return document.documentElement.dataset.theme"
    was = browser.execute_script(theme)
    body.send_keys("d")
    assert browser.execute_script(theme) != was
    body.send_keys("d")
    body.send_keys("?")
    dialog = browser.find_element(By.ID, "keys")
    assert dialog.is_displayed()
    dialog.find_element(By.TAG_NAME, "button").click()
    assert not dialog.is_displayed()
    well(browser, page)


def overflow(browser: webdriver.Chrome) -> int:
    """Pixels by which the page is wider than the window."""
    return browser.execute_script(
        "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )


def test_the_page_fits_a_window_that_became_narrow(browser: webdriver.Chrome, page: Page) -> None:
    opened(browser, page, 1280, "light")
    for chart in browser.find_elements(By.CSS_SELECTOR, "figure"):  # all are drawn wide
        browser.execute_script("arguments[0].scrollIntoView()", chart)
        wait_until(lambda at=chart: at.find_elements(By.CSS_SELECTOR, "canvas"), "the chart")
    resized(browser, 360)
    assert overflow(browser) <= 0


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1280, "light"), (3840, "dark")])
def test_the_page_fits_and_is_accessible(
    browser: webdriver.Chrome, page: Page, width: int, scheme: str
) -> None:
    browser.get(page.url)
    browser.execute_script("localStorage.clear()")
    opened(browser, page, width, scheme)
    assert browser.execute_script("return document.documentElement.dataset.theme") == scheme
    assert overflow(browser) <= 0
    # The page forbids scripts of others, so the driver brings this one.
    browser.execute_script(AXE)
    found: dict[str, Any] = browser.execute_async_script(
        "const told = arguments[arguments.length - 1]; axe.run().then(told)"
    )
    assert [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]] == []
    well(browser, page)


def test_a_wrong_token_shows_nothing(browser: webdriver.Chrome, page: Page) -> None:
    browser.get("about:blank")
    browser.delete_all_cookies()
    other = page.base.replace("127.0.0.1", "localhost")  # its cookies are others
    browser.get(f"{other}/?token=wrong")
    assert "Wrong token" in browser.find_element(By.TAG_NAME, "body").text
    assert browser.find_elements(By.TAG_NAME, "figure") == []


def test_names_of_others_are_only_text(browser: webdriver.Chrome, tmp_path: Path) -> None:
    builder = everything(tmp_path)
    for row in builder.tables["samples"]:
        if row["source"] in ("sessions", "database", "disk") and row["subject"] != "vda":
            row["subject"] += HOSTILE
        if row["source"] == "sessions":
            row["metric"] += HOSTILE
    for name, rows in builder.tables.items():
        for row in rows if name.startswith("ops/") else ():
            row["op"] += HOSTILE
    for row in builder.tables["queries"]:
        row["query"] += HOSTILE
    builder.plan["command"] = HOSTILE
    for phase in builder.phases:
        phase.title += HOSTILE
    run = builder.write().path
    with (run / "events.jsonl").open("a") as file:
        file.write(json.dumps({"t_ns": 2, "event": HOSTILE, "title": HOSTILE}) + "\n")
    with served(run) as page:
        opened(browser, page)
        browser.execute_script(
            "const volume = document.getElementById('volume'); volume.value = arguments[0];"
            "volume.dispatchEvent(new Event('change'))",
            f"nvme3n1{HOSTILE}",
        )
        wait_until(
            lambda: any(HOSTILE in text for text in headings(browser)),
            "the volume",
        )
        assert HOSTILE in browser.find_element(By.ID, "events").text
        assert browser.execute_script("return window.owned") is None
        assert browser.find_elements(By.CSS_SELECTOR, "main script, main img") == []
        well(browser, page)
