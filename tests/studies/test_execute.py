"""Studies as they run: processes, the book, kills, variants that fail."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from dyno.bundle.reader import Bundle
from dyno.errors import TargetError
from dyno.plans.loading import LoadingPlan
from dyno.plans.run import RunPlan
from dyno.studies import child, runs, spec
from dyno.studies.datasets import Datasets
from dyno.studies.ending import ending
from dyno.studies.execute import Work
from dyno.studies.forecast import forecast
from dyno.studies.model import Variant
from dyno.studies.schedule import Slot, schedule
from dyno.studies.store import Entry, StudyStore
from dyno.workspace.lock import OutLock
from tests.process import (
    document,
    dyno,
    end,
    no_server_left,
    servers,
    start,
    wait_for_phase,
    wait_until,
)

TOML = """
pairs = 2
headline = ["tps"]
exploratory = ["p95_ms"]
replace = 1

[base]
workload = "tpcc"
target = "null:?mean_us=500"

[base.run]
users = 2
warmup = "100ms"
duration = "300ms"
no_criteria = true

[[variants]]
name = "slow"
target = "null:?mean_us=5000"
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(TOML)
    return path


def begun(folder: Path, before: int = 0) -> Callable[[], bool]:
    """Whether more runs than ``before`` have got as far as their transactions."""
    return lambda: len(list(folder.glob("data-1/*/ops/*"))) > before


@pytest.mark.long
def test_a_study_is_stopped_and_killed_and_goes_on(study: Path, out: Path) -> None:
    study.write_text('criteria = ["tps > 500"]\n' + TOML)
    folder = out / "studies" / "mine"
    first = start("study", study, "--out", out)
    wait_until(begun(folder), "a run")
    first.send_signal(signal.SIGINT)
    code, _, errors = end(first)
    assert code == 130
    assert "dyno: Interrupted. 0 of 4 runs are in " in errors
    assert f"Resume: `dyno study --resume {folder}`." in errors
    assert ending(StudyStore.open(folder)).kind == "interrupted"
    with OutLock(folder):
        beside = dyno("study", study, "--resume", "--out", out)
    assert beside.returncode == 2, "two at once"
    assert f"A study is running in {folder}; wait for it" in beside.stderr

    def resumed(condition: Callable[[], object]) -> None:
        process = start("study", study, "--resume", "--out", out)
        wait_until(condition, "the next run")
        process.kill()
        end(process)

    resumed(begun(folder, 1))  # inside a run
    ended = len(StudyStore.open(folder).entries())  # none, but where the kill came late
    resumed(
        lambda: len(StudyStore.open(folder).entries()) > ended
    )  # between two, or about to be written
    cut_off = dyno("study", "show", folder).stdout
    assert "! Cut off: its process was killed" in cut_off
    before = StudyStore.open(folder).entries()
    assert len(before) > ended
    with (folder / "runs.jsonl").open("a") as journal:
        journal.write('{"place": 3, "attem')

    again = dyno("study", study, "--out", out)
    assert again.returncode == 2
    assert "Use --resume" in again.stderr
    other = dyno("study", study, "--resume", "--pairs", "3", "--out", out)
    assert other.returncode == 2
    assert "differs: pairs 2, now 3. Resume it unchanged" in other.stderr

    more = dyno("study", "--resume", folder, "--pairs", "3")
    assert more.returncode == 2
    assert "only --time-limit and --no-early-stop may differ" in more.stderr

    done = dyno("study", "--resume", folder, "--json")
    assert done.returncode == 1, "slow broke its criterion"
    made = document(done)
    assert [run["place"] for run in made["runs"]] == [0, 1, 2, 3]
    assert made["runs"][: len(before)] == [json.loads(one.model_dump_json()) for one in before]
    assert all((folder / run["bundle"] / "run.json").exists() for run in made["runs"])
    assert (folder / made["runs"][-1]["bundle"] / "run.json").stat().st_mode & 0o044 == 0o044
    (found,) = [one for one in made["outcome"]["comparisons"] if one["metric"] == "tps"]
    assert (found["variant"], found["pairs"]) == ("slow", 2)
    assert found["percent"] < -50
    page = Path(made["page"])
    assert page == folder / "study.html"
    text = page.read_text("utf-8")
    assert all(f'href="./{run["bundle"]}/sheet.html"' in text for run in made["runs"])
    assert 'id="machine"' in text
    page.unlink()
    shown = dyno("study", "show", folder)
    assert "slow: tps -" in shown.stdout
    assert page.exists()
    lines = shown.stdout.splitlines()
    assert lines[-1] == f"Page: {page}"
    assert all(len(line) <= 80 for line in [*lines[:-1], *done.stderr.splitlines()])
    assert made["outcome"]["disqualified"]["slow"].startswith("tps > 500 failed: tps ")
    assert [run["broken"] == [] for run in made["runs"]] == [
        run["variant"] == "base" for run in made["runs"]
    ]
    notes = [note.kind for note in StudyStore.open(folder).notes()]
    assert notes == ["begun", "ended"] * 4
    assert " left]" in done.stderr
    _its_last_line_is_lost(folder)


