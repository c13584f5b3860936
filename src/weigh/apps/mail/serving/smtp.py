"""The SMTP content filter: it receives mail, adds the verdict header and forwards the mail to the next host.

A message is accepted only once the next host has accepted it: nothing is stored here, so nothing can be lost
here. Only this file needs aiosmtpd.
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import logging
import re
import smtplib
import socket
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

from aiosmtpd.smtp import SMTP, Envelope, Session

from weigh.apps.mail.serving.service import MAX_MESSAGE_BYTES, FilterService

CLIENT_TIMEOUT = 600
RELAY_TIMEOUT = 120.0
SHUTDOWN_TIMEOUT = 30.0
MAX_CLIENTS = 50
# A name of its own: mail systems report a loop if a host greets them with their own name.
HOSTNAME = "weigh.localhost"
UNAVAILABLE = b"451 4.4.1 The next host does not answer; try again later"
JUDGING_FAILED = b"451 4.3.0 The message could not be judged; try again later"
_SERVICE_CLOSING = 421
# Extensions of the next host that can be forwarded without interpreting them.
_FORWARDED_EXTENSIONS = ("8bitmime", "smtputf8", "dsn", "enhancedstatuscodes")
_RESERVED_HEADER_BYTES = 1024  # for the header added to a message
_BARE_LINE_END = re.compile(rb"\r(?!\n)|(?<!\r)\n")
_FORBIDDEN_CHARACTERS = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")


class SmtpServer:
    """Receives mail from clients, judges it and forwards it to the host at `next_address`."""

    def __init__(self, service: FilterService, next_address: tuple[str, int]) -> None:
        self.service = service
        self.next_address = next_address
        self.pool = ThreadPoolExecutor(MAX_CLIENTS, "weigh-smtp")
        self.clients: set[SmtpSession] = set()
        self.is_stopping = False
        self._no_clients = asyncio.Event()
        self._server: asyncio.Server | None = None

    async def start(self, address: tuple[str, int]) -> tuple[str, int]:
        """Start to accept clients, and return the address listened on."""
        # aiosmtpd logs senders and recipients, and at some levels every line of every message.
        logging.getLogger("mail.log").setLevel(logging.CRITICAL + 1)
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: SmtpSession(self), *address)
        host, port, *_ = self._server.sockets[0].getsockname()
        return str(host), int(port)

    async def stop(self) -> None:
        """Stop accepting, and disconnect all clients except those whose message is being forwarded."""
        self.is_stopping = True
        if self._server is not None:
            self._server.close()
        for client in list(self.clients):
            client.dismiss(b"421 4.3.2 The filter is stopping")
        if self.clients:
            # Earlier clients that left may have set the event.
            self._no_clients.clear()
            try:
                await asyncio.wait_for(self._no_clients.wait(), SHUTDOWN_TIMEOUT)
            except TimeoutError:
                for client in self.clients:
                    client.relay.abort()
        self.pool.shutdown(wait=False)

    def remove_client(self, client: SmtpSession) -> None:
        """Forget a client that has disconnected, and close its connection to the next host."""
        self.clients.discard(client)
        # After shutdown the pool accepts no work; the system then closes the connection.
        with contextlib.suppress(RuntimeError):
            self.pool.submit(client.relay.close)
        if not self.clients:
            self._no_clients.set()


class SmtpSession(SMTP):
    """An SMTP session with a client; MAIL and RCPT arguments are forwarded verbatim."""

    # Real messages have longer lines than the standard allows.
    line_length_limit = 1 << 20
    command_size_limits: ClassVar[dict[str, int]] = collections.defaultdict(lambda: 4096)

    def __init__(self, owner: SmtpServer) -> None:
        self.owner = owner
        self.relay = SmtpRelay(*owner.next_address)
        self.mail_handler = SmtpHandler(owner, self.relay)
        super().__init__(
            self.mail_handler,
            data_size_limit=MAX_MESSAGE_BYTES,
            enable_SMTPUTF8=True,
            hostname=HOSTNAME,
            ident="weigh",
            timeout=CLIENT_TIMEOUT,
            loop=asyncio.get_running_loop(),
        )

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Register the client, or disconnect it if there are too many."""
        self.owner.clients.add(self)
        super().connection_made(transport)
        if len(self.owner.clients) > MAX_CLIENTS:
            self.dismiss(b"421 4.3.2 Too many connections; try again later")

    def connection_lost(self, error: Exception | None) -> None:
        """Unregister the client; a message that is being forwarded is finished first."""
        super().connection_lost(error)
        self.owner.remove_client(self)

    def dismiss(self, status: bytes) -> None:
        """Disconnect, unless a message is being forwarded: its sender must receive the outcome."""
        if not self.mail_handler.is_forwarding and self.transport is not None:
            self.transport.write(status + b"\r\n")
            self.transport.close()

    async def push(self, status: str | bytes) -> None:
        """Send a reply, and disconnect if the server is stopping."""
        await super().push(status)
        if self.owner.is_stopping and not self.mail_handler.is_forwarding and self.transport is not None:
            self.transport.close()

    async def smtp_MAIL(self, arg: str | None) -> None:
        """Forward the sender."""
        if await self.check_helo_needed():
            return
        if self.envelope.mail_from is not None:
            await self.push("503 5.5.1 Error: nested MAIL command")
            return
        reply = await self.mail_handler.forward_command(self.relay.mail, arg)
        if reply.startswith(b"2"):
            self.envelope.mail_from = arg
        await self.push(reply)

    async def smtp_RCPT(self, arg: str | None) -> None:
        """Forward a recipient."""
        if self.envelope.mail_from is None:
            await self.push("503 5.5.1 Error: need MAIL command")
            return
        reply = await self.mail_handler.forward_command(self.relay.recipient, arg)
        if reply.startswith(b"2"):
            self.envelope.rcpt_tos.append(arg)
        await self.push(reply)


