"""A slow reference implementation of contexts in plain Python, straight from the definition."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MAX_WORD_LENGTH = 40
PARAGRAPH = "¶"
JOINS = re.compile("[-‐‑/\\\\@#=+~^|\xad\u200c\u200d\u2060\u0300-\u036f]")
QUOTES = dict.fromkeys("“”„«»", '"') | dict.fromkeys("‘’", "'") | dict.fromkeys("–―", "—")
TOKEN = re.compile(
    r"(?P<word>(?:[^\W_]|_\w)(?:\w|['’](?=[^\W_]))*)"
    r"|(?P<code>\x1a+)"
    r"|(?P<paragraph>[^\S\n\x1d]*\n[^\S\n\x1d]*\n[^\S\x1d]*|¶+|\x1d+)"
    r"|[^\S\x1d]+"
    r"|(?P<mark>(?P<bad>[\udc80-\udcff])|(?P<one>.)(?P=one)*)",
    re.DOTALL,
)
HEADING = re.compile("(\x1d\x1d[^\n]*)\n")


@dataclass(frozen=True)
class Token:
    """A token of a text, and its name in features."""

    name: str
    begin: int
    end: int
    raw: str = ""

    @property
    def is_word(self) -> bool:
        """Whether the token is a word; only words have a raw text."""
        return self.raw != ""

    @property
    def is_capital(self) -> bool:
        """Whether lower case changes the first letter."""
        return self.raw[:1].lower() != self.raw[:1]

    @property
    def is_in_capitals(self) -> bool:
        """Whether the token has two or more letters, all capitals."""
        letters = [c for c in self.raw if c.isalnum() and c not in "0123456789"]
        return len(letters) > 1 and all(c.lower() != c for c in letters)


@dataclass(frozen=True)
class Occurrence:
    """A set word in a text; `begin` and `size` are in bytes of UTF-8, `at` is the word position."""

    set: int
    member: int
    begin: int
    size: int
    at: int
    features: list[str]


def decoded(piece: bytes) -> str:
    """Decode UTF-8; invalid bytes become lone surrogates."""
    return piece.decode("utf-8", "surrogateescape")


def tokens(text: str) -> list[Token]:
    """Return all tokens of a text."""
    found = []
    for match in TOKEN.finditer(HEADING.sub("\\1\x1d", text)):
        raw, (begin, end) = match.group(), match.span()
        if match["word"]:
            found.append(Token(word_name(raw), begin, end, raw))
        elif match["code"]:
            found.append(Token("<code>", begin, end))
        elif match["paragraph"]:
            found.append(Token(PARAGRAPH, begin, end))
        elif match["mark"]:
            name = "\ufffd" if match["bad"] else "—" if re.fullmatch("--+", raw) else raw[0]
            found.append(Token(QUOTES.get(name, name), begin, end))
    return found


def word_name(raw: str) -> str:
    """Return the name of a word in features."""
    if raw.isascii() and raw.isdigit():
        return "0"
    return "<long>" if len(raw) > MAX_WORD_LENGTH else raw.lower().replace("’", "'")


def is_joined(text: str, token: Token) -> bool:
    """Return whether a word is joined to a neighbour, for example by a hyphen."""
    # Padding avoids special cases at both ends of the text.
    text = "  " + text + "  "
    back, before = text[token.begin : token.begin + 2]
    after, beyond = text[token.end + 2 : token.end + 4]
    return joins(before, back) or joins(after, beyond)


def joins(neighbour: str, beyond: str) -> bool:
    """Return whether a character joins a word with the text beyond; two hyphens are a dash."""
    if neighbour in ".:()[]{}":
        return beyond.isalnum()
    return JOINS.match(neighbour) is not None and not neighbour == beyond == "-"


def features(paragraph: list[Token], i: int, window: int) -> list[str]:
    """Return the names of the features of token i."""
    names = [PARAGRAPH, PARAGRAPH, *(token.name for token in paragraph), PARAGRAPH, PARAGRAPH]
    l2, l1, _, r1, r2 = names[i : i + 5]
    found = [f"before:{l1}", f"after:{r1}", f"before:{l2} {l1}", f"after:{r1} {r2}", f"around:{l1} _ {r1}"]
    found += [f"before2:{l2}", f"after2:{r2}"]
    left, right = paragraph[:i][::-1], paragraph[i + 1 :]
    for side, tokens in (("before", left), ("after", right)):
        if tokens and tokens[0].is_word:
            if len(tokens[0].name) > 3 and tokens[0].name != "<long>":
                found.append(f"ending-{side}:{tokens[0].name[-3:]}")
            if tokens[0].is_capital:
                found.append(f"capital-{side}")
    if paragraph[i].is_capital:
        found.append("CAPITALS" if paragraph[i].is_in_capitals else "capital")
    near = [[token.name for token in side if token.is_word][:window] for side in (left, right)]
    return found + [f"near:{word}" for word in dict.fromkeys(near[0] + near[1])]


def contexts(piece: bytes, sets: Sequence[Sequence[str]], window: int = 6) -> Iterator[Occurrence]:
    """Yield all occurrences in a piece, in text order."""
    indices = {word: (i, j) for i, words in enumerate(sets) for j, word in enumerate(words)}
    text = decoded(piece)
    at = 0
    for paragraph in paragraphs(tokens(text)):
        for i, token in enumerate(paragraph):
            if token.is_word and token.name in indices and not is_joined(text, token):
                begin = len(text[: token.begin].encode("utf-8", "surrogateescape"))
                size = len(token.raw.encode())
                yield Occurrence(*indices[token.name], begin, size, at, features(paragraph, i, window))
            at += token.is_word


def paragraphs(found: list[Token]) -> list[list[Token]]:
    """Split tokens at the ends of paragraphs."""
    parts: list[list[Token]] = [[]]
    for token in found:
        if token.name == PARAGRAPH:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def count_words(piece: bytes) -> int:
    """Count the words of a piece."""
    return sum(token.is_word for token in tokens(decoded(piece)))
