"""Bundles as files: what is packed, and archives of others that are opened."""

from __future__ import annotations

import gzip
import io
import json
import os
import stat
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bundles import Builder, quickstart
from tests.process import document, dyno

NAME = "20261120T140000Z-ab12"


@pytest.fixture
def bundle(out: Path) -> Path:
    """A small one."""
    return Builder(out / NAME).machine().write().path


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary folders are made."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return folder


def left(temporary: Path) -> list[Path]:
    """What Dyno has left there; the processes that tests fork have a folder of their own."""
    return [entry for entry in temporary.iterdir() if not entry.name.startswith("pymp-")]


def archive_of(bundle: Path) -> Path:
    to = bundle.parent.parent / "run.tar.gz"
    done = dyno("runs", "export", bundle, "--to", to)
    assert done.returncode == 0, done.stderr
    return to


def test_an_archive_is_reported_like_its_bundle(out: Path, temporary: Path) -> None:
    bundle = quickstart(out, NAME).write().path
    archive = archive_of(bundle)
    mine, theirs = (dyno("report", it, "--json") for it in (bundle, archive))
    assert theirs.returncode == mine.returncode, theirs.stderr
    first, second = document(mine), document(theirs)
    report = archive.with_name("run.sheet.html")
    assert second["sheet"] == str(report)
    assert second["bundle"] == str(archive)
    assert {**first, "sheet": "", "bundle": ""} == {**second, "sheet": "", "bundle": ""}
    assert report.stat().st_size > 1000
    assert not left(temporary)
    assert {entry.name for entry in archive.parent.iterdir()} >= {"run.tar.gz", "run.sheet.html"}


def test_an_archive_is_shown_and_compared(out: Path, temporary: Path) -> None:
    archive = archive_of(quickstart(out, NAME).write().path)
    shown = dyno("runs", "show", archive, "--json")
    assert document(shown)["bundle"] == str(archive)
    other = quickstart(out, "20261120T150000Z-ab12").write().path
    compared = dyno("compare", other, archive, "--json")
    assert document(compared)["bundle"] == str(archive), compared.stderr
    assert dyno("compare", archive, archive).returncode == 2
    assert not left(temporary)


