"""The content filter that speaks SMTP: it takes mail, writes the verdict into it and passes it on.

A message is accepted when the next host has accepted it, and never before: nothing is kept here, so that
nothing can be lost here. This file, and no other, needs aiosmtpd.
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
SHUTDOWN_TIMEOUT = 30.0
MAX_CLIENTS = 50
JUDGING_FAILED = b"451 4.3.0 The message could not be judged; try again later"
_BARE_LINE_END = re.compile(rb"\r(?!\n)|(?<!\r)\n")
_FORBIDDEN_CHARACTERS = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")


class SmtpServer:
    """Takes mail from clients and gives it, judged, to the host at `next_address`."""

    def __init__(self, service: FilterService, next_address: tuple[str, int]) -> None:
        self.service = service
        self.next_address = next_address
        self.pool = ThreadPoolExecutor(MAX_CLIENTS, "weigh-smtp")
        self.clients: set[SmtpSession] = set()
        self.is_stopping = False
        self._no_clients = asyncio.Event()
        self._server: asyncio.Server | None = None

    async def start(self, address: tuple[str, int]) -> tuple[str, int]:
        """Accept clients from now on; the address where."""
        # It tells who writes to whom, at some levels every line of every message.
        logging.getLogger("mail.log").setLevel(logging.CRITICAL + 1)
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: SmtpSession(self), *address)
        host, port, *_ = self._server.sockets[0].getsockname()
        return str(host), int(port)

    async def stop(self) -> None:
        """Accept no more, and hang up on everybody but those whose messages are being passed on."""
        self.is_stopping = True
        if self._server is not None:
            self._server.close()
        for client in list(self.clients):
            client.dismiss(b"421 4.3.2 The filter is stopping")
        if self.clients:
            # Others may have come and gone before.
            self._no_clients.clear()
            try:
                await asyncio.wait_for(self._no_clients.wait(), SHUTDOWN_TIMEOUT)
            except TimeoutError:
                for client in self.clients:
                    client.relay.abort()
        self.pool.shutdown(wait=False)

    def remove_client(self, client: SmtpSession) -> None:
        """A client has hung up."""
        self.clients.discard(client)
        # At the very end there is nobody left to do it, and the system hangs up.
        with contextlib.suppress(RuntimeError):
            self.pool.submit(client.relay.close)
        if not self.clients:
            self._no_clients.set()


class SmtpSession(SMTP):
    """A conversation with a client: what it says of senders and recipients is passed on as it is."""

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
        """Begin."""
        self.owner.clients.add(self)
        super().connection_made(transport)
        if len(self.owner.clients) > MAX_CLIENTS:
            self.dismiss(b"421 4.3.2 Too many connections; try again later")

    def connection_lost(self, error: Exception | None) -> None:
        """End; the next host is told after what it is just being given."""
        super().connection_lost(error)
        self.owner.remove_client(self)

    def dismiss(self, status: bytes) -> None:
        """Hang up, unless a message is being passed on, whose sender has to hear what became of it."""
        if not self.mail_handler.is_forwarding and self.transport is not None:
            self.transport.write(status + b"\r\n")
            self.transport.close()

    async def push(self, status: str | bytes) -> None:
        """Reply."""
        await super().push(status)
        if self.owner.is_stopping and not self.mail_handler.is_forwarding and self.transport is not None:
            self.transport.close()

    async def smtp_MAIL(self, arg: str | None) -> None:
        """Pass a sender on."""
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
        """Pass a recipient on."""
        if self.envelope.mail_from is None:
            await self.push("503 5.5.1 Error: need MAIL command")
            return
        reply = await self.mail_handler.forward_command(self.relay.recipient, arg)
        if reply.startswith(b"2"):
            self.envelope.rcpt_tos.append(arg)
        await self.push(reply)


class SmtpHandler:
    """What aiosmtpd asks at the turns of a conversation."""

    def __init__(self, owner: SmtpServer, relay: SmtpRelay) -> None:
        self._owner = owner
        self._relay = relay
        self.is_forwarding = False

    async def forward_command(self, ask: Callable[[str], bytes], argument: str | None) -> bytes:
        """The next host's reply to a command."""
        if not argument or _FORBIDDEN_CHARACTERS.search(argument):
            return b"501 5.5.4 Syntax error in parameters"
        return await self._run_in_thread(lambda: ask(argument))

    async def handle_HELO(self, server: SmtpSession, session: Session, envelope: Envelope, name: str) -> str:
        """Greet."""
        return (await self.handle_EHLO(server, session, envelope, name, []))[-1][:4] + HOSTNAME

    async def handle_EHLO(
        self, server: SmtpSession, session: Session, envelope: Envelope, name: str, _: list[str]
    ) -> list[str]:
        """Greet, and offer what the next host offers."""
        session.host_name = name
        loop = asyncio.get_running_loop()
        offered = await loop.run_in_executor(self._owner.pool, self._relay.greet)
        if offered is None:
            return ["421 4.4.1 The next host does not answer; try again later"]
        return [f"250-{HOSTNAME}", "250-PIPELINING", *(f"250-{each}" for each in offered), "250 HELP"]

    async def handle_RSET(self, server: SmtpSession, session: Session, envelope: Envelope) -> str:
        """Forget the message that was begun, here and there."""
        await asyncio.get_running_loop().run_in_executor(self._owner.pool, self._relay.reset)
        return "250 2.0.0 OK"

    async def handle_DATA(self, server: SmtpSession, session: Session, envelope: Envelope) -> bytes:
        """Judge the message and pass it on; the next host's reply."""
        self.is_forwarding = True
        try:
            content = _BARE_LINE_END.sub(b"\r\n", envelope.original_content or b"")
            return await self._run_in_thread(lambda: self._filter_and_forward(content))
        finally:
            self.is_forwarding = False

    async def handle_exception(self, error: Exception) -> bytes:
        """Whatever happened, the message stays with its sender."""
        return JUDGING_FAILED

    def _filter_and_forward(self, content: bytes) -> bytes:
        try:
            judged = self._owner.service.filter(content)
        except Exception:
            return JUDGING_FAILED
        return self._relay.data(judged)

    async def _run_in_thread(self, work: Callable[[], bytes]) -> bytes:
        return await asyncio.get_running_loop().run_in_executor(self._owner.pool, work)


