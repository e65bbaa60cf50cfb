"""A study's folder that came from somebody else names folders outside: they stay."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dyno.errors import UsageError
from dyno.studies.schedule import schedule
from dyno.studies.store import StudyStore
from tests.process import dyno
from tests.studies import books


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A folder of somebody else's."""
    folder = tmp_path / "theirs"
    (folder / "engines").mkdir(parents=True)
    for place in (folder, folder / "engines"):
        (place / "precious").write_text("precious")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A study's."""
    study = books.study()
    slots = schedule([one.name for one in study.variants], study.pairs, 1)
    return StudyStore.begin(tmp_path / "study", study, slots).folder


def clean(folder: Path) -> None:
    done = dyno("study", "clean", folder, "--yes")
    assert done.returncode in {0, 2}, done.stderr


def test_what_only_a_register_names_stays(folder: Path, theirs: Path) -> None:
    kept = folder / "data-1" / "saved-engines"
    (kept / "engines" / "duckdb").mkdir(parents=True)
    (kept / "places.json").write_text(json.dumps([str(theirs)]))
    clean(folder)
    assert (theirs / "precious").exists()
    assert not kept.exists()


@pytest.mark.parametrize("link", ["data-1", "data-1/engines", "data-1/saved-engines"])
def test_what_lies_behind_a_link_stays(folder: Path, theirs: Path, link: str) -> None:
    (theirs / "saved-engines" / "engines" / "engines").mkdir(parents=True)
    (theirs / "saved-engines" / "places.json").write_text("[]")
    (folder / link).parent.mkdir(exist_ok=True)
    (folder / link).symlink_to(theirs)
    clean(folder)
    assert (theirs / "precious").exists()
    assert (theirs / "engines" / "precious").exists()
    assert (theirs / "saved-engines" / "places.json").exists()
    assert not (theirs / ".lock").exists()


def test_a_journal_is_not_written_through_a_link(folder: Path, theirs: Path) -> None:
    (folder / "notes.jsonl").symlink_to(theirs / "precious")
    (theirs / "precious").write_text("")
    with pytest.raises(UsageError, match="link"):
        StudyStore.open(folder).begin_session()
    assert (theirs / "precious").read_text() == ""
