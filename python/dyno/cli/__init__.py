"""The command line: parse, call, print. One file a verb, found by name.

Files whose names begin with ``_`` are shared by the verbs.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pkgutil
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, cast

import click

from dyno import __version__
from dyno.cli._strictly import strictly
from dyno.errors import EXIT_INTERRUPTED, EXIT_UNUSABLE, DynoError, FaultError, nearest
from dyno.safety.redaction import NOTE, hide_own, masked, without
from dyno.safety.text import require_text, shown


class Verbs(click.Group):
    """Loads a verb's module when it is named; a wrong word names the nearest right one."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """All verbs, sorted."""
        modules = (module.name for module in pkgutil.iter_modules(__path__))
        return sorted(name for name in modules if not name.startswith("_"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The verb, or None."""
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = importlib.import_module(f"{__name__}.{cmd_name}").command
        return strictly(command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb named first in ``args``.

        Raises:
            UsageError: Offering the nearest verb.
        """
        if args and args[0] not in self.list_commands(ctx):
            hint = nearest(args[0], self.list_commands(ctx))
            raise click.UsageError(f"Unknown verb '{args[0]}'. {hint}", ctx)
        return super().resolve_command(ctx, args)


@click.group(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Begin with `dyno quickstart`. Each verb has --help with examples.",
)
@click.version_option(__version__, prog_name="dyno")
def cli() -> None:
    """Dyno: put your database, and the storage under it, on the dyno."""


def main() -> None:
    """Runs the command line and exits.

    0 valid, 1 disturbed or invalid, 2 usage error, 3 unusable, 4 a fault in Dyno, 130 interrupted.
    """
    words = sys.argv[1:]
    if hide_own(words):
        click.echo(NOTE, err=True)

    def work() -> object:
        require_text(*words)
        return cli.main(standalone_mode=False)

    ended_by(work, words)


def ended_by(work: Callable[[], object], words: Sequence[str]) -> NoReturn:
    """Does the work and exits with the code that it returns, or with that of what it raises.

    Args:
        work: What is done.
        words: What was typed, whose passwords no message may show.
    """
    try:
        code = work()
        sys.stdout.flush()
    except click.ClickException as error:
        cast("Any", error).message = shown(without(words, error.message))
        error.show()
        code = error.exit_code
    except DynoError as error:
        code = _told(error, words)
    except (KeyboardInterrupt, click.Abort):
        click.echo("dyno: Interrupted.", err=True)
        code = EXIT_INTERRUPTED
    except OSError as error:
        code = _system(error)
    except Exception as error:
        from dyno.runner.faults import fault_of

        code = _told(fault_of(error), words)
    sys.exit(code if isinstance(code, int) else 0)


def _told(error: DynoError, words: Sequence[str]) -> int:
    """Prints an error, after the traceback of a fault in Dyno; returns the exit code."""
    if isinstance(error, FaultError) and error.__cause__ is not None:
        import traceback

        trace = "".join(traceback.format_exception(error.__cause__))
        click.echo(masked(without(words, trace)), err=True, nl=False)
    click.echo(f"dyno: {shown(without(words, str(error)))}", err=True)
    return error.exit_code


def _system(error: OSError) -> int:
    """Tells of what the system refused, and where; returns the exit code."""
    reason = error.strerror or str(error)
    if error.filename is None:  # what was printed: nothing more of it can be
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    place = "the output" if error.filename is None else shown(str(error.filename))
    with contextlib.suppress(OSError):
        if not isinstance(error, BrokenPipeError):
            click.echo(f"dyno: {reason}: {place}.", err=True)
    return EXIT_UNUSABLE
