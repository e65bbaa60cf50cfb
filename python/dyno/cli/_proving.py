"""``dyno advise --prove``: shows the study of the advice, asks, runs it and shows the proofs."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dyno.errors import Interrupted, UsageError

if TYPE_CHECKING:
    from dyno.bundle.model import Run
    from dyno.cli._advice import Advice
    from dyno.cli._options import Options
    from dyno.runner.proving import Test
    from dyno.studies.model import Study
    from dyno.studies.proofs import Basis

_URL = re.compile(r"[a-z][a-z0-9+.-]*:\S*")


def is_url(subject: str) -> bool:
    """Whether a subject is the URL of a target; else it is a run."""
    return bool(_URL.fullmatch(subject)) and not Path(subject).exists()


def known(found: Sequence[Advice], subject: str | None, options: Options) -> list[Advice]:
    """Advice with the proofs that studies under ``--out`` have found already."""
    try:
        basis = _basis(found, subject, options)
    except UsageError:
        return list(found)  # no study can repeat what ran
    return _with_proofs(found, basis, options)


def prove(
    found: Sequence[Advice],
    subject: str | None,
    pairs: int,
    time_limit: str | None,
    options: Options,
) -> int:
    """Shows or runs the study that tests the advice; returns the exit code.

    Raises:
        UsageError: If no study can repeat what ran.
        DynoError: If the study fails.
        Interrupted: If the user stops it; what is proven by then is shown.
    """
    from dyno.cli import _advice
    from dyno.runner import proving

    basis = _basis(found, subject, options)
    found = _with_proofs(found, basis, options)
    asked = _unanswered(found, basis, options)
    test = proving.test_of(basis, asked, options.out, pairs=pairs, time_limit=time_limit)
    if test.study is None or not options.yes:
        more = {"plan": _plan(test.study, options), "left_out": dict(test.left_out)}
        code = _advice.show(found, as_json=options.as_json, more=more)
        if options.as_json:
            return code
        _announce(test, bool(asked))
        if test.study is None or not _agreed(test.study, options, subject, pairs, time_limit):
            return code
    try:
        _run(test.study, test.resume, options)
    except Interrupted:
        _advice.show(_with_proofs(found, basis, options), as_json=options.as_json)
        raise
    left = {"left_out": dict(test.left_out)}
    return _advice.show(_with_proofs(found, basis, options), as_json=options.as_json, more=left)


def _run(study: Study, resume: bool, options: Options) -> None:
    from dyno.cli._console import Console
    from dyno.cli._study_live import shown
    from dyno.runner import study as work
    from dyno.runner import study_page
    from dyno.studies.analysis import outcome

    folder, console = work.folder_of(study, options.out), Console(quiet=options.quiet)
    with shown(folder, console, options):
        book = work.conduct(study, folder, options.out, console, resume=resume)
    study_page.write(book, outcome(book))


def _basis(found: Sequence[Advice], subject: str | None, options: Options) -> Basis:
    from dyno.cli._bundles import named
    from dyno.runner import basis, proving

    if subject is not None and not is_url(subject):
        with named(options.out, subject) as bundle:
            return basis.basis(bundle.run)
    run: Run | None = None
    for one in found:
        if one.system.database is not None:
            run = proving.newest(options.out, one.system.database.address)
            break
    if run is None:
        raise UsageError("--prove needs a database to test the advice on: name a RUN or a TARGET.")
    return basis.basis(run)


def _own(one: Advice, basis: Basis) -> bool:
    """Whether the basis is a run of this database."""
    database = one.system.database
    return database is not None and database.address.replace(":***@", "@") == basis.base.target


def _changes(one: Advice, options: Options, *, write: bool) -> dict[str, Mapping[str, str]]:
    """Changes by the name of the variant, with layouts as files."""
    from dyno.runner import proving

    return {
        variant.name: changes
        for section in one.sections.values()
        for variant in section.variants
        if (changes := proving.filed(variant.changes, options.out, write=write)) is not None
    }


def _with_proofs(found: Sequence[Advice], basis: Basis, options: Options) -> list[Advice]:
    from dyno.studies.proofs import proofs

    return [
        replace(one, proofs=proofs(options.out, basis, _changes(one, options, write=False)))
        if _own(one, basis)
        else one
        for one in found
    ]


def _unanswered(
    found: Sequence[Advice], basis: Basis, options: Options
) -> dict[str, Mapping[str, str]]:
    """Changes without an answer."""
    return {
        name: changes
        for one in found
        if _own(one, basis)
        for name, changes in _changes(one, options, write=True).items()
        if name not in one.proofs or one.proofs[name].verdict == "not proven"
    }


def _plan(study: Study | None, options: Options) -> dict[str, Any] | None:
    from dyno.cli import _study
    from dyno.runner import study as work

    if study is None:
        return None
    slots = work.slots_of(study)
    return _study.document(study, slots, work.ahead(study, slots, options.out)[0])


def _announce(test: Test, asked: bool) -> None:
    from dyno.runner.study import wrapped

    for name, why in test.left_out.items():
        click.echo(wrapped(f"! {name} cannot be tested: {why}"))
    if test.study is None and not asked:
        click.echo("No advice is left to test.")


def _agreed(
    study: Study, options: Options, subject: str | None, pairs: int, time_limit: str | None
) -> bool:
    """Shows the plan of the study, and asks on a terminal."""
    from dyno.cli import _study
    from dyno.runner import study as work

    slots = work.slots_of(study)
    click.echo("The study that tests the advice")
    click.echo("\n".join(_study.plan(study, slots, work.ahead(study, slots, options.out)[1])))
    if sys.stdin.isatty():
        return click.confirm("Run it?", err=True)
    words = [*([subject] if subject else []), "--pairs", str(pairs)]
    words += ["--time-limit", time_limit] if time_limit else []
    words += ["--out", str(options.out)]
    click.echo(f"Run it: dyno advise --prove --yes {shlex.join(words)}")
    return False
