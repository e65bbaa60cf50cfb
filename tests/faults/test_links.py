"""Folders of others hold links where Dyno writes: nothing outside is written or removed."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path

import pytest

from tests.bundles import Builder, quickstart
from tests.process import dyno

MARK = json.dumps({
    "about": "Dyno made the folder beside this file; `dyno clean` removes both.",
    "quickstart": {},
})  # fmt: skip


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    """A file of the reader's, outside of everything that Dyno is given."""
    file = tmp_path / "home" / "precious"
    file.parent.mkdir()
    file.write_text("precious")
    return file


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """Somebody else's bundle."""
    builder = Builder(tmp_path / "theirs" / "20261120T140000Z-ab12")
    builder.machine()
    return builder.write().path


def engine(out: Path, name: str) -> Path:
    """An engine's folder with Dyno's mark."""
    home = out / "engines" / name
    home.mkdir(parents=True)
    (home.parent / f".dyno-{name}").write_text(MARK)
    return home


@pytest.mark.parametrize("name", ["sheet.html", "estimates.json", "findings.json"])
def test_a_report_does_not_write_through_a_link_with_a_guessed_name(
    bundle: Path, precious: Path, name: str
) -> None:
    (bundle / f".{name}.partial").symlink_to(precious)
    done = dyno("report", bundle)
    assert precious.read_text() == "precious"
    assert done.returncode in {0, 1}, done.stderr
    assert (bundle / "sheet.html").stat().st_size > 1000


@pytest.mark.parametrize("name", ["sheet.html", "estimates.json"])
def test_a_report_replaces_no_link(bundle: Path, precious: Path, name: str) -> None:
    (bundle / name).symlink_to(precious)
    done = dyno("report", bundle)
    assert done.returncode == 2, done.stderr
    assert name in done.stderr
    assert precious.read_text() == "precious"
    assert (bundle / name).is_symlink()


def test_a_bundle_that_the_user_names_by_a_link_is_reported(bundle: Path, tmp_path: Path) -> None:
    link = tmp_path / "latest"
    link.symlink_to(bundle)
    assert dyno("report", link).returncode in {0, 1}
    assert (bundle / "sheet.html").exists()


@pytest.mark.parametrize("file_format", ["tbl", "parquet"])
def test_generated_files_are_not_written_through_links(
    tmp_path: Path, precious: Path, file_format: str
) -> None:
    folder = tmp_path / "rows"
    folder.mkdir()
    (folder / f".region.{file_format}.partial").symlink_to(precious)
    command = ("generate", "tpch", "--scale", "0.01", "--format", file_format, "--to", folder)
    done = dyno(*command)
    assert done.returncode == 0, done.stderr
    assert precious.read_text() == "precious"
    region = folder / f"region.{file_format}"
    region.unlink()
    region.symlink_to(precious)
    assert dyno(*command, "--replace").returncode == 2
    assert precious.read_text() == "precious"


@pytest.mark.parametrize("how", ["link", "hard-link", "pipe", "text"])
@pytest.mark.parametrize("verb", ["clean", "load"])
def test_a_lock_that_is_not_dynos_stops_the_work(
    out: Path, precious: Path, how: str, verb: str
) -> None:
    home = engine(out, "duckdb")
    lock = out / ".lock"
    if how == "link":
        lock.symlink_to(precious)
    elif how == "hard-link":
        lock.hardlink_to(precious)
    elif how == "pipe":
        os.mkfifo(lock)
    else:
        lock.write_text("my notes")
    work = ("clean", "--yes") if verb == "clean" else ("run", "tpcc", "--target", "null:")
    done = dyno(*work, "--out", out, timeout=60)
    assert done.returncode == 2, done.stderr
    assert ".lock" in done.stderr
    assert precious.read_text() == "precious"
    assert home.is_dir()
    if how == "text":
        assert lock.read_text() == "my notes"


