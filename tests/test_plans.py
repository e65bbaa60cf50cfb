"""Plans on their way to another process, and back from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dyno.errors import UsageError
from dyno.plans import documents
from dyno.plans.fields import made
from dyno.plans.run import RunPlan


def test_a_plan_reaches_another_process_as_it_was_given() -> None:
    plan = made(
        RunPlan,
        {
            **{"workload": "tpch", "target": "embedded:duckdb", "refresh": False, "think": False},
            **{"timeout": 90, "settings": {"memory": "1GB"}, "limits": {"cpu": 0.5}, "out": "/o"},
        },
    )
    read = documents.read(json.dumps(documents.document(plan)))
    assert read == plan
    assert read.model_fields_set == plan.model_fields_set
    assert (plan.out, plan.timeout, plan.settings) == (Path("/o"), "90", ("memory=1GB",))
    assert plan.given("refresh")
    assert not plan.given("think"), "an option without a negative is given only if it is true"
    assert plan.command == (
        "dyno run tpch --target embedded:duckdb --no-refresh --timeout 90 --limit cpu=0.5 "
        "--set memory=1GB --out /o"
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "Not a valid plan"),
        ("[]", "it needs one verb"),
        ('{"run": {}, "load": {}}', "it needs one verb"),
        ('{"clean": {}}', "it needs one verb"),
        ('{"run": {"target": "null:"}}', "workload is missing"),
        ('{"run": {"workload": "tpcc", "target": "null:", "user": 1}}', "Did you mean 'users'?"),
        ('{"io": {"volumes": ["/a"], "repeat": 0}}', "Invalid value for '--repeat': 0 is not in"),
    ],
)
def test_what_is_no_plan_is_refused_in_a_line(text: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        documents.read(text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
