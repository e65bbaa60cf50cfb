"""Kinds of files of MariaDB and MySQL, for a cache in front: pattern, kind, what is done."""

from __future__ import annotations

KINDS = (
    ("{**/,}{ib_logfile*,ib_buffer_pool,#innodb_redo/**,aria_log*,*-bin.*}", "log", "pass"),
    ("{**/,}{ibtmp*,#sql-temptable*,#innodb_temp/**}", "temporary", "pass"),
    ("{**/,}undo*", "undo", "cache"),
    ("{**/,}{ibdata*,*.ibd,*.MAD,*.MAI,*.MYD,*.MYI}", "table", "cache"),
)
