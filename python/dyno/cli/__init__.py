"""The command line: parse, call, print. Each command is one file, found by name.

Files whose names begin with ``_`` are shared.
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
    """Imports a command's module on first use; an unknown command suggests the nearest one."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """All commands, sorted."""
        modules = (module.name for module in pkgutil.iter_modules(__path__))
        return sorted(name for name in modules if not name.startswith("_"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, or None."""
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = importlib.import_module(f"{__name__}.{cmd_name}").command
        return strictly(command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that ``args`` begins with.

        Raises:
            UsageError: For an unknown command; suggests the nearest one.
        """
        if args and args[0] not in self.list_commands(ctx):
            hint = nearest(args[0], self.list_commands(ctx))
            raise click.UsageError(f"Unknown command '{args[0]}'. {hint}", ctx)
        return super().resolve_command(ctx, args)


@click.group(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with `dyno quickstart`. `dyno COMMAND --help` shows options and examples.",
)
@click.version_option(__version__, prog_name="dyno")
def cli() -> None:
    """Dyno, a dynamometer for database servers and their storage."""


def main() -> None:
    """Runs the command line and exits.

    0 valid, 1 disturbed or invalid, 2 usage error, 3 unusable, 4 internal error, 130 interrupted.
    """
    words = sys.argv[1:]
    if hide_own(words):
        click.echo(NOTE, err=True)

    def work() -> object:
        require_text(*words)
        return cli.main(standalone_mode=False)

    ended_by(work, words)


def ended_by(work: Callable[[], object], words: Sequence[str]) -> NoReturn:
    """Calls ``work`` and exits with its code, or with the code of the exception it raises.

    Args:
        work: The command.
        words: The command line; its passwords are masked in messages.
    """
    try:
        code = work()
        sys.stdout.flush()
    except click.ClickException as error:
        cast("Any", error).message = shown(without(words, error.message))
        error.show()
        code = error.exit_code
    except DynoError as error:
        code = _print_error(error, words)
    except (KeyboardInterrupt, click.Abort):
        click.echo("dyno: Interrupted.", err=True)
        code = EXIT_INTERRUPTED
    except OSError as error:
        code = _print_system_error(error)
    except Exception as error:
        from dyno.runner.faults import fault_of

        code = _print_error(fault_of(error), words)
    sys.exit(code if isinstance(code, int) else 0)


def _print_error(error: DynoError, words: Sequence[str]) -> int:
    """Prints an error, with the traceback if it is internal; returns the exit code."""
    if isinstance(error, FaultError) and error.__cause__ is not None:
        import traceback

        trace = "".join(traceback.format_exception(error.__cause__))
        click.echo(masked(without(words, trace)), err=True, nl=False)
    click.echo(f"dyno: {shown(without(words, str(error)))}", err=True)
    return error.exit_code


def _print_system_error(error: OSError) -> int:
    """Prints an error of the operating system; returns the exit code."""
    reason = error.strerror or str(error)
    if error.filename is None:  # stdout failed: print nothing more to it
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    place = "standard output" if error.filename is None else shown(str(error.filename))
    with contextlib.suppress(OSError):
        if not isinstance(error, BrokenPipeError):
            click.echo(f"dyno: {reason}: {place}.", err=True)
    return EXIT_UNUSABLE