def _its_last_line_is_lost(folder: Path) -> None:
    """As if the study was killed when its last run had ended, before it could write that down."""
    book = StudyStore.open(folder)
    *before, last = book.entries()
    journal = folder / "runs.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[:-1]) + lines[-1][:40])
    head = folder / str(last.bundle) / "run.json"
    whole = head.read_text()
    for status in ("interrupted", "running", "failed"):
        head.write_text(whole.replace('"status": "done"', f'"status": "{status}"'))
        assert runs.adopted(book) is None, "it is not finished"
    head.write_text(whole)
    begun_run = book.begun_run()
    assert begun_run is not None
    for other in ({"started": begun_run.started + 60}, {"words": ("run", "tpcc")}):
        book.begin_run(begun_run.model_copy(update=other))
        assert runs.adopted(book) is None, "it is another"
    book.begin_run(begun_run.model_copy(update={"started": begun_run.started - 3 * 24 * 3600}))
    adopted = runs.adopted(book)  # the wall clock was set in between
    assert adopted is not None
    assert 0 < adopted.ended - adopted.started <= last.ended - last.started
    book.begin_run(begun_run)
    bundles = sorted(folder.glob("data-1/*/run.json"))

    done = dyno("study", "--resume", folder, "--json", cwd=folder)
    assert f"Resuming in {Path.cwd()}, where it started." in done.stderr
    again = StudyStore.open(folder).entries()
    assert "it completed before the study was killed" in " ".join(done.stderr.split())
    assert sorted(folder.glob("data-1/*/run.json")) == bundles, "nothing was run again"
    assert again[:-1] == before
    same = {"started": 0.0, "ended": 0.0}
    assert again[-1].model_copy(update=same) == last.model_copy(update=same)
    assert again[-1].ended - again[-1].started <= last.ended - last.started
    assert runs.adopted(book) is None


