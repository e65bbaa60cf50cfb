"""What loaded data a certificate measures, and what it needs consent for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dyno import targets
from dyno.contracts.layout import Form, Layout, TableDesign
from dyno.contracts.target import Loaded
from dyno.errors import UsageError
from dyno.layouts.resolve import resolve
from dyno.runner.certify_data import FORMS, LAYOUTS, Wanted, form_of, require_both, unfit

OWN: list[Form] = ["row", "column"]


def layout(*forms: Form | None) -> str:
    tables = {f"t{number}": TableDesign(form=form) for number, form in enumerate(forms)}
    return Layout(name="mine", workload="tpch", tables=tables).model_dump_json()


@pytest.mark.parametrize("own", OWN)
def test_a_preset_has_the_form_that_it_is_chosen_for(own: Form) -> None:
    for form, name in LAYOUTS.items():
        assert form_of(resolve(name, "tpch", 1.0).model_dump_json(), own) == form
    assert form_of("", own) == own
    assert form_of(layout(None, None), own) == own
    assert form_of(resolve("columnar-1", "tpch", 1.0).model_dump_json(), own) is None


@pytest.mark.parametrize(
    ("found", "wanted", "fits"),
    [
        (Loaded(1.0, 1, complete=True), Wanted(), True),
        (Loaded(1.0, 1, complete=True), Wanted(1.0, 1, ("column",)), True),
        (Loaded(1.0, 1, complete=True), Wanted(2.0), False),
        (Loaded(1.0, 1, complete=True), Wanted(seed=2), False),
        (Loaded(1.0, 1, complete=True), Wanted(forms=("row",)), False),
        (Loaded(1.0, 1, complete=True, layout=layout("row")), Wanted(forms=("row",)), True),
        (Loaded(1.0, 1, complete=True, layout=layout("row", "column")), Wanted(), True),
        (Loaded(1.0, 1, complete=True, layout=layout("row", "column")), Wanted(forms=FORMS), False),
    ],
)
def test_what_fits(found: Loaded, wanted: Wanted, fits: bool) -> None:
    assert (unfit(found, "column", wanted) == "") == fits


@given(st.floats(0.01, 1000), st.integers(0, 9), st.sampled_from(OWN), st.sampled_from(OWN))
def test_data_fits_its_own_description(scale: float, seed: int, own: Form, form: Form) -> None:
    found = Loaded(scale, seed, complete=True, layout=layout(form))
    assert not unfit(found, own, Wanted(scale, seed, (form,)))
    assert unfit(found, own, Wanted(scale, seed, (FORMS[form == FORMS[0]],)))


@pytest.mark.parametrize("name", targets.names())
def test_both_forms_are_refused_with_the_reason_of_the_target(name: str) -> None:
    url = targets.parse(targets.about(name)[1][0])
    # A server of PostgreSQL may have a columnar access method.
    if name in {"clickhouse", "postgresql", "sqlserver"}:
        require_both(url)
    else:
        with pytest.raises(UsageError, match=r"--both-forms: .+ Name a second target"):
            require_both(url)
