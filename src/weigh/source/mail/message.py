"""What the native reader found in one raw message."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from textwrap import fill
from typing import Any

from weigh import _core
from weigh.errors import parameter_error
from weigh.text import format_count, html_table, text_table, truncate

FLAGS = _core.MAIL_FLAGS
MAX_TEXT_BYTES = 256 * 1024
_MAX_TEXT_LIMIT = 1 << 30
_WIDTH = 80
_SHOWN_HEADERS = ("from", "to", "date", "subject")


@dataclass(frozen=True)
class MimePart:
    """A leaf of the tree of MIME parts.

    Attributes
    ----------
    type, charset, encoding, disposition : str
        As declared, in lower case; empty if the headers do not say.
    file : str
        The file's name, if there is one.
    size : int
        Bytes of the undecoded body.
    depth : int
        How many parts are around it.
    text : str
        What it shows; empty unless it is text.
    """

    type: str
    charset: str
    encoding: str
    disposition: str
    file: str
    size: int
    depth: int
    text: str


@dataclass(frozen=True)
class Link:
    """An address that a message leads to.

    `origin` is the attribute it comes from, or "text". `traits` tell what is odd: numeric-host, userinfo,
    port, punycode, escaped-host, unicode-host, disguised (its text shows another host).
    """

    url: str
    host: str
    origin: str
    traits: tuple[str, ...]


@dataclass(frozen=True)
class Message:
    """One message: its headers, parts, text, links, and what is remarkable about it.

    Attributes
    ----------
    headers : tuple of (str, str)
        Names in lower case with their decoded values, in order.
    parts : tuple of Part
        The leaves of the MIME tree, in order.
    text, hidden : str
        The visible text of all parts; what HTML hides by its style, and titles.
    links : tuple of Link
        Addresses of attributes and texts, in order.
    tags : tuple of str
        The HTML tags in use, each once.
    attributes : tuple of (str, str)
        Names and values of the attributes of HTML tags in lower case, in order; at most 40 bytes of each.
    flags : tuple of str
        Some of `weigh.source.mail.message.FLAGS`.
    """

    headers: tuple[tuple[str, str], ...]
    parts: tuple[MimePart, ...]
    text: str
    hidden: str
    links: tuple[Link, ...]
    tags: tuple[str, ...]
    attributes: tuple[tuple[str, str], ...]
    flags: tuple[str, ...]

    def header(self, name: str) -> str | None:
        """The value of the first header of a name."""
        wanted = name.lower()
        return next((value for each, value in self.headers if each == wanted), None)

    def to_dict(self) -> dict[str, Any]:
        """The message as plain JSON."""
        plain = asdict(self)
        return (
            plain
            | {"headers": [list(each) for each in self.headers], "tags": list(self.tags)}
            | {"attributes": [list(each) for each in self.attributes]}
            | {
                "parts": list(plain["parts"]),
                "links": [each | {"traits": list(each["traits"])} for each in plain["links"]],
                "flags": list(self.flags),
            }
        )

    def __str__(self) -> str:
        told = [(name, self.header(name)) for name in _SHOWN_HEADERS]
        lines = [
            truncate(f"{name.capitalize()}: {value}", _WIDTH) for name, value in told if value is not None
        ]
        lines.append(text_table(self._table(), indent="  "))
        hosts = list(dict.fromkeys(link.host for link in self.links))
        if hosts:
            lines.append(truncate("Leads to: " + ", ".join(hosts), _WIDTH))
        if self.flags:
            lines.append(fill("Flags: " + ", ".join(self.flags), _WIDTH, break_on_hyphens=False))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return html_table(self.header("subject") or "(no subject)", self._table())

    def _table(self) -> list[list[str]]:
        head = ["part", "bytes", "signs of text"]
        return [
            head,
            *(
                [truncate(part.type, 40), format_count(part.size), format_count(len(part.text))]
                for part in self.parts
            ),
        ]


def read(raw: bytes, text_bytes: int = MAX_TEXT_BYTES) -> Message:
    """Read one raw message; whatever its bytes are, a message comes out.

    At most `text_bytes` of text are decoded, and never what is no text.
    """
    if type(text_bytes) is not int or not 0 <= text_bytes <= _MAX_TEXT_LIMIT:
        raise parameter_error("read", "text_bytes", f"a whole number up to {_MAX_TEXT_LIMIT:,}", text_bytes)
    headers, parts, text, hidden, links, tags, attributes, flags = _core.read_mail(raw, text_bytes)
    return Message(
        headers=headers,
        parts=tuple(MimePart(*part) for part in parts),
        text=text,
        hidden=hidden,
        links=tuple(Link(*link) for link in links),
        tags=tags,
        attributes=attributes,
        flags=flags,
    )
