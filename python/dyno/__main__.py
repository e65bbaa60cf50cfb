"""``python -m dyno``, and the command ``dyno``."""

import sys


def main() -> None:
    """Runs the command line. Ctrl-C during its imports, most of a short run, ends it as later."""
    try:
        from dyno.cli import main as run
    except KeyboardInterrupt:
        sys.stderr.write("dyno: Interrupted.\n")
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
