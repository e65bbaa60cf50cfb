"""What a log counts together, and texts with several statements, in a draft."""

from __future__ import annotations

from pathlib import Path

import pytest

from dyno.runner.capturing import of_log
from dyno.targets.mysql.captured import CAPTURED as MYSQL
from dyno.targets.postgresql.captured import CAPTURED
from dyno.workloads.own.draft.draft import SEVERAL, Draft, Ran, Together, draft
from dyno.workloads.own.draft.written import text_of
from tests.replay.logs import as_csv, written


def logged(folder: Path, *texts: str) -> Draft:
    rows = [(float(at), "a.1", f"statement: {text}") for at, text in enumerate(texts)]
    together, _ = of_log(written(folder, as_csv(rows)), "")
    return draft(together, {}, CAPTURED, 20)


@pytest.mark.parametrize(
    ("texts", "listed"),
    [
        (("insert into t values (1, 2)", "insert into t values (1, 2), (3, 4)"), True),
        (("insert into t (a) values (1), (2)",), True),
        (("select a from t where a in (1)", "select a from t where a in (1, 2)"), True),
        (("select a from t where a = any(array[1, 2])",), True),
        (("select a from t where a = 1",), False),
    ],
)
def test_lists_of_the_first_execution_are_noted(
    tmp_path: Path, texts: tuple[str, ...], *, listed: bool
) -> None:
    made = logged(tmp_path, *texts)
    (one,) = made.transactions
    assert (one.weight, one.listed) == (len(texts), listed)
    assert [one.name in note for note in made.notes] == [True] * listed
    lines = text_of(made, "shop", "Shop", []).splitlines()
    above = lines[lines.index(f"[transactions.{one.name}]") - 1]
    assert above.startswith("# Lists") is listed


def test_several_statements_in_a_text_are_left_out_with_a_note(tmp_path: Path) -> None:
    made = logged(tmp_path, "begin; update t set a = 1", "insert into t values (now())", "commit")
    assert made.left_out == {SEVERAL: 1}
    assert [one.name for one in made.transactions] == ["insert_t"]
    assert len(made.notes) == 1
    made = logged(tmp_path, "select 1; select 2", "select a from t;")
    assert made.left_out == {SEVERAL: 1}
    assert not made.notes
    text = "start transaction; update t set a = ';'; commit;"
    (note,) = draft([Together(3, (Ran(text, True),))], {}, MYSQL, 20).notes
    assert " 3 times" in note


def test_functions_that_a_server_counts_apart_are_calls() -> None:
    text = "SELECT COUNT ( * ) , SUM ( `a` ) FROM `t` WHERE `a` > ?"
    made = draft([Together(3, (Ran(text),))], {}, MYSQL, 20)
    ((found, _),) = made.transactions[0].statements
    assert found == "SELECT COUNT(*), SUM(`a`) FROM `t` WHERE `a` > :value"
