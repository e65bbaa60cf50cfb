"""The reference and the bill of materials: what is refused, and sums."""

from __future__ import annotations

from pathlib import Path

import pytest

from dyno.certificates import Bom, Reference
from dyno.config.strict import parse
from dyno.decide.certify.cost import costs
from dyno.errors import UsageError
from tests.process import dyno

REFERENCE = """
name = "lab"
user_data = "25 TB"
[row]
throughput = "109.6 Q/h/TB"
[column]
throughput = "649.6 Q/h/TB"
"""
BOM = """
currency = "EUR"
[[items]]
name = "server"
price = 1000
watts = 100
[[items]]
name = "disk"
quantity = 8
price = 125.5
watts = 9.5
"""


def test_a_reference_has_throughput_by_form() -> None:
    found = parse(Reference, "Reference", REFERENCE)
    assert found.user_data_tb == 25
    assert (found.of("row"), found.of("column")) == (109.6, 649.6)


def test_a_bill_adds_up() -> None:
    found = parse(Bom, "BOM", BOM)
    assert found.price == 1000 + 8 * 125.5
    assert found.watts == 100 + 8 * 9.5
    each = {one.unit: one for one in costs(found, {"TPS": 1054.0, "TB": None, "Q/h/TB (row)": 0.0})}
    assert set(each) == {"TPS"}
    assert each["TPS"].price == pytest.approx(2004 / 1054)
    assert each["TPS"].watts == pytest.approx(176 / 1054)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BOM.replace("EUR", "EURO"), "currency"),
        (BOM.replace("EUR", "EUX"), "Did you mean 'EUR'"),
        (BOM.replace("1000", "-1"), "items[0].price"),
        (BOM.replace("9.5", "-9.5"), "items[1].watts"),
        (BOM.replace("125.5", "inf"), "items[1].price"),
        (BOM.replace("quantity = 8", "quantity = 0"), "items[1].quantity"),
        (BOM.replace("watts = 100", "wats = 100"), "Did you mean 'watts'"),
        ('currency = "EUR"\nitems = []', "items"),
    ],
)
def test_a_faulty_bill_is_refused_in_a_line(text: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(Bom, "BOM", text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (REFERENCE.replace("109.6 Q/h/TB", "109.6"), "row.throughput"),
        (REFERENCE.replace('"109.6 Q/h/TB"', "109.6"), "row.throughput"),
        (REFERENCE.replace("25 TB", "25"), "user_data"),
        (REFERENCE.replace("25 TB", "0 TB"), "above 0"),
        ('name = "lab"\nuser_data = "25 TB"', "[row]"),
    ],
)
def test_a_reference_without_units_is_refused_in_a_line(text: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(Reference, "Reference", text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("--bom", BOM.replace("EUR", "XXX")),
        ("--bom", BOM.replace("1000", "-1000")),
        ("--reference", REFERENCE.replace(" Q/h/TB", "")),
    ],
)
def test_the_command_refuses_them_before_anything_starts(
    out: Path, tmp_path: Path, option: str, text: str
) -> None:
    file = tmp_path / "input.toml"
    file.write_text(text)
    done = dyno("certify", "embedded:duckdb", "--quick", option, file, "--out", out)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert not out.exists() or not any(out.iterdir())
