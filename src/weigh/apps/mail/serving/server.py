"""The server on a local socket: listening, serving many clients concurrently, and running SMTP beside it."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
import signal
import socket
import stat
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from weigh.advice import Step
from weigh.apps.mail.serving.service import (
    MAX_LINE_BYTES,
    MAX_MESSAGE_BYTES,
    FilterService,
    ProtocolError,
    encode_failure,
    encode_success,
    message_too_long_error,
    parse_request,
)
from weigh.atomic_files import error_reason
from weigh.errors import FileError, Unsupported, WeighError

# Seconds: between requests, to receive a message, to send an answer, and to finish answers at shutdown.
IDLE_TIMEOUT = 600.0
RECEIVE_TIMEOUT = 60.0
SEND_TIMEOUT = 60.0
SHUTDOWN_TIMEOUT = 10.0
MAX_CLIENTS = 64
# More threads than cores, so that messages are judged while others wait for the disk.
N_THREADS = 4
_READ_BYTES = 1 << 16
_ANOTHER_PATH = Step("another socket", "another path")
_MAX_SOCKET_PATH_BYTES = 103  # what every Unix allows, without the terminating zero
_BACKLOG = 128

Address = tuple[str, int]


class SocketServer:
    """Serves the requests of a local socket's clients through a `FilterService`."""

    def __init__(self, service: FilterService, pool: ThreadPoolExecutor) -> None:
        self._service = service
        self._pool = pool
        self._clients: set[asyncio.Task[None]] = set()
        self._busy_clients: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def start(self, listener: socket.socket) -> None:
        """Start to accept clients."""
        self._server = await asyncio.start_unix_server(self._handle_client, sock=listener, limit=_READ_BYTES)

    async def stop(self) -> None:
        """Stop accepting, disconnect clients without a complete request, and answer the others."""
        if self._server is not None:
            self._server.close()
        for client in self._clients - self._busy_clients:
            client.cancel()
        if self._clients:
            _, unfinished = await asyncio.wait(self._clients, timeout=SHUTDOWN_TIMEOUT)
            for client in unfinished:
                client.cancel()

    async def _handle_client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = asyncio.current_task()
        assert client is not None
        self._clients.add(client)
        # A failing client must not affect the others, and logging its error could reveal its mail.
        with contextlib.suppress(OSError, EOFError, TimeoutError, asyncio.CancelledError):
            if len(self._clients) > MAX_CLIENTS:
                writer.write(encode_failure(f"The server already has {MAX_CLIENTS} clients."))
            else:
                await self._serve_requests(client, reader, writer)
        with contextlib.suppress(OSError, asyncio.CancelledError):
            writer.close()
            await writer.wait_closed()
        self._clients.discard(client)

    async def _serve_requests(
        self, client: asyncio.Task[None], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        while self._server is not None and self._server.is_serving():
            try:
                async with asyncio.timeout(IDLE_TIMEOUT):
                    line = await _read_request_line(reader)
                if not line:
                    return
                command, length = parse_request(line)
                async with asyncio.timeout(RECEIVE_TIMEOUT):
                    content = await _read_message(reader, length)
            except ProtocolError as error:
                await _send(writer, encode_failure(str(error)))
                return
            self._busy_clients.add(client)
            try:
                await _send(writer, await self._answer(command, content))
            finally:
                self._busy_clients.discard(client)

    async def _answer(self, command: str, content: bytes) -> bytes:
        loop = asyncio.get_running_loop()
        try:
            return encode_success(
                await loop.run_in_executor(self._pool, self._service.answer, command, content)
            )
        except WeighError as error:
            return encode_failure(str(error))
        except Exception as error:
            # The text of an unexpected error could quote the message.
            return encode_failure(f"The server failed on this message ({type(error).__name__}).")


async def _read_request_line(reader: asyncio.StreamReader) -> bytes:
    """Read the first line of a request; return nothing at end of file."""
    try:
        line = await reader.readuntil(b"\n")
    except asyncio.IncompleteReadError as error:
        line = error.partial
        if line and len(line) <= MAX_LINE_BYTES:
            raise ProtocolError("The first line is incomplete. End it with a line feed.") from None
    except asyncio.LimitOverrunError:
        line = b"\n" * (MAX_LINE_BYTES + 1)
    if len(line) > MAX_LINE_BYTES:
        raise ProtocolError(f"The first line is longer than {MAX_LINE_BYTES} bytes.")
    return line


async def _read_message(reader: asyncio.StreamReader, length: int | None) -> bytes:
    if length is not None:
        return await reader.readexactly(length)
    content = bytearray()
    while block := await reader.read(_READ_BYTES):
        content += block
        if len(content) > MAX_MESSAGE_BYTES:
            raise message_too_long_error()
    return bytes(content)


async def _send(writer: asyncio.StreamWriter, answer: bytes) -> None:
    async with asyncio.timeout(SEND_TIMEOUT):
        writer.write(answer)
        await writer.drain()


@contextlib.contextmanager
def listening_socket(path: str) -> Iterator[socket.socket]:
    """Listen on a socket that only its owner may use, and remove it afterwards.

    A lock file beside it distinguishes a running server from a stale socket of a killed one.
    """
    if len(os.fsencode(path)) > _MAX_SOCKET_PATH_BYTES:
        raise FileError(
            f"{path} is too long for a socket path (at most {_MAX_SOCKET_PATH_BYTES} bytes).",
            hint=("Choose ", _ANOTHER_PATH, "."),
        )
    with _lock_socket(path):
        listener = _bind_socket(path)
        own_stat = os.stat(path)
        try:
            yield listener
        finally:
            listener.close()
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.stat(path), own_stat):
                    os.unlink(path)


