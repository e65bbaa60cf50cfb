"""``python -m dyno``."""

from dyno.cli import main

main()