def test_a_mark_is_not_written_through_a_link(out: Path, precious: Path) -> None:
    (out / "engines").mkdir()
    (out / "engines" / ".dyno-duckdb.partial").symlink_to(precious)
    done = dyno("doctor", "embedded:duckdb", "--out", out)
    assert precious.read_text() == "precious"
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("where", ["engines", "engines/duckdb"])
def test_an_engines_folder_that_is_a_link_is_not_used(
    out: Path, tmp_path: Path, where: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (out / where).parent.mkdir(exist_ok=True)
    (out / where).symlink_to(elsewhere)
    done = dyno("doctor", "embedded:duckdb", "--out", out)
    assert done.returncode in {2, 3}, done.stdout
    assert not list(elsewhere.iterdir())


def test_clean_removes_no_engines_behind_a_link(out: Path, tmp_path: Path) -> None:
    theirs = engine(tmp_path / "theirs", "duckdb")
    (theirs / "data").write_text("theirs")
    (out / "engines").symlink_to(theirs.parent)
    done = dyno("clean", "--yes", "--json", "--out", out)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["left"] == [str(out / "engines")]
    assert (theirs / "data").exists()


@pytest.mark.parametrize("odd", ["other-owner", "link", "text", "list"])
def test_clean_removes_no_engine_whose_mark_is_not_this_users(
    out: Path, precious: Path, odd: str
) -> None:
    home = engine(out, "duckdb")
    mark = home.parent / ".dyno-duckdb"
    if odd == "other-owner":
        if os.geteuid() != 0:
            pytest.skip("root is missing, to give a file away")
        os.chown(mark, 12345, 12345)
    elif odd == "link":
        precious.write_text(MARK)
        mark.unlink()
        mark.symlink_to(precious)
    else:
        mark.write_text({"text": "mine", "list": "[]"}[odd])
    done = dyno("clean", "--yes", "--json", "--out", out)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["removed"] == []
    assert home.is_dir()
    assert str(home) in done.stderr


def test_clean_removes_no_folder_on_a_volume_that_only_seems_dynos(
    out: Path, tmp_path: Path
) -> None:
    home = engine(out, "duckdb")
    victims = [tmp_path / "photos", tmp_path / f"dyno-{hashed(home)}", tmp_path / "dyno-linked"]
    for victim in victims:
        victim.mkdir()
        (victim / "precious").write_text("precious")
    (victims[0] / ".dyno").write_text(f"{home}\n")
    claim = tmp_path / "claim"
    claim.write_text(f"{home}\n")
    (victims[1] / ".dyno").symlink_to(claim)
    linked = tmp_path / "volume" / f"dyno-{hashed(home)}"
    linked.parent.mkdir()
    (victims[2] / ".dyno").write_text(f"{home}\n")
    linked.symlink_to(victims[2])
    (home / "places.json").write_text(json.dumps([str(it) for it in (*victims, linked)]))
    done = dyno("clean", "--yes", "--json", "--out", out)
    assert done.returncode == 0, done.stderr
    assert all((victim / "precious").exists() for victim in victims)
    assert not home.exists()


def hashed(home: Path) -> str:
    return hashlib.sha256(str(home).encode()).hexdigest()[:12]


def test_the_socket_folder_of_another_is_not_removed(out: Path) -> None:
    """``s`` of an engine may be a link to a short path; a copied one points at another's."""
    with tempfile.TemporaryDirectory(prefix="dyno-") as folder:
        theirs = Path(folder)
        (theirs / "precious").write_text("precious")
        home = engine(out, "postgresql")
        (home / "s").symlink_to(theirs)
        done = dyno("doctor", "embedded:postgresql", "--out", out)
        assert done.returncode == 0, done.stderr
        assert (theirs / "precious").exists()


def test_scratch_behind_a_link_is_neither_swept_nor_written(out: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs" / "backup-1"
    theirs.mkdir(parents=True)
    (theirs / "precious").write_text("precious")
    (out / "scratch").symlink_to(theirs.parent)
    for work in (("clean", "--yes"), ("run", "tpcc", "--target", "null:", "--duration", "1s")):
        dyno(*work, "--out", out)
        assert (theirs / "precious").exists(), work


def test_clean_leaves_linked_bundles(out: Path, bundle: Path) -> None:
    (out / "linked").symlink_to(bundle)
    mine = quickstart(out).write().path
    done = dyno("clean", "--runs", "--yes", "--json", "--out", out)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["removed"] == [str(mine)]
    assert document["left"] == [str(out / "linked")]
    assert (bundle / "run.json").exists()
    assert (out / "linked").is_symlink()
    assert "No runs" in dyno("runs", "list", "--out", out).stdout


def test_clean_leaves_what_the_user_put_into_a_bundle(out: Path, precious: Path) -> None:
    bundle = quickstart(out).write().path
    kept = [bundle / name for name in ("notes.txt", "ops/mine.csv", "more/plan.json", "queries")]
    (bundle / "more").mkdir()
    for file in kept:
        file.write_text("mine")
    link = bundle / "sheet.html"
    link.symlink_to(precious)
    done = dyno("clean", "--runs", "--yes", "--json", "--out", out)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    left = [*kept[:2], bundle / "more", kept[3], link]
    assert sorted(document["left"]) == sorted(map(str, left))
    assert all(file.read_text() == "mine" for file in kept)
    assert precious.read_text() == "precious"
    found = {str(file.relative_to(bundle)) for file in bundle.rglob("*")}
    assert found == {"notes.txt", "ops", "ops/mine.csv", "more", "more/plan.json", "queries",
                     "sheet.html"}  # fmt: skip
    assert str(kept[0]) in done.stderr


def test_clean_removes_what_a_kill_left_in_a_bundle(out: Path) -> None:
    bundle = quickstart(out).write().path
    for name in (".reserve", ".sheet.html.0123456789abcdef.partial", ".run.json.partial",
                 "ops/.users-4.parquet.0123456789abcdef.partial", "samples.jsonl"):  # fmt: skip
        (bundle / name).write_text("half")
    assert dyno("clean", "--runs", "--yes", "--out", out).returncode == 0
    assert not bundle.exists()


def test_clean_leaves_another_users_bundle(out: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("root is missing, to give a bundle away")
    bundle = quickstart(out).write().path
    os.chown(bundle / "run.json", 12345, 12345)
    done = dyno("clean", "--runs", "--yes", "--json", "--out", out)
    assert json.loads(done.stdout)["left"] == [str(bundle)]
    assert (bundle / "events.jsonl").exists() or (bundle / "run.json").exists()


def test_clean_makes_nothing_in_a_folder_that_is_not_dynos(tmp_path: Path) -> None:
    theirs = tmp_path / "etc"
    theirs.mkdir()
    (theirs / "passwd").write_text("root")
    for more in ((), ("--runs",)):
        done = dyno("clean", "--yes", *more, "--out", theirs)
        assert done.returncode == 0, done.stderr
        assert [entry.name for entry in theirs.iterdir()] == ["passwd"]
