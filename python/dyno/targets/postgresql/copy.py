"""Copies Arrow rows into a table by COPY, within a session's transaction.

For the few rows of a refresh function; the Rust loader loads whole tables.
"""

from __future__ import annotations

import io
from typing import Any

import psycopg
from psycopg import sql

from dyno.targets.postgresql.connection import PostgresConnection


def copy_rows(session: PostgresConnection, place: str, table: str, stream: Any) -> int:
    """Copies all rows of an Arrow stream into ``place.table``; returns the number of rows.

    Raises:
        DynoError: As :meth:`PostgresConnection.execute`.
    """
    import pyarrow as pa
    import pyarrow.csv

    # Minimal quoting distinguishes an empty text, which is quoted, from NULL, which is not.
    form = pyarrow.csv.WriteOptions(include_header=False, quoting_style="needed")
    reader = pa.RecordBatchReader.from_stream(stream)
    statement = sql.SQL("COPY {} FROM STDIN (FORMAT csv)").format(sql.Identifier(place, table))
    try:
        with session.raw.cursor() as cursor:
            with cursor.copy(statement) as copy:
                for batch in reader:
                    text = io.BytesIO()
                    pyarrow.csv.write_csv(batch, text, form)
                    copy.write(text.getbuffer())
            return cursor.rowcount
    except psycopg.Error as error:
        raise session.error(error) from error