@pytest.mark.long
def test_a_load_and_a_restore_that_are_cut_off_are_made_again(study: Path, out: Path) -> None:
    study.write_text(
        'time_limit = "1ms"\nreplace = 0\nheadline = ["total_s"]\nreset = "reload"\n[base]\n'
        'workload = "tpch"\ntarget = "embedded:duckdb"\nscale = 0.01\n'
        '[factors]\n"settings.parallelism" = [1, 2]\n'
    )
    folder = out / "studies" / "mine"
    first = start("study", study, "--out", out)
    wait_for_phase(first, folder / "data-1", "load-tpch")
    first.kill()
    end(first)

    second = start("study", "--resume", folder)
    wait_until(lambda: "restore" in kinds(folder), "the first run's data")
    kept = max((folder / "data-1" / "saved-engines").rglob("*.*"), key=lambda at: at.stat().st_size)
    there = folder / "data-1" / kept.relative_to(kept.parents[2])
    with unreadable(kept):
        wait_until(lambda: not there.exists(), "the next run's data to be put back")
        second.kill()
        end(second)
        assert [entry.place for entry in StudyStore.open(folder).entries()] == [0]
        torn = there.parent / "torn"
        torn.parent.mkdir(parents=True, exist_ok=True)
        torn.touch()
        third = start("study", "--resume", folder)
        wait_until(lambda: not torn.exists(), "it to be put back again")
        third.send_signal(signal.SIGINT)
        code, _, errors = end(third)
    assert code == 130
    # On a busy machine the signal may come so late that the run it meets is whole.
    made = len(StudyStore.open(folder).entries())
    assert f"{made} of 10 runs are in {folder}. Resume: `dyno study --resume {folder}`." in errors
    assert made in {1, 2}
    assert made == 2 or not there.exists()

    done = dyno("study", "--resume", folder)
    assert done.returncode in {0, 1}, done.stderr
    entries = StudyStore.open(folder).entries()
    assert [(entry.place, entry.attempt) for entry in entries] == [(0, 1), (1, 1)]
    assert all(entry.code in {0, 1} and entry.figures for entry in entries)
    assert not any({"wrong-answers", "incomplete"} & set(entry.codes) for entry in entries)
    third_on = ("begun", "ended", "begun", "restore", "ended")
    whole = ("begun", "restore", "ended", "begun", "ended")
    assert kinds(folder) == [
        *("begun", "ended", "begun", "load", "keep", "restore", "ended"),
        *(third_on if made == 1 else whole),
    ]
    assert "Ended: the time limit was reached." in done.stderr
    said = " ".join(done.stdout.split())
    assert (
        f"! The time limit was reached. 2 of 10 runs are in {folder}. Resume: `dyno study " in said
    )
    assert "Its data (" in said
    assert json.loads(dyno("study", "clean", folder, "--yes", "--json").stdout)["bytes"] > 1e6
    assert not there.parent.parent.exists()
    assert not kept.exists()
    assert json.loads((folder / "loaded.json").read_text()) == {}, "it would be loaded again"


def kinds(folder: Path) -> list[str]:
    """The journal of a study, without its runs."""
    return [note.kind for note in StudyStore.open(folder).notes()] if folder.exists() else []


@contextlib.contextmanager
def unreadable(file: Path) -> Generator[None]:
    """Whoever reads the file waits for ever: a pipe to which nobody writes stands in its place."""
    aside = file.rename(file.with_name("aside"))
    os.mkfifo(file)
    yield
    file.unlink()
    aside.rename(file)


@pytest.mark.long
def test_a_server_that_crashes_is_one_run_lost(study: Path, out: Path) -> None:
    study.write_text(
        'time_limit = "1ms"\n'
        + TOML.replace('target = "null:?mean_us=5000"', '"run.users" = 1')
        .replace('"null:?mean_us=500"', '"embedded:postgresql"\nscale = 1')
        .replace('300ms"', '1s"')
    )
    folder = out / "studies" / "mine"
    process = start("study", study, "--out", out)
    wait_until(lambda: begun(folder)() or process.poll() is not None, "a run")
    for server in servers(folder):
        if server.name() == "postgres" and server.parent().name() != "postgres":  # type: ignore[union-attr]
            server.kill()
    code, _, errors = end(process)
    assert code in {0, 1}, errors
    made = StudyStore.open(folder).entries()
    assert made[0].code == 3
    # If the kill hits while a session opens, the error of that session comes first.
    causes = ("PostgreSQL was killed (signal 9)", "The server closed the connection")
    assert made[0].reasons[0].startswith(causes)
    assert [(entry.place, entry.attempt) for entry in made[1:]] == [(0, 2), (1, 1)]
    assert all(entry.code in {0, 1} and entry.figures for entry in made[1:])
    assert any(f"INVALID ({words[:21]}" in errors for words in causes)
    no_server_left(folder)


