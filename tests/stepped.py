"""A wall clock that is set while a process works, without touching the machine's own."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import missing

# The wall clock is ahead by the number of seconds in the file, once that exists.
_SOURCE = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long long stepped(void)
{
    char text[32] = {0};
    const char *name = getenv("TEST_CLOCK_STEP");
    int file = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return 0;
    long long seconds = read(file, text, sizeof text - 1) > 0 ? atoll(text) : 0;
    close(file);
    return seconds;
}

int clock_gettime(clockid_t id, struct timespec *at)
{
    int failed = syscall(SYS_clock_gettime, id, at);
    if (!failed && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
        at->tv_sec += stepped();
    return failed;
}

int gettimeofday(struct timeval *at, void *zone)
{
    struct timespec now;
    int failed = clock_gettime(CLOCK_REALTIME, &now);
    (void)zone;
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return failed;
}

time_t time(time_t *at)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at)
        *at = now.tv_sec;
    return now.tv_sec;
}
"""


class Stepped:
    """The clock of all processes that are started from now on, and of theirs."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        if (compiler := shutil.which("gcc")) is None:
            missing("gcc")
        source, library = folder / "clock.c", folder / "clock.so"
        source.write_text(_SOURCE)
        words = ["-shared", "-fPIC", "-O1", "-o", str(library), str(source)]
        subprocess.run([str(compiler), *words], check=True, capture_output=True)
        self._step = folder / "step"
        monkeypatch.setenv("LD_PRELOAD", str(library))
        monkeypatch.setenv("TEST_CLOCK_STEP", str(self._step))

    def set(self, seconds: int) -> None:
        """Sets it so many seconds ahead of the machine's, or back."""
        new = self._step.with_suffix(".new")
        new.write_text(str(seconds))
        new.rename(self._step)
