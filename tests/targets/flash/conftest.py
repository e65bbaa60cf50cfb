"""A PostgreSQL at a URL, and a folder on flash for it."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from dyno import targets
from dyno.contracts import flash
from dyno.contracts.flash import Move, Part, Wanted
from dyno.errors import DynoError
from dyno.targets.postgresql.target import PostgresTarget
from tests.process import document, dyno
from tests.targets.conftest import LIMITS, ask, public_folder
from tests.targets.debian import as_server, debian_server


@dataclass
class Server:
    """A server at a URL.

    Attributes:
        folder: The user's folder on flash.
    """

    url: str
    data: Path
    folder: Path

    @property
    def target(self) -> PostgresTarget:
        target = targets.open_target(targets.parse(self.url), Path("/nowhere"), LIMITS)
        assert isinstance(target, PostgresTarget)
        return target

    def ask(self, *statements: str) -> list[Any]:
        return [ask(self.target, statement) for statement in statements][-1]

    def plan(self, part: Part, *, back: bool = False, **wanted: Any) -> Move:
        folder = "" if back else str(self.folder)
        return flash.planned(
            self.target, Wanted(part, **{"folder": folder, "back": back, **wanted})
        )

    def move(self, part: Part, *, back: bool = False, cut: int = 99, **wanted: Any) -> Move:
        """Moves a part, cut off after some steps; returns what is left to do."""
        found = self.plan(part, back=back, **wanted)
        if found.obstacle is not None:
            raise found.obstacle
        for step in found.steps[:cut]:
            step.run()
        return self.plan(part, back=back, **wanted)

    def refused(self, code: int, part: Part, *, back: bool = False, **wanted: Any) -> str:
        """Why a move is refused, with the exit code."""
        with pytest.raises(DynoError) as error:
            self.move(part, back=back, **wanted)
        assert error.value.exit_code == code, error.value
        assert len(str(error.value).splitlines()) == 1
        return str(error.value)

    def said(self, *words: str, code: int = 0) -> dict[str, Any]:
        """What `dyno accelerate move` says, which ends with ``code``."""
        where = () if "--back" in words else ("--flash", str(self.folder))
        done = dyno("accelerate", "move", words[0], self.url, *where, *words[1:], "--json")
        assert done.returncode == code, done.stderr
        return document(done) if done.stdout else {"error": done.stderr}

    def session(self, role: str, **parameters: str) -> psycopg.Connection[Any]:
        url = re.sub(r"user=[^&]*", f"user={role}", self.url)
        return psycopg.connect(url, autocommit=True, **parameters)

    def state(self) -> dict[str, Any]:
        """What a move may change, as new sessions and the files have it."""
        spaces = (
            "SELECT spcname, pg_tablespace_location(oid), spcacl::text, "
            "shobj_description(oid, 'pg_tablespace') FROM pg_tablespace ORDER BY 1"
        )
        homes = "SELECT datname, dattablespace FROM pg_database ORDER BY 1"
        auto = (self.data / "postgresql.auto.conf").read_text()
        return {
            "spaces": self.ask(spaces),
            "homes": self.ask(homes),
            "shown": self.ask("SHOW temp_tablespaces"),
            "written": [line for line in auto.splitlines() if "temp_tablespaces" in line],
            "folders": sorted(path.name for path in self.folder.iterdir()),
        }

    def control(self, *words: str) -> str:
        """A command of pg_ctl, for a shell."""
        program = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))[-1]
        log = str(self.data / "log")
        return shlex.join([*as_server(), str(program), "-D", str(self.data), "-w", "-s", "-l", log,
                           *words])  # fmt: skip


@pytest.fixture(scope="session")
def debian() -> Iterator[Server]:
    with public_folder() as folder, debian_server(folder) as url:
        yield Server(url, folder / "debian", folder / "flash")


@pytest.fixture
def server(debian: Server) -> Iterator[Server]:
    """The server, whose state must be the same after the test as before it."""
    debian.folder.mkdir()
    debian.ask("CREATE ROLE clerk LOGIN")
    before = debian.state()
    yield debian
    debian.ask("DROP OWNED BY clerk", "DROP ROLE clerk")
    try:
        assert debian.state() == before
    finally:
        shutil.rmtree(debian.folder)
