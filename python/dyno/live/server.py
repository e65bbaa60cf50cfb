"""The web server of the page: static files, the charts of a range, and what is new as events."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dyno.errors import TargetError
from dyno.live import charts, openmetrics
from dyno.live.access import HEADERS, Access
from dyno.live.shown import Shown

STATIC = Path(__file__).parent / "static"
_POLL_S = 1.0
_SLICE_S = 0.8
"""Time for which a long bundle is read before viewers get what there is."""
_CATCH_UP_S = 0.02
"""Pause between two slices of a long bundle that is still being read."""
_BEAT_S = 15.0
"""After this time without news, a comment keeps the connection."""
_MOST_VIEWERS = 64


class Guard:
    """Middleware: refuses requests without the token, for another host, or from another site."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, or answers it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(name.lower().encode(), text.encode()) for name, text in HEADERS.items()]
                names = {name for name, _ in own}
                rest = [item for item in message.get("headers", []) if item[0] not in names]
                message["headers"] = [*rest, *own]
            await send(message)

        answer = self._answer(Request(scope))
        await (answer or self._app)(scope, receive, sending)

    def _answer(self, request: Request) -> Response | None:
        """The answer to a request that goes no further."""
        headers, access = request.headers, self._access
        if not access.known_host(headers.get("host", "")):
            return PlainTextResponse("Unknown host.\n", 421)
        if not access.own_origin(headers):
            return PlainTextResponse("Requests from other sites are refused.\n", 403)
        given = request.query_params.get("token")
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        # Cookies of all ports of a host arrive here, also those that no standard allows.
        kept = request.cookies.get(access.cookie)
        if not (access.right_token(given, bearer, kept) or access.takes(given)):
            return PlainTextResponse("Wrong token. Open the address that Dyno printed.\n", 403)
        if given is not None and request.url.path == "/":
            # The token leaves the address, so that neither history nor a copied link has it.
            answer = Response(status_code=303, headers={"Location": "/"})
            answer.set_cookie(access.cookie, access.token, httponly=True, samesite="strict")
            return answer
        return None


class News:
    """Polls the run and wakes the viewers."""

    def __init__(self, shown: Shown) -> None:
        self._shown = shown
        self._changed = asyncio.Condition()
        self.viewers = 0

    async def poll(self) -> None:
        """Reads what is new, for ever."""
        while True:
            before = self._shown.version
            whole = await run_in_threadpool(self._shown.poll, _SLICE_S)
            if self._shown.version != before:
                async with self._changed:
                    self._changed.notify_all()
            await asyncio.sleep(_POLL_S if whole else _CATCH_UP_S)

    async def after(self, version: int) -> None:
        """Waits until there is something newer than ``version``, at most :data:`_BEAT_S`."""
        async with self._changed:
            if self._shown.version == version:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), _BEAT_S)


