"""A parsed message: headers, MIME parts, text, links and flags."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import fill

from weigh import _core
from weigh.errors import parameter_error
from weigh.result import LINE_WIDTH, Lines, Part, Result, Section, Table
from weigh.text import format_count, truncate

FLAGS = _core.MAIL_FLAGS
MAX_TEXT_BYTES = 256 * 1024
_MAX_TEXT_LIMIT = 1 << 30
_SHOWN_HEADERS = ("from", "to", "date", "subject")


@dataclass(frozen=True)
class MimePart:
    """A leaf of the MIME tree.

    Attributes
    ----------
    type, charset, encoding, disposition : str
        As declared, in lower case; empty if not declared.
    file : str
        The file name, empty if there is none.
    size : int
        Bytes of the undecoded body.
    depth : int
        The number of enclosing parts.
    text : str
        The visible text; empty for other media types.
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
    """A link in a message.

    `origin` is the HTML attribute it comes from, or "text". `traits` are suspicious features: numeric-host,
    userinfo, port, punycode, escaped-host, unicode-host, disguised (its text shows another host).
    """

    url: str
    host: str
    origin: str
    traits: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Message(Result):
    """A parsed message: its headers, parts, text, links and flags.

    Attributes
    ----------
    headers : tuple of (str, str)
        Names in lower case with their decoded values, in order.
    parts : tuple of MimePart
        The leaves of the MIME tree, in order.
    text, hidden : str
        The visible text of all parts; text hidden by HTML styles, and titles.
    links : tuple of Link
        Links in attributes and text, in order.
    tags : tuple of str
        The distinct HTML tags.
    attributes : tuple of (str, str)
        Names and values of HTML attributes in lower case, in order; at most 40 bytes of each.
    flags : tuple of str
        Suspicious features, a subset of `weigh.source.mail.message.FLAGS`.
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
        """Return the value of the first header with a name, None if there is none."""
        name = name.lower()
        return next((value for header, value in self.headers if header == name), None)

    def sections(self) -> list[Section]:
        """Return the main headers, the parts, the hosts of the links and the flags."""
        headers = [(name, self.header(name)) for name in _SHOWN_HEADERS]
        lines = [f"{name.capitalize()}: {value}" for name, value in headers if value is not None]
        rows = [[part.type, format_count(part.size), format_count(len(part.text))] for part in self.parts]
        rows = [["part", "bytes", "characters of text"], *rows]
        caption = "Parts" if self.header("subject") else "(no subject)"
        table = Table(rows, caption=caption, indent="  ", widths=(40,))
        header_lines = [Lines("\n".join(truncate(line, LINE_WIDTH) for line in lines))] if lines else []
        parts: list[Part] = [*header_lines, table]
        hosts = list(dict.fromkeys(link.host for link in self.links))
        if hosts:
            parts.append(Lines(truncate("Links to: " + ", ".join(hosts), LINE_WIDTH)))
        if self.flags:
            parts.append(Lines(fill("Flags: " + ", ".join(self.flags), LINE_WIDTH, break_on_hyphens=False)))
        return [Section("message", parts)]


def read(raw: bytes, text_bytes: int = MAX_TEXT_BYTES) -> Message:
    """Parse one raw message; malformed bytes never raise.

    At most `text_bytes` of text are decoded; parts that are not text are not decoded.
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
