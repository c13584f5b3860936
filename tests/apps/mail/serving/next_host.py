"""A real SMTP server as the next host; it records what it receives and can be told to reject it."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP


@dataclass
class NextHost:
    """Records received messages and commands; `rejections` maps parts of recipients to replies."""

    received: list = field(default_factory=list)
    commands: list = field(default_factory=list)
    rejections: dict = field(default_factory=dict)
    data_reply: str = "250 2.0.0 queued as 7"
    pause: float = 0.0

    async def handle_DATA(self, server, session, envelope):
        await asyncio.sleep(self.pause)
        if self.data_reply.startswith("2"):
            self.received.append((envelope.mail_from, envelope.rcpt_tos, envelope.original_content))
        return self.data_reply


class VerbatimSmtp(SMTP):
    """An SMTP server with DSN that keeps the arguments verbatim."""

    line_length_limit = 1 << 20

    async def smtp_EHLO(self, hostname):
        self.session.extended_smtp, self.session.host_name = True, hostname
        self._set_rset_state()
        await self.push(
            "250-next.example\r\n250-SIZE 40000\r\n250-DSN\r\n250-8BITMIME\r\n250-STARTTLS\r\n"
            "250-CHUNKING\r\n250 SMTPUTF8"
        )

    async def smtp_MAIL(self, arg):
        if self.envelope.mail_from is not None:
            await self.push("503 5.5.1 nested MAIL")
            return
        self.event_handler.commands.append(f"MAIL {arg}")
        self.envelope.mail_from = arg
        await self.push("250-2.1.0 fine\r\n250 2.1.0 go on")

    async def smtp_RCPT(self, arg):
        self.event_handler.commands.append(f"RCPT {arg}")
        reply = next((text for part, text in self.event_handler.rejections.items() if part in arg), None)
        if reply is None:
            self.envelope.rcpt_tos.append(arg)
        await self.push(reply or "250 2.1.5 OK")


class Host(Controller):
    def factory(self):
        return VerbatimSmtp(
            self.handler, enable_SMTPUTF8=True, hostname="next.example", data_size_limit=1 << 27
        )

    def _trigger_server(self):
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()


@contextlib.contextmanager
def next_host(port=0, **settings):
    """Run a next host in a thread during the block."""
    host = Host(NextHost(**settings), hostname="127.0.0.1", port=port)
    host.start()
    try:
        yield host
    finally:
        host.stop()