def app(shown: Shown, access: Access) -> Starlette:
    """The application for one run or study."""
    news = News(shown)

    def head(_: Request) -> Response:
        return JSONResponse(facts(shown))

    def view(request: Request) -> Response:
        asked = _asked(request)
        return Response(charts.view(shown.watched, asked), media_type="application/octet-stream")

    def metrics(_: Request) -> Response:
        return Response(openmetrics.text(shown.watched), media_type=openmetrics.CONTENT_TYPE)

    def page(_: Request) -> Response:
        return Response((STATIC / "index.html").read_bytes(), media_type="text/html")

    async def stream(request: Request) -> Response:
        if news.viewers >= _MOST_VIEWERS:
            return PlainTextResponse("Too many viewers.\n", 503, {"Retry-After": "5"})
        last = request.headers.get("last-event-id", "")
        return StreamingResponse(_told(shown, news, last), media_type="text/event-stream")

    @contextlib.asynccontextmanager
    async def life(_: Starlette) -> AsyncGenerator[None]:
        polling = asyncio.create_task(news.poll())
        try:
            yield
        finally:
            polling.cancel()

    routes = [
        Route("/", page),
        Route("/api/head", head),
        Route("/api/view", view),
        Route("/api/stream", stream),
        Route("/metrics", metrics),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    return Starlette(routes=routes, lifespan=life, middleware=[Middleware(Guard, access=access)])


def facts(shown: Shown) -> dict[str, Any]:
    """What the page needs to know about the run and its study besides the charts."""
    watched, schedule = shown.watched, shown.schedule()
    with watched.lock:
        run, origin = watched.run, watched.origin_ns
        return {
            "run": run.run,
            "study": schedule,
            "verb": run.verb,
            "command": str(run.plan.get("command", "")),
            "status": watched.status,
            "verdict": run.validity.verdict,
            "error": run.error,
            "origin_ms": origin / 1e6,
            "problems": watched.problems[:50],
            "targets": [
                {"name": name, "version": one.version, "notes": list(one.inside_notes)}
                for name, one in run.targets.items()
            ],
            "phases": [
                {"title": phase.title, "kind": phase.kind, "status": phase.status,
                 "start": (phase.start_ns - origin) / 1e9,
                 "end": None if phase.end_ns is None else (phase.end_ns - origin) / 1e9}
                for phase in run.phases
            ],
            "operations": watched.operations.names,
            "volumes": [{"name": one["name"], "roles": one["roles"]}
                        for one in charts.volumes(watched)],
        }  # fmt: skip


async def _told(shown: Shown, news: News, last: str) -> AsyncIterator[str]:
    """The events of one viewer; the id of each is its run and the number of journal lines."""
    news.viewers += 1
    try:
        yield "retry: 1000\n\n"
        version = -1
        while True:
            if shown.version == version:
                await news.after(version)
            if shown.version == version:
                yield ": still here\n\n"
                continue
            version = shown.version
            found = await run_in_threadpool(_tick, shown, last)
            last = f"{found['run']} {found['count']}"
            yield f"id: {last}\nevent: tick\ndata: {json.dumps(found)}\n\n"
    finally:
        news.viewers -= 1


def _tick(shown: Shown, last: str) -> dict[str, Any]:
    """What is new since the event with the id ``last``."""
    watched, study = shown.watched, shown.left()
    run, _, count = last.partition(" ")
    seen = int(count) if run == watched.run.run and count.isdigit() and len(count) < 12 else 0
    with watched.lock:
        progress = watched.progress if watched.running else None
        return {
            "run": watched.run.run,
            "study": study,
            "count": watched.journal.count,
            "head": shown.head_version,
            "names": len(watched.operations.by_name) + len(watched.samples.columns),
            "status": watched.status,
            "loaded": watched.loaded,
            "end": watched.end_s,
            "headline": charts.headline(watched),
            "progress": None if progress is None else progress.model_dump(),
            "events": watched.journal.after(seen),
        }


def _asked(request: Request) -> charts.Asked:
    """The range that a page asks for; invalid numbers get their defaults."""
    query = request.query_params

    def number(name: str, other: float) -> float:
        try:
            found = float(query.get(name, other))
        except ValueError:
            return other
        return found if abs(found) < 1e9 else other

    return charts.Asked(
        number("from", 0),
        number("to", 600),
        int(number("bins", 600)),
        query.get("operation", ""),
        tuple(filter(None, query.getlist("volume"))),
    )


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one.

    Raises:
        TargetError: If the address cannot be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise TargetError(
            f"Cannot listen on {host}:{port}: {error.strerror}.", kind="io"
        ) from error


class Stop:
    """Ends a server from another thread."""

    def __init__(self) -> None:
        self._server: uvicorn.Server | None = None

    def of(self, server: uvicorn.Server) -> None:
        """Names the server."""
        self._server = server

    def soon(self) -> None:
        """Ends it after the viewers have had time to see the end of the run."""
        time.sleep(3 * _POLL_S)
        if self._server is not None:
            self._server.should_exit = True


def serve(path: Path, listener: socket.socket, ready: Callable[[Access], None], stop: Stop) -> None:
    """Serves the page of a bundle or study until the process is interrupted or stopped.

    Args:
        path: The folder of the bundle or study.
        listener: From :func:`listen`.
        ready: Called with the rules of the server, which has the addresses of the page.
        stop: Ends the server.

    Raises:
        UsageError: If it is neither, or the study has no run.
    """
    shown = Shown(path, two_threads=True)
    host, port = listener.getsockname()[:2]
    access = Access(host, port)
    config = uvicorn.Config(
        app(shown, access), log_level="warning", access_log=False, timeout_graceful_shutdown=1,
        server_header=False, limit_concurrency=4 * _MOST_VIEWERS,
    )  # fmt: skip
    server = uvicorn.Server(config)
    stop.of(server)
    ready(access)
    try:
        server.run([listener])
    finally:
        shown.close()
        listener.close()