@pytest.mark.long
def test_variants_that_fail_are_left_out(study: Path, out: Path) -> None:
    nowhere = "sqlite:////no/such/folder/x.db"
    study.write_text(
        TOML.replace("null:?mean_us=5000", nowhere)
        + f'[[variants]]\nname = "lost"\ntarget = "{nowhere}2"\nscale = 1\n'
    )
    done = dyno("study", study, "--json", "--out", out)
    assert done.returncode == 1
    made = document(done)
    assert made["outcome"]["disqualified"]["slow"].startswith("no valid run: ")
    assert made["outcome"]["disqualified"]["lost"].startswith("The data of 'lost' cannot be made:")
    assert "Ended: nothing is left to compare with 'base'." in done.stderr
    assert not any(run["variant"] == "lost" for run in made["runs"])
    assert done.stderr.count("is dropped") == 2
    assert set(StudyStore.open(out / "studies" / "mine").dropped()) == {"slow", "lost"}
    again = dyno("study", study, "--resume", "--json", "--out", out)
    assert document(again)["runs"] == made["runs"], "nothing is tried again"


@pytest.mark.parametrize(
    ("code", "runs", "ended"),
    [
        ("background-load", 5, "all runs made"),
        ("disturbed", 5, "all runs made"),  # the code of earlier versions
        ("client-bound", 3, "nothing is left to compare with 'base'"),
    ],
)
def test_a_machine_that_was_disturbed_is_no_fault_of_a_variant(
    study: Path, out: Path, monkeypatch: pytest.MonkeyPatch, code: str, runs: int, ended: str
) -> None:
    asked = spec.read(str(study))
    slots = schedule([one.name for one in asked.variants], asked.pairs, 1)
    book = StudyStore.begin(out / "studies" / "mine", asked, slots)

    def run(_work: Work, slot: Slot, attempt: int, variant: Variant, _out: Path) -> Entry:
        good = variant.name == "base"
        return Entry(
            place=slot.place, attempt=attempt, variant=variant.name, pair=slot.pair, bundle="b",
            code=0 if good else 1, verdict="valid" if good else "invalid",
            reasons=() if good else ("why",),
            codes=() if good else (code,), figures={"tps": 1.0}, started=1.0, ended=2.0,
        )  # fmt: skip

    monkeypatch.setattr(Work, "_run", run)
    assert Work(book, print, forecast(asked, slots, [], out)).run() == ended
    assert len(book.entries()) == runs
    assert set(book.dropped()) == ({"slow"} if code == "client-bound" else set())