def _bind_socket(path: str) -> socket.socket:
    with _translate_os_errors(path):
        _remove_stale_socket(path)
        listener = socket.socket(socket.AF_UNIX)
        try:
            listener.bind(path)
            # Before listen() nobody can connect.
            os.chmod(path, 0o600)
            listener.listen(_BACKLOG)
        except BaseException:
            listener.close()
            raise
        return listener


@contextlib.contextmanager
def _translate_os_errors(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FileError(f"{path}: the server cannot listen there: {error_reason(error)}.") from error


@contextlib.contextmanager
def _lock_socket(path: str) -> Iterator[None]:
    """Hold the lock of a socket while the server runs."""
    with _translate_os_errors(path):
        descriptor = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _already_running_error(path) from None
        yield
    finally:
        os.close(descriptor)


def _remove_stale_socket(path: str) -> None:
    """Remove the socket of a killed server, but no other file."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(status.st_mode):
        raise FileError(f"{path} exists and is not a socket.", hint=("Choose ", _ANOTHER_PATH, "."))
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(1)
        code = probe.connect_ex(path)
    if code == 0:
        raise _already_running_error(path)
    if code == errno.ECONNREFUSED:
        os.unlink(path)


def _already_running_error(path: str) -> FileError:
    return FileError(
        f"A server is already running at {path}.",
        hint=("Stop it first, or let this one listen at ", _ANOTHER_PATH, "."),
    )


@dataclass(frozen=True)
class SmtpRoute:
    """The address where mail is received over SMTP, and the next host that it is forwarded to."""

    listen_address: Address
    next_address: Address


@dataclass(frozen=True)
class ServerAddresses:
    """The addresses a server listens on: its socket and, with SMTP, its host and port."""

    socket: str
    smtp: Address | None = None

    def to_dict(self) -> dict[str, str]:
        """Return the addresses as plain values for JSON."""
        smtp = {} if self.smtp is None else {"smtp": format_address(self.smtp)}
        return {"socket": self.socket, **smtp}

    def __str__(self) -> str:
        smtp = "" if self.smtp is None else f", and for SMTP on {format_address(self.smtp)}"
        return f"Listening on {self.socket}{smtp}."


def format_address(address: Address) -> str:
    """Format an address as HOST:PORT."""
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


async def serve(
    service: FilterService, path: str, route: SmtpRoute | None, ready: Callable[[ServerAddresses], None]
) -> None:
    """Serve until SIGTERM or SIGINT; call `ready` once the server listens."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    async with running_server(service, path, route) as addresses:
        ready(addresses)
        await stopped.wait()


@contextlib.asynccontextmanager
async def running_server(
    service: FilterService, path: str, route: SmtpRoute | None = None
) -> AsyncIterator[ServerAddresses]:
    """Run a server during the block, and finish its pending requests at the end."""
    with listening_socket(path) as listener, ThreadPoolExecutor(N_THREADS, "weigh-mail") as pool:
        server = SocketServer(service, pool)
        await server.start(listener)
        try:
            async with _running_smtp_server(service, route) as smtp:
                yield ServerAddresses(path, smtp)
        finally:
            await server.stop()


@contextlib.asynccontextmanager
async def _running_smtp_server(
    service: FilterService, route: SmtpRoute | None
) -> AsyncIterator[Address | None]:
    if route is None:
        yield None
        return
    try:
        from weigh.apps.mail.serving.smtp import SmtpServer
    except ModuleNotFoundError as missing:
        raise Unsupported(
            f"Filtering over SMTP needs {missing.name}, which is not installed. "
            "In the folder of weigh: pip install '.[mail]'."
        ) from missing
    server = SmtpServer(service, route.next_address)
    try:
        try:
            address = await server.start(route.listen_address)
        except OSError as error:
            requested = format_address(route.listen_address)
            raise FileError(f"{requested}: the server cannot listen there: {error_reason(error)}.") from error
        yield address
    finally:
        await server.stop()
