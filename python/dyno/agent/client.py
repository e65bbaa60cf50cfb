"""Requests of a run to an agent."""

from __future__ import annotations

import http.client
import secrets
import ssl
import threading
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import urlencode

from pydantic import BaseModel, TypeAdapter, ValidationError

from dyno import __version__
from dyno.agent import protocol
from dyno.agent.address import Address, port_of
from dyno.agent.token import read_token
from dyno.contracts.whereabouts import Told
from dyno.errors import TargetError, UsageError
from dyno.safety import plainjson
from dyno.safety.text import plain

TIMEOUT_S = 10.0

_ENTRIES = TypeAdapter(list[protocol.Entry])
_TOLD = TypeAdapter(Told)
M = TypeVar("M", bound=BaseModel)


class AgentError(TargetError):
    """The agent refused a request, or its answer is not one: repeating it would not help."""


class Client:
    """One kept connection. Thread-safe: a request waits for the one before it."""

    def __init__(
        self, host: str, port: int, token: str, context: ssl.SSLContext | None, shown: str
    ) -> None:
        """Opens nothing.

        Args:
            host: Host or address.
            port: Its port.
            token: The secret; empty with a certificate.
            context: TLS; None for plain HTTP.
            shown: The agent in messages.
        """
        self._called = f"The agent at {shown}"
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._run = secrets.token_hex(8)
        self._lock = threading.Lock()
        self._connection = (
            http.client.HTTPConnection(host, port, timeout=TIMEOUT_S)
            if context is None
            else http.client.HTTPSConnection(host, port, timeout=TIMEOUT_S, context=context)
        )

    @classmethod
    def at(cls, address: Address) -> Client:
        """The client of an agent at an address over HTTP.

        Raises:
            UsageError: Without a token or certificate, or if a file cannot be used.
        """
        token = read_token(address.token_file)
        if not token and address.cert is None:
            raise UsageError(
                f"--agent {address.text} needs its token: set DYNO_AGENT_TOKEN, or add "
                "?token_file=FILE to the URL."
            )
        context = tls_of(address, "--agent")
        return cls(address.host, port_of(address), token, context, address.text)

    def hello(self) -> protocol.Hello:
        """The agent's introduction.

        Raises:
            AgentError: If it runs another version.
            TargetError: If it does not respond.
        """
        found = self._json("/hello")
        hello = self._checked(lambda: protocol.Hello.model_validate(found))
        if (hello.protocol, hello.dyno) != (protocol.VERSION, __version__):
            raise AgentError(
                f"{self._called} runs Dyno {plain(hello.dyno)[:40]} (protocol {hello.protocol}), "
                f"this is Dyno {__version__} (protocol {protocol.VERSION}): install the same "
                "version on both machines."
            )
        return hello

    def clocks(self) -> protocol.Clocks:
        """Both clocks of the agent."""
        found = self._json("/clock")
        return self._checked(lambda: protocol.Clocks.model_validate(found))

    def entries(self, instance: str, after: int) -> list[protocol.Entry]:
        """The next entries of an instance, oldest first; none if there are no new ones.

        Raises:
            TargetError: After a restart of the agent, which has another instance.
        """
        found = self._json("/ticks", instance=instance, after=str(after))
        return self._checked(lambda: _ENTRIES.validate_python(found))

    def facts(self, path: str) -> dict[str, Any]:
        """Facts about the machine and the storage under ``path``."""
        found = self._json("/facts", path=path)
        return self._checked(lambda: TypeAdapter(dict[str, Any]).validate_python(found))

    def locate(self, told: Told) -> protocol.Placed:
        """Finds a server there; its process is sampled while this client asks for ticks."""
        found = self._json("/locate", _TOLD.dump_json(told))
        return self._checked(lambda: protocol.Placed.model_validate(found))

    def close(self) -> None:
        """Closes the connection."""
        with self._lock:
            self._connection.close()

    def _json(self, request: str, body: bytes | None = None, **query: str) -> Any:
        """The content of an answer.

        Raises:
            AgentError: If the request was refused.
            TargetError: If the agent does not respond.
        """
        where = f"{request}?{urlencode({**query, 'run': self._run})}"
        with self._lock:
            try:
                status, content = self._ask(where, body)
            except (OSError, http.client.HTTPException) as error:
                self._connection.close()
                reason = str(error) or type(error).__name__
                raise TargetError(f"{self._called} does not respond: {reason}.") from error
        if len(content) > protocol.MOST_ANSWER_BYTES:
            raise AgentError(f"{self._called} sent more than is allowed.")
        if status == 401:
            raise AgentError(f"{self._called} refused the token: give the one it was started with.")
        if status == protocol.RESTARTED:
            raise TargetError(f"{self._called} was restarted.")
        found = self._checked(lambda: plainjson.loads(content))
        if status != 200:
            reason = found.get("error") if isinstance(found, dict) else None
            raise AgentError(f"{self._called} failed: {plain(str(reason or status))[:300]}.")
        return found

    def _ask(self, where: str, body: bytes | None) -> tuple[int, bytes]:
        fresh = self._connection.sock is None
        try:
            return self._once(where, body)
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
            # The agent closes idle connections; only a new one shows whether it is there.
            self._connection.close()
            if fresh:
                raise
            return self._once(where, body)

    def _once(self, where: str, body: bytes | None) -> tuple[int, bytes]:
        method = "GET" if body is None else "POST"
        self._connection.request(method, where, body, self._headers)
        response = self._connection.getresponse()
        content = response.read(protocol.MOST_ANSWER_BYTES + 1)
        if len(content) > protocol.MOST_ANSWER_BYTES:
            self._connection.close()
        return response.status, content

    def _checked(self, make: Callable[[], M | Any]) -> Any:
        try:
            return make()
        except (ValidationError, ValueError, RecursionError) as error:
            raise AgentError(f"{self._called} sent no valid answer; is it an agent?") from error


def tls_of(address: Address, option: str) -> ssl.SSLContext | None:
    """TLS for an address; None for HTTP.

    Raises:
        UsageError: If a file cannot be used.
    """
    if address.scheme != "https":
        return None
    try:
        context = ssl.create_default_context(cafile=address.ca)
        if address.cert is not None:
            context.load_cert_chain(address.cert, address.key)
    except OSError as error:
        raise UsageError(
            f"{option} {address.text}: a certificate cannot be used: {error}."
        ) from error
    return context