def test_another_data_set_takes_the_place_of_the_last(
    study: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server has one database of a workload; private engines have a folder for each data set."""
    loads: list[str] = []
    codes = [0, 0, 3, 0, 0]

    def load(plan: LoadingPlan) -> child.Ended:
        loads.append(f"{plan.scale:g}")
        disturbed = {"reasons": [{"code": "disturbed", "message": "Other work"}], "valid": False}
        return child.Ended(codes.pop(0), disturbed, words="no space")

    monkeypatch.setattr(child, "dyno", load)
    text = TOML.replace("null:?mean_us=500", "postgresql://h/d").replace("run]", "run]\n", 1)
    text = 'reset = "nothing"\n' + text.split("[[variants]]")[0]
    study.write_text(text + "[factors]\nscale = [1, 2]\n")
    asked = spec.read(str(study))
    book = StudyStore.begin(out / "studies" / "mine", asked, [])
    stock = Datasets(book, print)
    one, two = asked.variants
    stock.ready(one)
    stock.ready(one)
    stock.ready(two)
    with pytest.raises(TargetError, match="The data of 'scale=1' cannot be made: no space"):
        stock.ready(one)
    Datasets(book, print).ready(two)  # the load that failed has left nothing
    assert loads == ["1", "2", "1", "2"]

    # One load a run is enough, also where another one's data is there.
    loads.clear()
    codes[:] = [0, 0, 0]
    fresh = asked.model_copy(update={"reset": "reload"})
    stock = Datasets(StudyStore.begin(out / "studies" / "fresh", fresh, []), print)
    for variant in (one, two, two):
        stock.reset(variant, stock.ready(variant))
    assert loads == ["1", "2", "2"]

    loads.clear()
    codes[:] = [0, 0]
    text = study.read_text().replace("postgresql://h/d", "embedded:sqlite")
    study.write_text(text.replace("nothing", "restart"))
    private = spec.read(str(study))
    stock = Datasets(StudyStore.begin(out / "studies" / "private", private, []), print)
    for variant in (*private.variants, *private.variants):
        stock.ready(variant)
    assert loads == ["1", "2"]


@pytest.mark.long
def test_files_of_the_users_folder_are_no_modules_of_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a run that crashed has not done its work, whatever its exit code."""
    (tmp_path / "enum.py").write_text("raise SystemExit(1)\n")
    monkeypatch.chdir(tmp_path)
    asked = {"workload": "tpcc", "target": "null:", "users": (1,), "out": tmp_path / "o"}
    ended = child.dyno(RunPlan(**asked, duration="200ms", warmup="0s"))
    assert ended.usable, ended.words
    assert not child.Ended(1, {}, "Traceback").usable


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("users = 2", "user = 2", "unknown option run.user. Did you mean 'users'"),
        ('name = "slow"', 'name = "slow"\n"run.users" = 0', "'slow': Invalid value for '--users'"),
        ('name = "slow"', 'name = "slow"\n"settings.memori" = "1GB"', "Did you mean 'memory'"),
    ],
)
def test_wrong_use(study: Path, out: Path, old: str, new: str, words: str) -> None:
    study.write_text(TOML.replace(old, new))
    done = dyno("study", study, "--out", out)
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not (out / "studies").exists()


def test_the_plan_is_printed(study: Path) -> None:
    printed = dyno("study", "plan", study).stdout
    assert "4 runs, 2 of each of 2 variants" in printed
    assert "Order: " in printed
    assert "Duration: about " in printed
    changed = ("--with", "run.users=3", "--pairs", "6", "--margin", "20")
    longer = dyno("study", study, "--dry-run", *changed).stdout
    assert "12 runs, 6 of each of 2 variants" in longer
    assert longer.count("--users 3") == 2
    assert all(len(line) <= 80 for line in longer.splitlines())
    fixed = dyno("study", "plan", study, "--target", "null:")
    assert fixed.returncode == 2
    assert "target is what the variants differ in" in fixed.stderr
    listed = dyno("study", "list").stdout
    assert "scale-volumes-and-users  Do " in listed  # the longest name is apart as well
    assert all(len(line) <= 80 for line in listed.splitlines())


@pytest.mark.long
def test_all_runs_have_the_same_defaults(study: Path, out: Path) -> None:
    # The second data set is made when the first has taken some of the free space.
    study.write_text(
        TOML.replace('target = "null:?mean_us=5000"', "scale = 2").replace(
            '"null:?mean_us=500"', '"embedded:postgresql"\nscale = 1'
        )
    )
    folder = out / "studies" / "mine"
    done = dyno("study", study, "--quiet", "--out", out)
    assert done.returncode in {0, 1}, done.stderr
    bundles = [
        Bundle.open(folder / str(entry.bundle)) for entry in StudyStore.open(folder).entries()
    ]
    facts = [facts for bundle in bundles for facts in bundle.run.targets.values()]
    assert len(facts) >= 4
    assert len({one.settings["max_wal_size"] for one in facts}) == 1
    assert len({one.settings["min_wal_size"] for one in facts}) == 1
