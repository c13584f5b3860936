"""The next host: every command is passed on to it as it came, and its replies come back as they are."""

from __future__ import annotations

import contextlib
import smtplib
import socket
import threading

from weigh.apps.mail.serving.protocol import LONGEST_MESSAGE

# A name of its own: mail systems take a host that greets with their name for themselves, and speak of a loop.
HOSTNAME = "weigh.localhost"
PATIENCE = 120.0
UNAVAILABLE = b"451 4.4.1 The next host does not answer; try again later"
_CLOSING = 421
# What can be passed on without knowing more of it.
_EXTENSIONS = ("8bitmime", "smtputf8", "dsn", "enhancedstatuscodes")
# For the header that is added to a message.
_ROOM = 1024


class Relay:
    """A conversation with the next host, by one thread at a time.

    Whatever goes wrong is answered for now: with a reply that leaves the message with its sender.
    """

    def __init__(self, host: str, port: int, patience: float = PATIENCE) -> None:
        self._address = (host, port)
        self._patience = patience
        self._turn = threading.Lock()
        self._next: smtplib.SMTP | None = None
        self._is_begun = False

    def greet(self) -> list[str] | None:
        """Begin anew, and return the extensions of the next host that can be offered; None if it is away."""
        with self._turn:
            is_there = self._ask("RSET").startswith(b"2") or self._opened()
            return self._extensions() if is_there else None

    def mail(self, argument: str) -> bytes:
        """Pass the sender on; a host that has hung up meanwhile is called again."""
        with self._turn:
            # A message that was too long has been refused here, and the next host knows nothing of that.
            if self._is_begun:
                self._ask("RSET")
            reply = self._ask("MAIL", argument)
            if self._next is None and self._opened():
                reply = self._ask("MAIL", argument)
            self._is_begun = reply.startswith(b"2")
            return reply

    def recipient(self, argument: str) -> bytes:
        """Pass a recipient on."""
        with self._turn:
            return self._ask("RCPT", argument)

    def reset(self) -> None:
        """Forget the message that was begun."""
        with self._turn:
            self._ask("RSET")

    def data(self, content: bytes) -> bytes:
        """Pass the message on; if the reply begins with 2, the next host is responsible for it."""
        with self._turn:
            if self._next is None:
                return UNAVAILABLE
            self._is_begun = False
            try:
                return self._heard(*self._next.data(content))
            except smtplib.SMTPDataError as refusal:
                text = refusal.smtp_error
                return self._heard(refusal.smtp_code, text if isinstance(text, bytes) else text.encode())
            except (OSError, smtplib.SMTPException):
                return self._lost()

    def close(self) -> None:
        """Hang up, after whatever is being said."""
        with self._turn:
            if self._next is not None:
                with contextlib.suppress(OSError, smtplib.SMTPException):
                    # Its goodbye is not worth waiting for.
                    self._next.putcmd("QUIT")
                self._lost()

    def abort(self) -> None:
        """Hang up in the middle of a word, from any thread."""
        line = self._next.sock if self._next is not None else None
        if line is not None:
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

    def _opened(self) -> bool:
        self._lost()
        try:
            self._next = smtplib.SMTP(*self._address, local_hostname=HOSTNAME, timeout=self._patience)
            # Replies to what is not ASCII are the next host's business.
            self._next.command_encoding = "utf-8"
            self._next.ehlo_or_helo_if_needed()
        except (OSError, smtplib.SMTPException):
            self._lost()
        return self._next is not None

    def _extensions(self) -> list[str]:
        features = self._next.esmtp_features if self._next is not None else {}
        size = features.get("size", "")
        limit = (
            min(LONGEST_MESSAGE, max(int(size) - _ROOM, 1))
            if size.isdigit() and int(size)
            else LONGEST_MESSAGE
        )
        return [f"SIZE {limit}", *(each.upper() for each in _EXTENSIONS if each in features)]

    def _ask(self, command: str, argument: str = "") -> bytes:
        if self._next is None:
            return UNAVAILABLE
        try:
            return self._heard(*self._next.docmd(command, argument))
        except (OSError, smtplib.SMTPException):
            return self._lost()

    def _heard(self, code: int, text: bytes) -> bytes:
        """A reply as it goes back, unless the next host hangs up or speaks something else than SMTP."""
        if code == _CLOSING or code // 100 not in (2, 4, 5):
            return self._lost()
        *lines, last = text.split(b"\n")
        return b"\r\n".join([*(b"%d-%b" % (code, line) for line in lines), b"%d %b" % (code, last)])

    def _lost(self) -> bytes:
        if self._next is not None:
            self._next.close()
            self._next = None
        self._is_begun = False
        return UNAVAILABLE
