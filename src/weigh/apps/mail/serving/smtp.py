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
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

from aiosmtpd.smtp import SMTP, Envelope, Session

from weigh.apps.mail.serving.protocol import LONGEST_MESSAGE
from weigh.apps.mail.serving.relay import HOSTNAME, Relay
from weigh.apps.mail.serving.service import Service

PATIENCE = 600
GRACE = 30.0
MOST_CLIENTS = 50
FAILED = b"451 4.3.0 The message could not be judged; try again later"
_ODD_ENDING = re.compile(rb"\r(?!\n)|(?<!\r)\n")
_UNSPEAKABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")


class SmtpServer:
    """Takes mail from clients and gives it, judged, to the host at `next_address`."""

    def __init__(self, service: Service, next_address: tuple[str, int]) -> None:
        self.service = service
        self.next_address = next_address
        self.pool = ThreadPoolExecutor(MOST_CLIENTS, "weigh-smtp")
        self.clients: set[Client] = set()
        self.is_stopping = False
        self._all_gone = asyncio.Event()
        self._server: asyncio.Server | None = None

    async def start(self, address: tuple[str, int]) -> tuple[str, int]:
        """Accept clients from now on; the address where."""
        # It tells who writes to whom, at some levels every line of every message.
        logging.getLogger("mail.log").setLevel(logging.CRITICAL + 1)
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: Client(self), *address)
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
            self._all_gone.clear()
            try:
                await asyncio.wait_for(self._all_gone.wait(), GRACE)
            except TimeoutError:
                for client in self.clients:
                    client.relay.abort()
        self.pool.shutdown(wait=False)

    def left(self, client: Client) -> None:
        """A client has hung up."""
        self.clients.discard(client)
        # At the very end there is nobody left to do it, and the system hangs up.
        with contextlib.suppress(RuntimeError):
            self.pool.submit(client.relay.close)
        if not self.clients:
            self._all_gone.set()


class Client(SMTP):
    """A conversation with a client: what it says of senders and recipients is passed on as it is."""

    # Real messages have longer lines than the standard allows.
    line_length_limit = 1 << 20
    command_size_limits: ClassVar[dict[str, int]] = collections.defaultdict(lambda: 4096)

    def __init__(self, owner: SmtpServer) -> None:
        self.owner = owner
        self.relay = Relay(*owner.next_address)
        self.passage = Passage(owner, self.relay)
        super().__init__(
            self.passage,
            data_size_limit=LONGEST_MESSAGE,
            enable_SMTPUTF8=True,
            hostname=HOSTNAME,
            ident="weigh",
            timeout=PATIENCE,
            loop=asyncio.get_running_loop(),
        )

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self.owner.clients.add(self)
        super().connection_made(transport)
        if len(self.owner.clients) > MOST_CLIENTS:
            self.dismiss(b"421 4.3.2 Too many connections; try again later")

    def connection_lost(self, error: Exception | None) -> None:
        """End; the next host is told after what it is just being given."""
        super().connection_lost(error)
        self.owner.left(self)

    def dismiss(self, status: bytes) -> None:
        """Hang up, unless a message is being passed on, whose sender has to hear what became of it."""
        if not self.passage.is_passing and self.transport is not None:
            self.transport.write(status + b"\r\n")
            self.transport.close()

    async def push(self, status: str | bytes) -> None:
        """Reply."""
        await super().push(status)
        if self.owner.is_stopping and not self.passage.is_passing and self.transport is not None:
            self.transport.close()

    async def smtp_MAIL(self, arg: str | None) -> None:
        """Pass a sender on."""
        if await self.check_helo_needed():
            return
        if self.envelope.mail_from is not None:
            await self.push("503 5.5.1 Error: nested MAIL command")
            return
        reply = await self.passage.asked(self.relay.mail, arg)
        if reply.startswith(b"2"):
            self.envelope.mail_from = arg
        await self.push(reply)

    async def smtp_RCPT(self, arg: str | None) -> None:
        """Pass a recipient on."""
        if self.envelope.mail_from is None:
            await self.push("503 5.5.1 Error: need MAIL command")
            return
        reply = await self.passage.asked(self.relay.recipient, arg)
        if reply.startswith(b"2"):
            self.envelope.rcpt_tos.append(arg)
        await self.push(reply)


class Passage:
    """What aiosmtpd asks at the turns of a conversation."""

    def __init__(self, owner: SmtpServer, relay: Relay) -> None:
        self._owner = owner
        self._relay = relay
        self.is_passing = False

    async def asked(self, ask: Callable[[str], bytes], argument: str | None) -> bytes:
        """The next host's reply to a command."""
        if not argument or _UNSPEAKABLE.search(argument):
            return b"501 5.5.4 Syntax error in parameters"
        return await self._in_thread(lambda: ask(argument))

    async def handle_HELO(self, server: Client, session: Session, envelope: Envelope, name: str) -> str:
        """Greet."""
        return (await self.handle_EHLO(server, session, envelope, name, []))[-1][:4] + HOSTNAME

    async def handle_EHLO(
        self, server: Client, session: Session, envelope: Envelope, name: str, _: list[str]
    ) -> list[str]:
        """Greet, and offer what the next host offers."""
        session.host_name = name
        loop = asyncio.get_running_loop()
        offered = await loop.run_in_executor(self._owner.pool, self._relay.greet)
        if offered is None:
            return ["421 4.4.1 The next host does not answer; try again later"]
        return [f"250-{HOSTNAME}", "250-PIPELINING", *(f"250-{each}" for each in offered), "250 HELP"]

    async def handle_RSET(self, server: Client, session: Session, envelope: Envelope) -> str:
        """Forget the message that was begun, here and there."""
        await asyncio.get_running_loop().run_in_executor(self._owner.pool, self._relay.reset)
        return "250 2.0.0 OK"

    async def handle_DATA(self, server: Client, session: Session, envelope: Envelope) -> bytes:
        """Judge the message and pass it on; the next host's reply."""
        self.is_passing = True
        try:
            content = _ODD_ENDING.sub(b"\r\n", envelope.original_content or b"")
            return await self._in_thread(lambda: self._passed(content))
        finally:
            self.is_passing = False

    async def handle_exception(self, error: Exception) -> bytes:
        """Whatever happened, the message stays with its sender."""
        return FAILED

    def _passed(self, content: bytes) -> bytes:
        try:
            judged = self._owner.service.filtered(content)
        except Exception:
            return FAILED
        return self._relay.data(judged)

    async def _in_thread(self, work: Callable[[], bytes]) -> bytes:
        return await asyncio.get_running_loop().run_in_executor(self._owner.pool, work)
