"""Hypothesis strategies for messages: MIME trees with known leaf texts."""

from __future__ import annotations

import base64
import quopri
from dataclasses import dataclass

from hypothesis import strategies as st

SINGLE = [
    "iso-8859-1",
    "iso-8859-2",
    "iso-8859-5",
    "iso-8859-7",
    "iso-8859-9",
    "iso-8859-15",
    "koi8-r",
    "koi8-u",
]
SINGLE += [f"windows-125{digit}" for digit in range(9)]
WIDE = {
    "gb2312": "中文邮件你好",
    "gbk": "中文郵件你好",
    "gb18030": "中文郵件ſ你好",
    "big5": "中文郵件你好",
    "shift_jis": "日本語メールﾃｽﾄ",
    "iso-2022-jp": "日本語メール",
    "euc-jp": "日本語メール",
    "euc-kr": "한국어메일",
}
UNICODE = {"utf-8": "é中😀 ѣß\u200b", "utf-16": "é中😀", "us-ascii": "a"}
PLAIN = "ab Z09.,:;-=_?<&\n\t"


def alphabet(charset: str) -> str:
    """Return characters of a charset, without control characters, which HTML decodes differently."""
    if charset in WIDE or charset in UNICODE:
        return PLAIN + WIDE.get(charset, "") + UNICODE.get(charset, "")
    upper = bytes(range(0xA0, 0x100)).decode(charset, "ignore")
    return PLAIN + upper


@dataclass(frozen=True)
class Leaf:
    """A leaf with its text, or bytes if it is not text."""

    type: str
    charset: str
    encoding: str
    text: str

    def headers(self) -> str:
        """Return the header lines."""
        charset = f'; charset="{self.charset}"' if self.charset else ""
        return f"Content-Type: {self.type}{charset}\nContent-Transfer-Encoding: {self.encoding}\n"

    def body(self) -> bytes:
        """Return the encoded text."""
        raw = self.text.encode(self.charset or "utf-8")
        if self.encoding == "base64":
            return base64.encodebytes(raw)
        return quopri.encodestring(raw) if self.encoding == "quoted-printable" else raw

    def leaves(self) -> list[Leaf]:
        """Return all leaves in order."""
        return [self]

    def height(self) -> int:
        """Return the nesting depth, which makes boundaries distinct."""
        return 0


@dataclass(frozen=True)
class Multipart:
    """A multipart with its parts."""

    type: str
    boundary: str
    parts: tuple[Tree, ...]
    around: str

    def headers(self) -> str:
        """Return the header lines."""
        return f'Content-Type: multipart/{self.type};\n boundary="{self.boundary}"\n'

    def body(self) -> bytes:
        """Return the preamble, the parts between boundaries and the epilogue."""
        mark = f"\n--{self.boundary}".encode()
        parts = b"".join(mark + b"\n" + to_bytes(part) for part in self.parts)
        return self.around.encode() + parts + mark + b"--\n" + self.around.encode()

    def leaves(self) -> list[Leaf]:
        """Return all leaves in order."""
        return [leaf for part in self.parts for leaf in part.leaves()]

    def height(self) -> int:
        """Return the nesting depth, which makes boundaries distinct."""
        return 1 + max(part.height() for part in self.parts)


@dataclass(frozen=True)
class NestedMessage:
    """A message inside a message."""

    tree: Tree

    def headers(self) -> str:
        """Return the header lines."""
        return "Content-Type: message/rfc822\n"

    def body(self) -> bytes:
        """Return the inner message."""
        return b"Subject: inside\n" + to_bytes(self.tree)

    def leaves(self) -> list[Leaf]:
        """Return all leaves in order."""
        return self.tree.leaves()

    def height(self) -> int:
        """Return the nesting depth, which makes boundaries distinct."""
        return 1 + self.tree.height()


Tree = Leaf | Multipart | NestedMessage


def to_bytes(tree: Tree) -> bytes:
    """Return headers and body."""
    return tree.headers().encode() + b"\n" + tree.body()


@st.composite
def leaves(draw: st.DrawFn) -> Leaf:
    """Strategy for a text in some charset and encoding, or an attachment."""
    charset = draw(st.sampled_from([*SINGLE, *WIDE, *UNICODE]))
    kind = draw(st.sampled_from(["text/plain"] * 4 + ["text/x-patch", "image/png"]))
    encodings = ["base64", "quoted-printable"] + ["8bit"] * (charset != "utf-16")
    text = draw(st.text(alphabet(charset), max_size=120))
    return Leaf(kind, charset, draw(st.sampled_from(encodings)), text)


@st.composite
def _multiparts(draw: st.DrawFn, inner: st.SearchStrategy[Tree]) -> Multipart:
    parts = tuple(draw(st.lists(inner, min_size=1, max_size=3)))
    kind = draw(st.sampled_from(["mixed", "alternative", "related", "signed"]))
    return Multipart(
        kind,
        f"b0undary {max(part.height() for part in parts)}'()+_,-./:=?x",
        parts,
        draw(st.sampled_from(["", "none sees this\n"])),
    )


def trees() -> st.SearchStrategy[Tree]:
    """Strategy for leaves, multiparts and nested messages."""
    return st.recursive(
        leaves(), lambda inner: _multiparts(inner) | st.builds(NestedMessage, inner), max_leaves=6
    )
