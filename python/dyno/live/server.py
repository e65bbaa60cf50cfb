"""The web server of the page: static files, the charts of a range, and what is new as events."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from http.cookies import SimpleCookie
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
from dyno.live.watched import Watched

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
        cookies = SimpleCookie(headers.get("cookie", "")) if "cookie" in headers else {}
        kept = cookies[access.cookie].value if access.cookie in cookies else None
        if not access.right_token(given, bearer, kept):
            return PlainTextResponse("Wrong token. Open the address that Dyno printed.\n", 403)
        if given is not None and request.url.path == "/":
            # The token leaves the address, so that neither history nor a copied link has it.
            answer = Response(status_code=303, headers={"Location": "/"})
            answer.set_cookie(access.cookie, access.token, httponly=True, samesite="strict")
            return answer
        return None


class News:
    """Polls the run and wakes the viewers."""

    def __init__(self, watched: Watched) -> None:
        self._watched = watched
        self._changed = asyncio.Condition()
        self.viewers = 0

    async def poll(self) -> None:
        """Reads what is new, for ever."""
        while True:
            before = self._watched.version
            whole = await run_in_threadpool(self._watched.poll, _SLICE_S)
            if self._watched.version != before:
                async with self._changed:
                    self._changed.notify_all()
            await asyncio.sleep(_POLL_S if whole else _CATCH_UP_S)

    async def after(self, version: int) -> None:
        """Waits until there is something newer than ``version``, at most :data:`_BEAT_S`."""
        async with self._changed:
            if self._watched.version == version:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), _BEAT_S)


def app(watched: Watched, access: Access) -> Starlette:
    """The application for one run."""
    news = News(watched)

    def head(_: Request) -> Response:
        return JSONResponse(facts(watched))

    def view(request: Request) -> Response:
        asked = _asked(request)
        return Response(charts.view(watched, asked), media_type="application/octet-stream")

    def metrics(_: Request) -> Response:
        return Response(openmetrics.text(watched), media_type=openmetrics.CONTENT_TYPE)

    def page(_: Request) -> Response:
        return Response((STATIC / "index.html").read_bytes(), media_type="text/html")

    async def stream(request: Request) -> Response:
        if news.viewers >= _MOST_VIEWERS:
            return PlainTextResponse("Too many viewers.\n", 503, {"Retry-After": "5"})
        last = request.headers.get("last-event-id", "0")
        seen = int(last) if last.isdigit() and len(last) < 12 else 0
        return StreamingResponse(_told(watched, news, seen), media_type="text/event-stream")

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


def facts(watched: Watched) -> dict[str, Any]:
    """What the page needs to know about the run besides its charts."""
    with watched.lock:
        run, origin = watched.run, watched.origin_ns
        return {
            "run": run.run,
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


async def _told(watched: Watched, news: News, seen: int) -> AsyncIterator[str]:
    """The events of one viewer; the id of each is the number of journal lines so far."""
    news.viewers += 1
    try:
        yield "retry: 1000\n\n"
        version = -1
        while True:
            if watched.version == version:
                await news.after(version)
            if watched.version == version:
                yield ": still here\n\n"
                continue
            version = watched.version
            found = await run_in_threadpool(_tick, watched, seen)
            seen = found["count"]
            yield f"id: {seen}\nevent: tick\ndata: {json.dumps(found)}\n\n"
    finally:
        news.viewers -= 1


def _tick(watched: Watched, seen: int) -> dict[str, Any]:
    with watched.lock:
        progress = watched.progress if watched.running else None
        return {
            "count": watched.journal.count,
            "head": watched.head_version,
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


def serve(path: Path, listener: socket.socket, ready: Callable[[str], None], stop: Stop) -> None:
    """Serves the page of the bundle at ``path`` until the process is interrupted or stopped.

    Args:
        path: The folder of the bundle.
        listener: From :func:`listen`.
        ready: Called with the address of the page, with its token.
        stop: Ends the server.

    Raises:
        UsageError: If it is not a bundle.
    """
    watched = Watched(path)
    host, port = listener.getsockname()[:2]
    access = Access(host, port)
    config = uvicorn.Config(
        app(watched, access), log_level="warning", access_log=False, timeout_graceful_shutdown=1,
        server_header=False, limit_concurrency=4 * _MOST_VIEWERS,
    )  # fmt: skip
    server = uvicorn.Server(config)
    stop.of(server)
    ready(access.url)
    try:
        server.run([listener])
    finally:
        watched.close()
        listener.close()