class SmtpHandler:
    """The handler that aiosmtpd calls during a session."""

    def __init__(self, owner: SmtpServer, relay: SmtpRelay) -> None:
        self._owner = owner
        self._relay = relay
        self.is_forwarding = False

    async def forward_command(self, send: Callable[[str], bytes], argument: str | None) -> bytes:
        """Send a command to the next host, and return its reply."""
        if not argument or _FORBIDDEN_CHARACTERS.search(argument):
            return b"501 5.5.4 Syntax error in parameters"
        return await self._run_in_thread(lambda: send(argument))

    async def handle_HELO(self, server: SmtpSession, session: Session, envelope: Envelope, name: str) -> str:
        """Answer HELO."""
        return (await self.handle_EHLO(server, session, envelope, name, []))[-1][:4] + HOSTNAME

    async def handle_EHLO(
        self, server: SmtpSession, session: Session, envelope: Envelope, name: str, _: list[str]
    ) -> list[str]:
        """Answer EHLO with those extensions of the next host that can be forwarded."""
        session.host_name = name
        loop = asyncio.get_running_loop()
        extensions = await loop.run_in_executor(self._owner.pool, self._relay.greet)
        if extensions is None:
            return ["421 4.4.1 The next host does not answer; try again later"]
        return [f"250-{HOSTNAME}", "250-PIPELINING", *(f"250-{each}" for each in extensions), "250 HELP"]

    async def handle_RSET(self, server: SmtpSession, session: Session, envelope: Envelope) -> str:
        """Abort the transaction, here and on the next host."""
        await asyncio.get_running_loop().run_in_executor(self._owner.pool, self._relay.reset)
        return "250 2.0.0 OK"

    async def handle_DATA(self, server: SmtpSession, session: Session, envelope: Envelope) -> bytes:
        """Judge the message, forward it and return the next host's reply."""
        self.is_forwarding = True
        try:
            content = _BARE_LINE_END.sub(b"\r\n", envelope.original_content or b"")
            return await self._run_in_thread(lambda: self._filter_and_forward(content))
        finally:
            self.is_forwarding = False

    async def handle_exception(self, error: Exception) -> bytes:
        """Reply with a temporary error, so that the message stays with its sender."""
        return JUDGING_FAILED

    def _filter_and_forward(self, content: bytes) -> bytes:
        try:
            filtered = self._owner.service.filter(content)
        except Exception:
            return JUDGING_FAILED
        return self._relay.data(filtered)

    async def _run_in_thread(self, work: Callable[[], bytes]) -> bytes:
        return await asyncio.get_running_loop().run_in_executor(self._owner.pool, work)