def test_only_files_that_dyno_wrote_are_packed(bundle: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    (bundle / "queries.jsonl").symlink_to(secret)
    (bundle / "plans").symlink_to(tmp_path)
    (bundle / "notes.txt").write_text("mine")
    os.mkfifo(bundle / "during.jsonl")
    to = tmp_path / "run.tar.gz"
    done = dyno("runs", "export", bundle, "--to", to, "--json")
    assert done.returncode == 0, done.stderr
    odd = {"queries.jsonl", "plans", "notes.txt", "during.jsonl"}
    assert set(document(done)["left"]) == {str(bundle / name) for name in odd}
    assert all(name in done.stderr for name in odd)
    with tarfile.open(to) as packed:
        members = packed.getmembers()
    assert all(member.isreg() for member in members)
    names = {member.name for member in members}
    assert f"{NAME}/run.json" in names
    assert not any(name.endswith(tuple(odd)) for name in names)


@pytest.mark.parametrize("what", ["device", "pipe", "link", "folder"])
def test_an_export_replaces_only_regular_files(bundle: Path, tmp_path: Path, what: str) -> None:
    to = tmp_path / "to"
    precious = tmp_path / "precious"
    precious.write_text("precious")
    if what == "device":
        if os.geteuid() != 0:
            pytest.skip("root is missing, to make a device")
        os.mknod(to, 0o20666, os.makedev(1, 7))  # /dev/full
    elif what == "pipe":
        os.mkfifo(to)
    elif what == "link":
        to.symlink_to(precious)
    else:
        to.mkdir()
    before = to.lstat()
    done = dyno("runs", "export", bundle, "--to", to, "--yes", timeout=60)
    assert done.returncode == 2, done.stderr
    assert (to.lstat().st_ino, to.lstat().st_mode) == (before.st_ino, before.st_mode)
    assert precious.read_text() == "precious"


@pytest.mark.parametrize("run", ["../../../evil", "/etc/evil", "..", "", "a/b", "a\nb", "x" * 999])
@pytest.mark.parametrize("verb", ["report", "export", "show"])
def test_a_run_id_is_a_name(bundle: Path, tmp_path: Path, run: str, verb: str) -> None:
    head = bundle / "run.json"
    head.write_text(json.dumps({**json.loads(head.read_text()), "run": run}))
    to = tmp_path / "run.tar.gz"
    work = {
        "report": ("report", bundle),
        "export": ("runs", "export", bundle, "--to", to),
        "show": ("runs", "show", bundle),
    }[verb]
    done = dyno(*work)
    assert done.returncode == 2, done.stdout
    assert not to.exists()


Members = list[tuple[tarfile.TarInfo, bytes]]


def member(name: str, content: bytes = b"", **fields: object) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for key, value in fields.items():
        setattr(info, key, value)
    return info, content


def special(name: str, kind: bytes, target: str = "") -> tuple[tarfile.TarInfo, bytes]:
    return member(name, type=kind, linkname=target, devmajor=1, devminor=7)


def zeros(size: int) -> bytes:
    return bytes(size)


HOSTILE: dict[str, Callable[[], Members]] = {
    "traversal": lambda: [member(f"{NAME}/../../evil", b"evil")],
    "traversal-inside": lambda: [member(f"{NAME}/ops/../../../evil", b"evil")],
    "absolute": lambda: [member("/tmp/evil", b"evil")],
    "other-top": lambda: [member("other/samples.jsonl", b"evil")],
    "no-top": lambda: [member("samples.jsonl", b"evil")],
    "unknown-name": lambda: [member(f"{NAME}/evil.sh", b"evil")],
    "hidden": lambda: [member(f"{NAME}/ops/.evil.jsonl", b"evil")],
    "link": lambda: [special(f"{NAME}/samples.jsonl", tarfile.SYMTYPE, "/etc/passwd")],
    "link-then-file": lambda: [
        special(f"{NAME}/ops", tarfile.SYMTYPE, "/tmp"),
        member(f"{NAME}/ops/evil.jsonl", b"evil"),
    ],
    "hard-link": lambda: [special(f"{NAME}/samples.jsonl", tarfile.LNKTYPE, "/etc/passwd")],
    "device": lambda: [special(f"{NAME}/samples.jsonl", tarfile.CHRTYPE)],
    "pipe": lambda: [special(f"{NAME}/samples.jsonl", tarfile.FIFOTYPE)],
    "duplicate": lambda: [member(f"{NAME}/samples.jsonl"), member(f"{NAME}/samples.jsonl")],
    "file-as-folder": lambda: [
        member(f"{NAME}/plans/a/b.json", b"{}"), member(f"{NAME}/plans/a", b"{}"),
    ],
    "many": lambda: [member(f"{NAME}/ops/u{number}.jsonl") for number in range(20_000)],
    "bomb": lambda: [member(f"{NAME}/samples.jsonl", zeros(300 << 20))],
    "bomb-in-parts": lambda: [
        member(f"{NAME}/ops/u{number}.jsonl", zeros(16 << 20)) for number in range(20)
    ],
    "header-bomb": lambda: [member("x" * 999, zeros(300 << 20), type=tarfile.GNUTYPE_LONGNAME)],
    "pax-bomb": lambda: [member("x", zeros(300 << 20), type=tarfile.XHDTYPE)],
    "negative": lambda: [member(f"{NAME}/samples.jsonl", size=-512)],
    "no-head": lambda: [member(f"{NAME}/samples.jsonl", b"{}\n")],
}  # fmt: skip


def packed(members: Members, head: bytes | None) -> bytes:
    """An archive, written header for header as no library would."""
    made = io.BytesIO()
    with gzip.GzipFile(fileobj=made, mode="wb", compresslevel=1) as file:
        every = [*([] if head is None else [member(f"{NAME}/run.json", head)]), *members]
        for info, content in every:
            file.write(info.tobuf(tarfile.GNU_FORMAT))
            file.write(content)
            file.write(bytes(-len(content) % 512))
        file.write(bytes(1024))
    return made.getvalue()


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_archive_is_refused(bundle: Path, temporary: Path, kind: str) -> None:
    head = None if kind == "no-head" else (bundle / "run.json").read_bytes()
    archive = bundle.parent.parent / "evil.tar.gz"
    archive.write_bytes(packed(HOSTILE[kind](), head))
    before = {str(path) for path in archive.parent.rglob("*")}
    done = dyno("report", archive, timeout=120)
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert "evil.tar.gz" in done.stderr
    assert "Traceback" not in done.stderr
    assert {str(path) for path in archive.parent.rglob("*")} == before
    assert not left(temporary)


@pytest.mark.parametrize("kind", ["cut", "cut-tar", "text", "zip", "empty", "junk-inside", "torn"])
def test_a_damaged_archive_is_refused(bundle: Path, temporary: Path, kind: str) -> None:
    archive = archive_of(bundle)
    content = archive.read_bytes()
    middle = len(content) // 2
    plain = gzip.decompress(content)
    damaged = {
        "cut": content[: len(content) // 2],
        "cut-tar": gzip.compress(plain[: len(plain) // 2]),
        "text": b"no archive",
        "zip": b"PK\x03\x04" + bytes(100),
        "empty": b"",
        "junk-inside": gzip.compress(os.urandom(5000)),
        "torn": content[:middle] + bytes(50) + content[middle + 50 :],
    }[kind]
    archive.write_bytes(damaged)
    done = dyno("report", archive)
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert "run.tar.gz" in done.stderr
    assert not left(temporary)


def test_an_archive_of_tar_itself_is_opened(bundle: Path, tmp_path: Path, temporary: Path) -> None:
    """Of somebody who packed the folder with ``tar``, folders and all."""
    archive = tmp_path / "by-hand.tgz"
    with tarfile.open(archive, "w:gz") as file:
        file.add(bundle, arcname=f"./{NAME}")
    done = dyno("report", archive)
    assert done.returncode in {0, 1}, done.stderr
    assert (tmp_path / "by-hand.sheet.html").exists()
    assert not left(temporary)


def test_an_archive_is_private_while_it_is_open(bundle: Path) -> None:
    from dyno.bundle import archive

    with archive.opened(archive_of(bundle)) as found:
        assert stat.S_IMODE(found.path.parent.stat().st_mode) == 0o700
        path = found.path
    assert not path.parent.exists()
