"""Who may ask for what: tokens with scopes, the checks of Host and Origin, and security headers."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import os
import re
import socket
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from weigh import errors
from weigh.atomic_files import error_reason
from weigh.serve.http.problems import Problem
from weigh.serve.http.reply import Header, Message, Receive, Scope, Send, route_path

READ, LEARN = "read", "learn"
SCOPES = (READ, LEARN)
MIN_TOKEN_LENGTH = 16
MAX_TOKENS = 1_000
MAX_TOKEN_FILE = 1 << 20
SECONDS_BETWEEN_LOOKS = 1.0
_NAME = re.compile(r"[\w.@-]{1,64}")
_HASH = re.compile(r"sha256:([0-9a-f]{64})")

# Only scripts, styles and pictures of this server; no frames, no plug-ins, no forms to elsewhere.
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_COMMON_HEADERS: tuple[Header, ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
DATA_HEADERS: tuple[Header, ...] = (
    *_COMMON_HEADERS,
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)
PAGE_HEADERS: tuple[Header, ...] = (
    *_COMMON_HEADERS,
    (b"content-security-policy", CONTENT_POLICY.encode()),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)


class Token(NamedTuple):
    """A token as the file describes it; the file may hold its hash instead of the token itself."""

    name: str
    scopes: frozenset[str]
    digest: bytes


class TokenFile:
    """Tokens from a file, which is read again when it changes.

    A line is `NAME SCOPES TOKEN`: scopes are `read`, `learn` or `read,learn`, and the token has at least 16
    characters, or is `sha256:` and its hash in hexadecimal digits. Empty lines and lines that begin with #
    are skipped. If a changed file cannot be read, the tokens stay as they were, and `log` gets a line.
    """

    def __init__(self, path: str | os.PathLike[str], log: Callable[[str], None] | None = None) -> None:
        self.path = os.fspath(path)
        self.log = log or (lambda line: None)
        self._signature = self._read_signature()
        self._tokens = self._read()
        self._next_look = 0.0
        self._problem = ""

    def find(self, secret: bytes) -> Token | None:
        """Return the token with this secret; the time that it takes does not depend on the secret."""
        self._read_if_changed()
        digest, found = hashlib.sha256(secret).digest(), None
        for token in self._tokens:
            if hmac.compare_digest(token.digest, digest):
                found = token
        return found

    @property
    def is_public(self) -> bool:
        """Whether other users of this machine may read the file."""
        return bool(os.stat(self.path).st_mode & 0o044)

    def _read_if_changed(self) -> None:
        now = time.monotonic()
        if now < self._next_look:
            return
        self._next_look = now + SECONDS_BETWEEN_LOOKS
        try:
            signature = self._read_signature()
            if signature == self._signature:
                return
            self._signature = signature
            self._tokens = self._read()
        except errors.WeighError as error:
            problem = f"the tokens stay as they were, because {str(error).rstrip('.')}"
            if problem != self._problem:
                self.log(problem)
            self._problem = problem
        else:
            self._problem = ""
            self.log(f"read {len(self._tokens):,} tokens from {self.path}")

    def _read_signature(self) -> tuple[int, int, int] | None:
        try:
            status = os.stat(self.path)
        except OSError as error:
            raise self._error(f"cannot be read: {error_reason(error)}") from error
        return status.st_mtime_ns, status.st_size, status.st_ino

    def _read(self) -> tuple[Token, ...]:
        try:
            with open(self.path, encoding="utf-8") as file:
                lines = file.read(MAX_TOKEN_FILE).splitlines()
        except (OSError, ValueError) as error:
            reason = error_reason(error) if isinstance(error, OSError) else "it is not UTF-8"
            raise self._error(f"cannot be read: {reason}") from error
        tokens = tuple(
            self._parse(number, line)
            for number, line in enumerate(lines, 1)
            if line.strip() and not line.lstrip().startswith("#")
        )
        if not 0 < len(tokens) <= MAX_TOKENS:
            raise self._error(f"has {len(tokens):,} tokens; give 1 to {MAX_TOKENS:,}")
        if len({token.digest for token in tokens}) < len(tokens):
            raise self._error("has the same token twice")
        return tokens

    def _parse(self, number: int, line: str) -> Token:
        words = line.split()
        if len(words) != 3 or not _NAME.fullmatch(words[0]):
            raise self._error(f"line {number:,} is not NAME SCOPES TOKEN, such as: alice read,learn TOKEN")
        name, scopes, secret = words[0], words[1].split(","), words[2]
        if not set(scopes) <= set(SCOPES):
            raise self._error(f"line {number:,} has other scopes than read and learn")
        hashed = _HASH.fullmatch(secret)
        if hashed is None and len(secret) < MIN_TOKEN_LENGTH:
            raise self._error(f"line {number:,} has a token of fewer than {MIN_TOKEN_LENGTH} characters")
        digest = bytes.fromhex(hashed[1]) if hashed else hashlib.sha256(secret.encode()).digest()
        return Token(name, frozenset(scopes), digest)

    def _error(self, problem: str) -> errors.FileError:
        separator = ": " if problem.startswith("line") else " "
        return errors.FileError(f"The token file {self.path}{separator}{problem}.")


@dataclass(frozen=True)
class Access:
    """Who may use the service.

    Attributes
    ----------
    tokens : a `TokenFile`; without one, everybody who reaches the server may read and learn
    hosts : names under which the server is reached, besides localhost, its own name and IP addresses. Others
        are refused, because a hostile page could point its own name at this server (DNS rebinding)
    """

    tokens: TokenFile | None = None
    hosts: Collection[str] = field(default_factory=frozenset)


class CheckAccess:
    """ASGI middleware that checks hosts, origins and tokens, and adds security headers."""

    def __init__(self, app: Any, access: Access) -> None:
        self._app, self._tokens = app, access.tokens
        self._hosts = {"localhost", socket.gethostname().lower(), *(name.lower() for name in access.hosts)}
        self._known_hosts: set[bytes] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401 or 403, or pass the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = dict(message.get("headers", ()))
                is_page = given.get(b"content-type", b"").startswith(b"text/html")
                added = PAGE_HEADERS if is_page else DATA_HEADERS
                message["headers"] = [*message.get("headers", ()), *(h for h in added if h[0] not in given)]
            await send(message)

        try:
            self._check(scope)
        except Problem as problem:
            await problem.to_reply().send(send_with_headers)
        else:
            await self._app(scope, receive, send_with_headers)

    def _check(self, scope: Scope) -> None:
        headers = scope["weigh.headers"] = dict(scope["headers"])
        host = headers.get(b"host", b"")
        if len(headers) < len(scope["headers"]) and _count_hosts(scope) > 1:
            raise Problem(400, "The request has several headers Host.")
        if host not in self._known_hosts:
            self._check_host(host)
        _check_origin(headers, host)
        needed = required_scope(route_path(scope))
        if self._tokens is not None and needed is not None:
            token = self._find_token(self._tokens, headers.get(b"authorization", b""))
            scope["weigh.token"] = token.name
            scope["weigh.scopes"] = token.scopes
            if needed not in token.scopes:
                raise Problem(403, f"This token does not have the scope '{needed}'.")

    def _check_host(self, host: bytes) -> None:
        name = _host_name(host)
        if name not in self._hosts and not _is_ip_address(name):
            shown = errors.one_line_repr(name, 80)
            raise Problem(403, f"This server is not called {shown}. Whoever runs it may allow the name.")
        if len(self._known_hosts) < MAX_TOKENS:
            self._known_hosts.add(host)

    @staticmethod
    def _find_token(tokens: TokenFile, header: bytes) -> Token:
        scheme, _, secret = header.partition(b" ")
        if scheme.lower() != b"bearer" or not secret.strip():
            detail = "This server needs a token; send the header Authorization: Bearer TOKEN."
            raise Problem(401, detail, [(b"www-authenticate", b"Bearer")])
        token = tokens.find(secret.strip())
        if token is None:
            challenge = b'Bearer error="invalid_token"'
            raise Problem(401, "This token is unknown.", [(b"www-authenticate", challenge)])
        return token


def required_scope(path: str) -> str | None:
    """Return the scope that an address needs; health, the page's own files and the API document need none."""
    if path.startswith("/v1/"):
        # A model itself may be called 'learn'.
        is_change = path.endswith(("/learn", "/forget")) and path.count("/") > 3
        return LEARN if is_change else READ
    return READ if path == "/metrics" or path.startswith("/page/") else None


def _check_origin(headers: Mapping[bytes, bytes], host: bytes) -> None:
    """Raise the problem 403 for a request that a page of another server makes."""
    origin = headers.get(b"origin")
    site = headers.get(b"sec-fetch-site", b"none")
    # A link to the page from elsewhere is a navigation without Origin, and harmless.
    is_navigation = headers.get(b"sec-fetch-mode") == b"navigate" and origin is None
    is_foreign = site not in (b"none", b"same-origin") and not is_navigation
    if origin is not None:
        scheme, _, place = origin.partition(b"://")
        default = b":443" if scheme == b"https" else b":80"
        is_foreign |= place.removesuffix(default).lower() != host.removesuffix(default).lower()
    if is_foreign:
        raise Problem(403, "A page of another server made this request; only this server's own page may.")


def _count_hosts(scope: Scope) -> int:
    return sum(name == b"host" for name, _ in scope["headers"])


def _host_name(host: bytes) -> str:
    text = host.decode("latin-1").lower()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.rpartition(":")[0] if ":" in text else text


def _is_ip_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Whether an address to listen on is reached from this machine only."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
