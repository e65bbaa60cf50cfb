"""Drafts from the counters and logs of servers, which run again on the same servers."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from dyno.targets.mysql import columns, server
from dyno.targets.mysql.inside import server_time
from dyno.targets.mysql.target import MysqlTarget
from dyno.workloads.own import spec
from tests.mariadb import require_mariadb
from tests.process import dyno, no_server_left
from tests.replay.logs import written
from tests.replay.test_servers import CREATE, FILL, LOGGING, work
from tests.targets.conftest import ask, embedded_mariadb, public_folder
from tests.targets.debian import debian_server
from tests.targets.test_postgresql_inside_url import opened

BOUGHT_INSIDE = """CREATE FUNCTION bought(n int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN UPDATE item SET stock = stock - 1 WHERE id = n; RETURN n; END $$"""


@pytest.mark.long
def test_a_draft_of_a_servers_counters_and_log_runs(tmp_path: Path) -> None:
    logs = {**LOGGING, "log_directory": "logs"}
    settings = {**logs, "shared_preload_libraries": "pg_stat_statements",
                "pg_stat_statements.track": "all"}  # fmt: skip
    lines = [f"{name} = '{value}'" for name, value in settings.items()]
    with public_folder() as folder, debian_server(folder, *lines) as url:
        target = opened(url)
        with closing(target.connect()) as session:
            session.execute("SET log_statement = 'none'")
            session.execute(CREATE.format(item="item"))
            session.execute(FILL["postgresql"].format(item="item"))
            session.execute("CREATE EXTENSION pg_stat_statements")
            session.execute("CREATE DATABASE other")
            session.execute(BOUGHT_INSIDE)
            session.execute("ANALYZE")
            session.execute("SELECT pg_stat_statements_reset()")
        work(target)
        other = url.replace("/postgres?", "/other?")
        assert other != url
        with closing(target.connect()) as session, closing(opened(other).connect()) as elsewhere:
            session.execute("SELECT bought(id) FROM item WHERE id = 3")
            elsewhere.execute("SELECT 3 AS elsewhere")
            place = session.execute("SELECT current_setting('data_directory')").rows[0][0]
        log = written(tmp_path, (Path(place) / "logs" / "test.csv").read_text(), "server.csv")
        for source, stem in (("pg_stat_statements", "counted"), (str(log), "logged")):
            found = captured(url, source, tmp_path / f"{stem}.toml")
            weights = {name: one.weight for name, one in found.transactions.items()}
            assert weights["update_item"] == (40 if stem == "counted" else 32)
            assert "update_item_2" not in weights, "the statement inside of the function"
            text = (tmp_path / f"{stem}.toml").read_text()
            assert "bought(id)" in text
            assert "elsewhere" not in text.lower()
        logged = found.transactions["update_item"]
        assert len(logged.statements) == 2


@pytest.mark.long
def test_a_log_in_another_language_is_refused_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANGUAGE", "de")
    settings = {**LOGGING, "log_directory": "logs", "lc_messages": "C.UTF-8"}
    lines = [f"{name} = '{value}'" for name, value in settings.items()]
    with public_folder() as folder, debian_server(folder, *lines) as url:
        target = opened(url)
        with closing(target.connect()) as session:
            session.execute(CREATE.format(item="item"))
            session.execute(FILL["postgresql"].format(item="item"))
            place = session.execute("SELECT current_setting('data_directory')").rows[0][0]
        work(target)
        for form in ("csv", "json"):
            text = (Path(place) / "logs" / f"test.{form}").read_text()
            if "Anweisung: " not in text:
                pytest.skip("this PostgreSQL has no messages in German")
            log = written(tmp_path, text, f"server.{form}")
            for words in (
                ("capture", url, "--from", log),
                ("replay", log, "--target", "null:", "--out", tmp_path / "out"),
            ):
                done = dyno(*words)
                assert done.returncode == 2, done.stderr
                assert "lc_messages = C" in done.stderr


@pytest.mark.long
def test_a_draft_of_mariadbs_counters_and_log_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = server.settings

    def counting(*given: Any) -> dict[str, str]:
        return {**usual(*given), "performance_schema": "ON"}

    monkeypatch.setattr(server, "settings", counting)
    with embedded_mariadb(tmp_path / "server") as target:
        ask(target, "CREATE DATABASE shop")
        ask(target, CREATE.format(item="shop.item"))
        ask(target, FILL["mysql"].format(item="shop.item"))
        ask(target, "TRUNCATE performance_schema.events_statements_summary_by_digest")
        ask(target, "SET GLOBAL general_log_file = 'test.log'")
        ask(target, "SET GLOBAL general_log = 1")
        work(target, "shop.item")
        observe(target)
        ask(target, "SET GLOBAL general_log = 0")
        place = Path(ask(target, "SELECT @@datadir")[0][0], "test.log")
        log = written(tmp_path, place.read_text(), "general.log")
        socket = quote(target.wire()["unix_socket"], safe="")
        url = f"mysql://root@localhost/?unix_socket={socket}"
        for source, stem in (("performance_schema", "counted"), (str(log), "logged")):
            found = captured(url, source, tmp_path / f"{stem}.toml")
            weights = {name: one.weight for name, one in found.transactions.items()}
            assert weights["update_item"] == (40 if stem == "counted" else 32)
            if stem == "counted":
                text = (tmp_path / "counted.toml").read_text().lower()
                assert "unix_timestamp" not in text
                assert "dyno_observer" not in text
        assert len(found.transactions["update_item"].statements) == 2
        lines = [line for line in log.read_text().splitlines() if "dyno_observer" in line]
        assert len(lines) >= 3, "the clock, and the values of the table"
        assert all("/* dyno observer */" in line for line in lines)


def observe(target: MysqlTarget) -> None:
    """Reads the clock, the counters and the values of tables, as during a run."""
    with closing(target.observer()) as session:
        server_time(session)
        read = {("shop", "item"): {"PRIMARY": ("id",)}}
        columns.read(session, read, {"shop.item"})
    inspector = target.inspector()
    inspector.begin()
    inspector.end()
    inspector.close()


def captured(url: str, source: str, file: Path) -> spec.File:
    """Drafts a file, fills in what it leaves open, plans it and runs it."""
    done = dyno("capture", url, "--from", source, "--out", file, cwd=file.parent)
    assert done.returncode == 0, done.stderr
    filled = re.sub(r"(?m)^(value\w*) = {}$", r"\1 = { constant = 'x' }", file.read_text())
    file.write_text(filled)
    shown = dyno("run", file, "--target", "null:", "--dry-run", "--out", file.parent)
    assert shown.returncode == 0, shown.stderr + filled
    brief = ("--users", "2", "--warmup", "100ms", "--duration", "300ms", "--no-criteria")
    ran = dyno("run", file, "--target", url, "--out", file.parent / "other", "--yes", *brief)
    assert ran.returncode in {0, 1}, ran.stderr
    return spec.read(filled, "the draft", file.stem)


@pytest.mark.long
def test_missing_counters_are_named_with_their_remedy(tmp_path: Path) -> None:
    require_mariadb()
    for name, source, remedy in (
        ("postgresql", "pg_stat_statements", "no extension pg_stat_statements"),
        ("mysql", "performance_schema", "performance_schema"),
    ):
        done = dyno("capture", f"embedded:{name}", "--from", source, cwd=tmp_path)
        assert done.returncode == 3, done.stderr
        assert remedy in done.stderr
        no_server_left(tmp_path / "dyno-runs")