class SmtpRelay:
    """An SMTP connection to the next host, used by one thread at a time.

    Any failure becomes a temporary error reply, which leaves the message with its sender.
    """

    def __init__(self, host: str, port: int, timeout: float = RELAY_TIMEOUT) -> None:
        self._address = (host, port)
        self._timeout = timeout
        self._lock = threading.Lock()
        self._connection: smtplib.SMTP | None = None
        self._is_in_transaction = False

    def greet(self) -> list[str] | None:
        """Start a new session, and return the next host's extensions to offer; None if it does not answer."""
        with self._lock:
            is_connected = self._send_command("RSET").startswith(b"2") or self._connect()
            return self._extensions() if is_connected else None

    def mail(self, argument: str) -> bytes:
        """Forward the sender; reconnect if the next host has closed the connection."""
        with self._lock:
            # A message rejected here for its size leaves a transaction open on the next host.
            if self._is_in_transaction:
                self._send_command("RSET")
            reply = self._send_command("MAIL", argument)
            if self._connection is None and self._connect():
                reply = self._send_command("MAIL", argument)
            self._is_in_transaction = reply.startswith(b"2")
            return reply

    def recipient(self, argument: str) -> bytes:
        """Forward a recipient."""
        with self._lock:
            return self._send_command("RCPT", argument)

    def reset(self) -> None:
        """Abort the transaction."""
        with self._lock:
            self._send_command("RSET")

    def data(self, content: bytes) -> bytes:
        """Forward the message; after a 2xx reply the next host is responsible for it."""
        with self._lock:
            if self._connection is None:
                return UNAVAILABLE
            self._is_in_transaction = False
            try:
                return self._format_reply(*self._connection.data(content))
            except smtplib.SMTPDataError as error:
                text = error.smtp_error
                return self._format_reply(error.smtp_code, text if isinstance(text, bytes) else text.encode())
            except (OSError, smtplib.SMTPException):
                return self._disconnect()

    def close(self) -> None:
        """Close the connection once the current command is finished."""
        with self._lock:
            if self._connection is not None:
                with contextlib.suppress(OSError, smtplib.SMTPException):
                    # The reply to QUIT is not worth waiting for.
                    self._connection.putcmd("QUIT")
                self._disconnect()

    def abort(self) -> None:
        """Break the connection immediately, from any thread."""
        sock = self._connection.sock if self._connection is not None else None
        if sock is not None:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def _connect(self) -> bool:
        self._disconnect()
        try:
            self._connection = smtplib.SMTP(*self._address, local_hostname=HOSTNAME, timeout=self._timeout)
            # The next host decides whether it accepts non-ASCII addresses.
            self._connection.command_encoding = "utf-8"
            self._connection.ehlo_or_helo_if_needed()
        except (OSError, smtplib.SMTPException):
            self._disconnect()
        return self._connection is not None

    def _extensions(self) -> list[str]:
        features = self._connection.esmtp_features if self._connection is not None else {}
        size = features.get("size", "")
        limit = (
            min(MAX_MESSAGE_BYTES, max(int(size) - _RESERVED_HEADER_BYTES, 1))
            if size.isdigit() and int(size)
            else MAX_MESSAGE_BYTES
        )
        return [f"SIZE {limit}", *(each.upper() for each in _FORWARDED_EXTENSIONS if each in features)]

    def _send_command(self, command: str, argument: str = "") -> bytes:
        if self._connection is None:
            return UNAVAILABLE
        try:
            return self._format_reply(*self._connection.docmd(command, argument))
        except (OSError, smtplib.SMTPException):
            return self._disconnect()

    def _format_reply(self, code: int, text: bytes) -> bytes:
        """Format a reply for the client; disconnect if the next host closes or violates the protocol."""
        if code == _SERVICE_CLOSING or code // 100 not in (2, 4, 5):
            return self._disconnect()
        *lines, last = text.split(b"\n")
        return b"\r\n".join([*(b"%d-%b" % (code, line) for line in lines), b"%d %b" % (code, last)])

    def _disconnect(self) -> bytes:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self._is_in_transaction = False
        return UNAVAILABLE
