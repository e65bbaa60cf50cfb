"""Messages of servers: values leave them, codes and names stay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dyno.safety.messages import valueless

KEPT = [
    'relation "orders" does not exist [SQLSTATE 42P01]',
    'duplicate key value violates unique constraint "purchase_pkey" [SQLSTATE 23505]',
    'null value in column "x" of relation "t" violates not-null constraint [SQLSTATE 23502]',
    "Table 'shop.item' doesn't exist [error 1146]",
    "Field 'x' doesn't have a default value [error 1364]",
    "a foreign key constraint fails (`a`.`b`, CONSTRAINT `c` FOREIGN KEY (`d`)) [error 1452]",
    'conflicted with the FOREIGN KEY constraint "f". The conflict occurred in database "d", '
    "table \"dbo.t\", column 'id'. [error 547]",
    'relation "t" does not exist [error 33557097]',
    "SQLite: UNIQUE constraint failed: t.email",
    'DuckDB: Index with name "by_v" already exists!.',
    "Deadlock found when trying to get lock; try restarting transaction [error 1213]",
    "statement get returned or changed 0 rows, not 1: check that the data is complete",
]
CUT = {
    "Duplicate entry 'alice' for key 't.email' [error 1062]":
        "Duplicate entry '…' for key 't.email' [error 1062]",
    "Duplicate entry 'O'alice' for key 'PRIMARY' [error 1062]":
        "Duplicate entry '…' for key 'PRIMARY' [error 1062]",
    "Duplicate entry 'a' for key 'alice' for key 'PRIMARY' [error 1062]":
        "Duplicate entry '…' for key 'PRIMARY' [error 1062]",
    "Incorrect integer value: 'alice' for column `d`.`t`.`c` at row 1 [error 1366]":
        "Incorrect integer value: '…' for column `d`.`t`.`c` at row 1 [error 1366]",
    "error in your SQL syntax near 'x' where a = 'alice'' at line 1 [error 1064]":
        "error in your SQL syntax near '…' at line 1 [error 1064]",
    "Unknown column 'alice' in 'where clause' [error 1054]": "Unknown column '…' [error 1054]",
    'invalid input syntax for type integer: "alice" [SQLSTATE 22P02]':
        "invalid input syntax for type integer: '…' [SQLSTATE 22P02]",
    "ungültige Eingabesyntax für Typ integer: »alice« [SQLSTATE 22P02]":
        "ungültige Eingabesyntax für Typ integer: '…' [SQLSTATE 22P02]",
    'syntax error at or near "alice" [SQLSTATE 42601]':
        "syntax error at or near '…' [SQLSTATE 42601]",
    "insert in object 'dbo.t'. The duplicate key value is (1, alice). [error 2627]":
        "insert in object 'dbo.t'. The duplicate key value is …. [error 2627]",
    "in table 't', column 'c'. Truncated value: 'alice'. [error 2628]":
        "in table 't', column 'c'. Truncated value: '…'. [error 2628]",
    "Type INT128 with value 4711 is out of range": "Type INT128 with value … is out of range",
    "Overflow in multiplication of INT64 (4111111111111111 * 1000000000)!":
        "Overflow in multiplication of INT64 (…)!",
    "Overflow in addition of DECIMAL(18) (41.11 + -0.5). You might want an explicit cast.":
        "Overflow in addition of DECIMAL(18) (…). You might want an explicit cast.",
    "Overflow in subtraction of INT8 (-128 - 1)!": "Overflow in subtraction of INT8 (…)!",
    "Overflow in division of -128 / -1": "Overflow in division of …",
    "Overflow on abs(-128)!": "Overflow on abs(…)!",
    "Type INT64 with value 300 can't be cast because the value is out of range for INT8":
        "Type INT64 with value … can't be cast because the value is out of range for INT8",
    "Type DOUBLE with value -4.2e+30 can't be cast": "Type DOUBLE with value … can't be cast",
    "Type DATE with value 1971-03-09 can't be cast": "Type DATE with value … can't be cast",
    "Could not cast value 41.11 to DECIMAL(3,2)": "Could not cast value … to DECIMAL(3,2)",
    "Arithmetic overflow error for data type tinyint, value = 300. [error 220]":
        "Arithmetic overflow error for data type tinyint, value = …. [error 220]",
    "error for type int, value = -4111111111111111.000000. [error 232]":
        "error for type int, value = …. [error 232]",
    "alice is poor [SQLSTATE P0001]": "Raised by a function or trigger [SQLSTATE P0001]",
    "alice is poor [error 1644]": "Raised by a function or trigger [error 1644]",
    "alice is poor [error 50001].": "Raised by a function or trigger [error 50001].",
}  # fmt: skip


@pytest.mark.parametrize("message", KEPT)
def test_names_and_words_stay(message: str) -> None:
    assert valueless("database", message) == message


@pytest.mark.parametrize("message", CUT)
def test_values_leave(message: str) -> None:
    assert valueless("database", message) == CUT[message]


def test_words_of_a_recorded_statement_stay() -> None:
    for message in (
        'syntax error at or near "selec" [SQLSTATE 42601]',
        "Invalid column name 'prize'. [error 207]",
    ):
        assert valueless("database", message, written=True) == message
        assert valueless("database", message) != message
    found = valueless("database", "Unknown column 'prize' in 'where clause'", written=True)
    assert found == "Unknown column 'prize' in '…'"
    found = valueless("database", 'invalid input syntax for type integer: "alice"', written=True)
    assert "alice" not in found


def test_messages_about_accounts_stay() -> None:
    message = "Access denied for user 'app'@'db1' [error 1045]"
    assert valueless("denied", message) == message


@given(st.text("'\"`alice keyfornt.()[]=»«\n", max_size=40))
def test_no_quote_ends_a_value_early(value: str) -> None:
    found = valueless("database", f"Incorrect value: 'alice{value}bob' in row 1 [error 1366]")
    assert found == "Incorrect value: '…' in row 1 [error 1366]"
