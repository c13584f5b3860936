"""A stand-in for the native reader."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from weigh.features.names import Names

JOIN = set("-\u2010\u2011/\\@#=+~^|")
QUOTES = {"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "–": "—", "―": "—"}
TOKEN = re.compile(
    r"(?P<word>[^\W_](?:[\w]|['’](?=[^\W_]))*)"
    r"|(?P<under>_+\w(?:\w|['’](?=[^\W_]))*)"
    r"|(?P<code>\x1a+)"
    r"|(?P<break>[^\S\n]*\n[^\S\n]*\n\s*)"
    r"|(?P<space>\s+)"
    r"|(?P<mark>(?P<one>.)(?P=one)*)",
    re.S,
)
PARA = "¶"


def tokens(text: str) -> list[tuple[str, int, int, bool, bool, bool]]:
    """All tokens."""
    out: list[tuple[str, int, int, bool, bool, bool]] = []
    for m in TOKEN.finditer(text):
        b, e = m.span()
        if m["word"] is not None or m["under"] is not None:
            raw = m.group()
            letters = [c for c in raw if c.isalpha()]
            word = raw.lower().replace("’", "'")
            word = "0" if raw.isdecimal() else "<long>" if len(raw) > 40 else word
            every = len(letters) > 1 and all(c.isupper() for c in letters)
            out.append((word, b, e, True, raw[0].isupper(), every))
        elif m["code"] is not None:
            out.append(("<code>", b, e, False, False, False))
        elif m["break"] is not None:
            if out and out[-1][0] != PARA:
                out.append((PARA, b, e, False, False, False))
        elif m["mark"] is not None:
            one = m["one"]
            mark = QUOTES.get(one, "—" if one == "-" and e - b > 1 else one)
            out.append((mark, b, e, False, False, False))
    return out


def joined(text: str, b: int, e: int) -> bool:
    """Whether a word hangs on a neighbour."""
    before, after, beyond = text[b - 1 : b], text[e : e + 1], text[e + 1 : e + 2]
    back = text[b - 2 : b - 1] if b > 1 else ""
    return bool(
        (before in JOIN and not (before == back == "-"))
        or (after in JOIN and not (after == beyond == "-"))
        or (after and after in ".:" and beyond.isalnum())
        or (before and before in ".:" and back.isalnum())
    )


class SlowReader:
    """All that is read."""

    def __init__(self, sets: Any, window: int, most: int) -> None:
        self.place = {w: (i, j) for i, s in enumerate(sets) for j, w in enumerate(s)}
        self.rows: list[list[Any]] = [[] for _ in sets]
        self.window = window
        self.numbers: dict[str, int] = {}

    def read(self, piece: bytes, document: int, words: int, begin: int) -> int:
        """Words of the piece."""
        text = piece.decode("utf-8", "surrogateescape")
        ts = tokens(text)
        rank = words
        for i, t in enumerate(ts):
            if t[3] and t[0] in self.place and not joined(text, t[1], t[2]):
                number, member = self.place[t[0]]
                start = len(text[: t[1]].encode("utf-8", "surrogateescape"))
                size = len(text[t[1] : t[2]].encode())
                found = [self.numbers.setdefault(f, len(self.numbers)) for f in self.features(ts, i)]
                self.rows[number].append((member, document, rank, begin + start, size, found))
            rank += t[3]
        return rank - words

    def features(self, ts: Any, i: int) -> list[str]:
        """Names of one."""

        def tok(j: int) -> Any:
            return ts[j] if 0 <= j < len(ts) else (PARA, 0, 0, False, False, False)

        l1, l2, r1, r2 = tok(i - 1)[0], tok(i - 2)[0], tok(i + 1)[0], tok(i + 2)[0]
        l2, r2 = PARA if l1 == PARA else l2, PARA if r1 == PARA else r2
        f = [f"before:{l1}", f"after:{r1}", f"before:{l2} {l1}", f"after:{r1} {r2}"]
        f += [f"around:{l1} _ {r1}", f"before2:{l2}", f"after2:{r2}"]
        for side, x in (("before", tok(i - 1)), ("after", tok(i + 1))):
            if x[3]:
                if len(x[0]) > 3 and x[0][0] != "<":
                    f.append(f"ending-{side}:{x[0][-3:]}")
                if x[4]:
                    f.append(f"capital-{side}")
        if ts[i][4]:
            f.append("CAPITALS" if ts[i][5] else "capital")
        near = []
        for step in (-1, 1):
            j, seen = i + step, 0
            while seen < self.window and 0 <= j < len(ts) and ts[j][0] != PARA:
                if ts[j][3]:
                    near.append(ts[j][0])
                    seen += 1
                j += step
        return f + [f"near:{w}" for w in dict.fromkeys(near)]

    def names(self) -> Names:
        """All names."""
        return Names.of(self.numbers)

    def taken(self, number: int) -> float:
        """All."""
        return 1.0

    def columns(self, number: int) -> tuple[Any, ...]:
        """Arrays."""
        rows = self.rows[number]
        kinds = (np.int32, np.int32, np.int64, np.int64, np.int32)
        first = [np.array([row[k] for row in rows], kind) for k, kind in enumerate(kinds)]
        indptr = np.cumsum([0, *(len(row[5]) for row in rows)], dtype=np.int64)
        return (*first, indptr, np.array([f for row in rows for f in row[5]], np.int32))
