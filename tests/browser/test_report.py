"""Pages in a real browser: they show, fit, ask the network for nothing, and are legible."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

from dyno.decide.judge import definitions
from dyno.report import run_report
from dyno.runner.study_page import write
from dyno.studies.analysis import outcome
from tests.browser.chrome import chromium
from tests.bundles import Builder, only_io, quickstart
from tests.judged import judged
from tests.report import test_study as made_up

PAPER, MOST_PAPER = 717, 1075
"""Pixels of A4 between its margins, and those that browsers surely shrink to that."""

CUT = """
const found = [];
for (const chart of document.querySelectorAll("svg.chart")) {
  const box = chart.getBoundingClientRect();
  for (const text of box.width ? chart.querySelectorAll("text") : []) {
    const own = text.getBoundingClientRect();
    if (own.left < box.left - 1 || own.right > box.right + 1) found.push(text.textContent);
  }
}
return found;
"""
"""Texts that their charts cut off."""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    yield from chromium(tmp_path_factory.mktemp("chromium"))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(quickstart(tmp_path_factory.mktemp("bundle")), tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(only_io(tmp_path_factory.mktemp("bundle")), tmp_path_factory.mktemp("page"))


def written(builder: Builder, folder: Path) -> Path:
    made = judged(builder.write())
    path = folder / "sheet.html"
    path.write_text(
        run_report(made.bundle, made.estimates, made.findings, definitions()), encoding="utf-8"
    )
    return path


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study") / "grid"
    made = made_up.book(folder, made_up.grid(), lambda at, pair: {"tps": 500.0 + 90 * at + pair})
    effects, fits = made_up.grown()
    found = outcome(made)
    return write(made, found.model_copy(update={"effects": effects, "fits": fits}))


@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    [
        ("page", 1280, "light"),
        ("page", 1280, "dark"),
        ("page", 420, "light"),
        ("page", 420, "dark"),
        ("study", 1280, "dark"),
        ("study", 420, "light"),
        ("storage", 420, "dark"),
    ],
)
def test_a_page_shows_and_fits(
    browser: webdriver.Chrome,
    request: pytest.FixtureRequest,
    name: str,
    width: int,
    scheme: str,
) -> None:
    page: Path = request.getfixturevalue(name)
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
    )
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False},
    )
    browser.get_log("performance")  # what the browser asked for at its own start
    browser.get(page.as_uri())

    assert not [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    requests = [
        entry["message"]
        for entry in browser.get_log("performance")
        if '"Network.requestWillBeSent"' in entry["message"]
    ]
    assert all("file://" in message or "data:" in message for message in requests)

    overflow = browser.execute_script(
        "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    assert overflow <= 0, f"{overflow} px too wide"
    headings = [item.text for item in browser.find_elements(By.TAG_NAME, "h2")]
    assert len(headings) >= 5
    charts = [item for item in browser.find_elements(By.TAG_NAME, "svg") if item.is_displayed()]
    assert len([chart for chart in charts if chart.size["width"] > 200]) >= 3
    assert browser.execute_script(CUT) == []
    text, ground = browser.execute_script(
        "const s = getComputedStyle(document.body); return [s.color, s.backgroundColor]"
    )
    assert contrast(text, ground) >= 7


@pytest.mark.parametrize("name", ["page", "storage", "study"])
def test_a_page_on_paper_is_light_and_whole(
    browser: webdriver.Chrome, request: pytest.FixtureRequest, name: str
) -> None:
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"media": "print", "features": [{"name": "prefers-color-scheme", "value": "dark"}]},
    )
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": PAPER, "height": 1000, "deviceScaleFactor": 1, "mobile": False},
    )
    browser.get(request.getfixturevalue(name).as_uri())
    ground = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert contrast(ground, "rgb(255, 255, 255)") == 1
    tables: dict[str, float] = browser.execute_script(
        "return Object.fromEntries([...document.querySelectorAll('.scroll')].map("
        "s => [s.ariaLabel, s.firstElementChild.offsetWidth]))"
    )
    assert tables
    assert {name: width for name, width in tables.items() if width > MOST_PAPER} == {}
    heads = "[...document.querySelectorAll('h2, h3, summary')]"
    breaks = browser.execute_script(
        f"return [...new Set({heads}.map(h => getComputedStyle(h).breakAfter))]"
    )
    assert breaks == ["avoid"]


def test_a_quickstart_takes_at_most_ten_pages_of_paper(
    browser: webdriver.Chrome, page: Path
) -> None:
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    browser.get(page.as_uri())
    printed = browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})
    pages = re.findall(rb"/Type /Page\b", base64.b64decode(printed["data"]))
    assert 3 <= len(pages) <= 10


def contrast(first: str, second: str) -> float:
    """WCAG 2 contrast ratio of two CSS colours."""

    def luminance(colour: str) -> float:
        parts = [float(x) / 255 for x in colour[colour.index("(") + 1 : -1].split(",")[:3]]
        linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    bright, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)