# A name of its own: mail systems take a host that greets with their name for themselves, and speak of a loop.
HOSTNAME = "weigh.localhost"
RELAY_TIMEOUT = 120.0
UNAVAILABLE = b"451 4.4.1 The next host does not answer; try again later"
_SERVICE_CLOSING = 421
# What can be passed on without knowing more of it.
_FORWARDED_EXTENSIONS = ("8bitmime", "smtputf8", "dsn", "enhancedstatuscodes")
# For the header that is added to a message.
_RESERVED_HEADER_BYTES = 1024


class SmtpRelay:
    """A conversation with the next host, by one thread at a time.

    Whatever goes wrong is answered for now: with a reply that leaves the message with its sender.
    """

    def __init__(self, host: str, port: int, patience: float = RELAY_TIMEOUT) -> None:
        self._address = (host, port)
        self._timeout = patience
        self._lock = threading.Lock()
        self._connection: smtplib.SMTP | None = None
        self._is_in_transaction = False

    def greet(self) -> list[str] | None:
        """Begin anew, and return the extensions of the next host that can be offered; None if it is away."""
        with self._lock:
            is_there = self._send_command("RSET").startswith(b"2") or self._connect()
            return self._extensions() if is_there else None

    def mail(self, argument: str) -> bytes:
        """Pass the sender on; a host that has hung up meanwhile is called again."""
        with self._lock:
            # A message that was too long has been refused here, and the next host knows nothing of that.
            if self._is_in_transaction:
                self._send_command("RSET")
            reply = self._send_command("MAIL", argument)
            if self._connection is None and self._connect():
                reply = self._send_command("MAIL", argument)
            self._is_in_transaction = reply.startswith(b"2")
            return reply

    def recipient(self, argument: str) -> bytes:
        """Pass a recipient on."""
        with self._lock:
            return self._send_command("RCPT", argument)

    def reset(self) -> None:
        """Forget the message that was begun."""
        with self._lock:
            self._send_command("RSET")

    def data(self, content: bytes) -> bytes:
        """Pass the message on; if the reply begins with 2, the next host is responsible for it."""
        with self._lock:
            if self._connection is None:
                return UNAVAILABLE
            self._is_in_transaction = False
            try:
                return self._format_reply(*self._connection.data(content))
            except smtplib.SMTPDataError as refusal:
                text = refusal.smtp_error
                return self._format_reply(
                    refusal.smtp_code, text if isinstance(text, bytes) else text.encode()
                )
            except (OSError, smtplib.SMTPException):
                return self._disconnect()

    def close(self) -> None:
        """Hang up, after whatever is being said."""
        with self._lock:
            if self._connection is not None:
                with contextlib.suppress(OSError, smtplib.SMTPException):
                    # Its goodbye is not worth waiting for.
                    self._connection.putcmd("QUIT")
                self._disconnect()

    def abort(self) -> None:
        """Hang up in the middle of a word, from any thread."""
        line = self._connection.sock if self._connection is not None else None
        if line is not None:
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

    def _connect(self) -> bool:
        self._disconnect()
        try:
            self._connection = smtplib.SMTP(*self._address, local_hostname=HOSTNAME, timeout=self._timeout)
            # Replies to what is not ASCII are the next host's business.
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
        """A reply as it goes back, unless the next host hangs up or speaks something else than SMTP."""
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
