"""Top consumers of reads, with the documents' own numbers; secrets and hostile names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dyno.bundle.model import TargetFacts
from dyno.bundle.reader import Bundle
from dyno.decide.advise.kinds.reads import KIND, leads
from dyno.decide.advise.section import Asked
from dyno.decide.advise.uses import of_rows
from dyno.runner import advise
from dyno.safety import plainjson
from dyno.safety.redaction import secretless
from tests.bundles import quickstart

# Reads of the top 20 statements in the OLTP document, figure 22.
READS = (
    *(548_944_775, 71_491_215, 28_640_092, 24_524_553, 16_350_184, 16_349_702, 4_682_500),
    *(2_575_492, 1_584_972, 1_541_468, 626_898, 578_304, 437_157, 419_268, 417_932, 383_440),
    *(287_991, 264_782, 258_512, 258_504),
)


def statement(number: int, **given: Any) -> dict[str, Any]:
    return {
        "t_ns": 1, "end_ns": 2, "target": "x", "statement": str(number), "text": f"SELECT {number}",
        "calls": 10, "total_ms": 5.0, "min_ms": None, "max_ms": None, "rows": 1,
        "logical_reads": 100, "physical_reads": 1, "temp_bytes": 0, "plan": None, **given,
    }  # fmt: skip


def relation(name: str, of_table: str, kind: str, reads: int) -> dict[str, Any]:
    return {
        "t_ns": 1, "end_ns": 2, "target": "x", "relation": name, "kind": kind,
        "of_table": of_table, "logical_reads": reads, "physical_reads": 0, "writes": 0,
        "read_ms": None, "bytes": 1,
    }  # fmt: skip


def test_the_shares_of_the_documents() -> None:
    """One statement had 76 % of the reads of the top 20, one table 70 % of all reads."""
    rows = [statement(n, logical_reads=reads) for n, reads in enumerate(READS)]
    tables = [
        relation("lineitem", "lineitem", "table", 600),
        relation("lineitem_by_date", "lineitem", "index", 100),
        relation("orders", "orders", "table", 300),
    ]
    uses = of_rows(rows, tables, {"data": 90.0, "log": 10.0}, "", ())
    assert uses.statements[0].reads == READS[0]
    assert uses.statements[0].reads / sum(READS) == pytest.approx(0.76, abs=0.005)
    (lead,) = leads(uses, 20)
    assert lead == (
        "lineitem: 70 % of the reads; statement 1: 76.2 % of the reads of the top 20; "
        "data volume: 90 % of the MB read."
    )


def test_reads_of_a_call_over_periods() -> None:
    rows = [
        statement(1, t_ns=30, calls=1, logical_reads=7),
        statement(1, t_ns=10, calls=10, logical_reads=20),
        statement(1, t_ns=20, calls=0, logical_reads=0),
    ]
    (one,) = of_rows(rows, [], {}, "", ()).statements
    assert (one.calls, one.reads, one.least, one.most, one.last) == (11, 27, 2.0, 7.0, 7.0)
    assert one.mean == pytest.approx(27 / 11)


def test_statements_without_pages_are_ordered_by_time(tmp_path: Path) -> None:
    rows = [statement(n, logical_reads=None, total_ms=float(n)) for n in range(5)]
    uses = of_rows(rows, [], {}, "", ())
    assert [one.name for one in uses.statements] == ["4", "3", "2", "1", "0"]
    assert leads(uses, 20) == []


SECRETS = [
    "CREATE USER app PASSWORD 's3cret'",
    "ALTER ROLE app WITH ENCRYPTED PASSWORD $x$s3cret$x$",
    "CREATE USER 'app'@'%' IDENTIFIED BY 's3cret'",
    "CREATE USER app IDENTIFIED VIA ed25519 USING PASSWORD('s3cret')",
    'SET PASSWORD FOR app = "s3cret"',
    "GRANT ALL ON *.* TO app IDENTIFIED BY PASSWORD '*s3cret'",
    "CHANGE MASTER TO MASTER_USER='r', MASTER_PASSWORD='s3cret'",
    "CREATE SUBSCRIPTION s CONNECTION 'host=h password=s3cret' PUBLICATION p",
    "CREATE USER MAPPING FOR app SERVER s OPTIONS (user 'u', password 's3cret')",
    "SELECT dblink_connect('host=h user=u password=s3cret')",
    "SELECT pgp_sym_encrypt(x, 's3cret') FROM t",
    "SELECT AES_DECRYPT(x, 's3cret')",
    "SELECT * FROM t WHERE url = 'postgresql://u:s3cret@h/db'",
    "SELECT 1 /* password=s3cret */",
    "CREATE USER app PASSWORD 's3cret and its end is cut o",
    "alter user app identified by 'it''s3cret'",
]


@pytest.mark.parametrize("text", SECRETS)
def test_a_secret_in_a_statement_is_redacted(text: str) -> None:
    assert "s3cret" not in secretless(text)
    assert secretless(text).split()[0] == text.split(maxsplit=1)[0]


@pytest.mark.parametrize(
    "text", ["SELECT * FROM item WHERE name = 'x'", "UPDATE t SET a = $1", "BEGIN", ""]
)
def test_other_statements_stay_as_they_are(text: str) -> None:
    assert secretless(text) == text


@pytest.fixture
def bundle(tmp_path: Path) -> Bundle:
    builder = quickstart(tmp_path).inside()
    hostile = {"relation": "\x1b[31mevil\u202e", "of_table": "'; rm -rf /; '"}
    row = dict(builder.tables["relations"][0])
    builder.tables["relations"].append({**row, **hostile, "logical_reads": 10**9})
    row = dict(builder.tables["statements"][0])
    secret = {"statement": "99", "text": SECRETS[0], "plan": SECRETS[0], "logical_reads": 10**9}
    builder.tables["statements"].append({**row, **secret})
    return builder.write()


def test_a_run_with_secrets_and_hostile_names(bundle: Bundle) -> None:
    systems = advise.of_run(bundle, None)
    assert [one.database.target for one in systems if one.database] == ["postgresql", "duckdb"]
    assert [one.machine for one in systems] == [True, False]
    section = KIND.advise(systems[0], Asked())
    assert section is not None
    assert "s3cret" not in plainjson.dumps(section.document)
    assert section.document["statements"][0]["name"] == "99"
    assert any("evil" in row[0] for table in section.tables for row in table.rows)


@pytest.mark.parametrize("name", ["../../etc", "os", "targets.postgresql", "a" * 999, "x\x00y"])
def test_a_target_of_any_name(tmp_path: Path, name: str) -> None:
    builder = quickstart(tmp_path)
    facts = TargetFacts(url=f"{name}://", version="\x1b[2J", place="machine", settings={"x": "y"})
    builder.targets = {name: facts}
    (system,) = advise.of_run(builder.write(), None)
    assert system.db.dialect is None
