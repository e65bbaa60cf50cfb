"""The end of a private server: polite, and quicker when the user asks again."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

from dyno.runtime import interrupts
from dyno.servers.daemon import Daemon
from dyno.servers.identity import Identity
from dyno.servers.product import Product
from dyno.servers.serverlog import ServerLog
from tests.process import wait_until

SLOW = """
import pathlib, signal
def note(*_):
    pathlib.Path("asked").touch()
signal.signal(signal.SIGINT, note)
pathlib.Path("ready").touch()
while True:
    signal.pause()
"""
PRODUCT = Product(
    name="Slow",
    stops=((signal.SIGINT, 3600.0), (signal.SIGTERM, 3600.0), (signal.SIGKILL, 15.0)),
    at_death=signal.SIGKILL,
    explain=lambda _: None,
    reports_full_disk=lambda _: False,
)


def test_asking_again_ends_a_server_the_quicker_way(tmp_path: Path) -> None:
    daemon = Daemon(PRODUCT, ServerLog(tmp_path / "server.log"))
    lock = os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT)
    try:
        daemon.launch(Identity("self"), [sys.executable, "-c", SLOW], tmp_path, lock)
        wait_until((tmp_path / "ready").exists, "the server")
        daemon.await_ready(lambda: None, lambda _: False)
        stopper = threading.Thread(target=daemon.end)
        stopper.start()
        wait_until((tmp_path / "asked").exists, "the polite request")
        assert stopper.is_alive()
        interrupts.ask()
        stopper.join(60)
        assert not stopper.is_alive()
        assert daemon.pid is None
    finally:
        os.close(lock)
