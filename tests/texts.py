"""Multilingual texts, and the CountVectorizer with equivalent settings."""

from __future__ import annotations

import random
from typing import Any

from sklearn.feature_extraction.text import CountVectorizer

import weigh

# Scripts, letter cases, combining marks, digits, whitespace and joiners that tokenisers treat differently.
MULTILINGUAL = [
    "The quick brown fox, the QUICK fox: it's 100% o'clock_now at 3.14!",
    "Ça va? Où êtes-vous, naïve été; L'ÉTÉ à la crème brûlée",
    "Straße STRASSE GROẞ ﬁnd oﬃce ﬄoor Ⅳ ⅷ ½ x² H₂O №5",
    "ΟΔΥΣΣΕΥΣ ΟΔΟΣ ΣΑΣ Σ ς, ὈΔΥΣΣΕΎΣ· ΑΣ΄Σ",
    "İSTANBUL IĞDIR ıI iİ",
    "Привет, МИР! Ёлка ёж їжак Ґанок",
    "שלום עולם שָׁלוֹם",
    "مرحبا بالعالم العَرَبِيَّة ٣٤٥ ﷺ",
    "नमस्ते दुनिया हिन्दी क्षत्रिय १२३",
    "স্বাগতম বাংলা ৪৫ தமிழ் வணக்கம் తెలుగు ಕನ್ನಡ",
    "สวัสดีชาวโลก ภาษาไทย ລາວ ខ្មែរ မြန်မာ",
    "你好，世界！中文分词。 １２３ＡＢＣ",
    "こんにちは世界 ｶﾀｶﾅ カタカナ がぎぐ が",
    "안녕하세요 세계 각 각",
    "გამარჯობა ᲡᲐᲥᲐᲠᲗᲕᲔᲚᲝ Հայերեն ԲԱՐԵՎ",
    "ሰላም ልዑል ᏣᎳᎩ ꮳꮃꭹ 𐐀𐐨𐐁 𝐀𝐛𝟙 ǅ ǆ Ǆ",
    "😀😀 👩‍👩‍👧 🇩🇪 ✌🏽 text😀text ☃︎",
    "e\u0301te\u0301 a\u0308\u0323 \u0301alone x\u0338y",
    "no\u00a0break thin\u2009space em\u3000space line\u2028sep\u2029para nel\u0085x ogham\u1680y",
    "tab\tand\t\ttabs\r\nCRLF \r\n\r\n lines\n\n\x0b\x0c\x1c\x1d\x1e\x1fend  ",
    "zero\u200bwidth zero\u200cnon\u200djoin word\u2060join bom\ufeffx soft\u00adhyphen",
    "under_score __init__ _ __ a_b-c.d x1 1x 0x1F",
    "donaudampfschifffahrtsgesellschaft " + "lang" * 40 + " " + "élan" * 33 + " " + "ok" * 8 + " " + "x" * 17,
    "nul\0inside\0\0 bell\x07 del\x7f",
    "half \ud800 pair\udfff low\ud83d\ude00",
    "replacement \ufffd \uffff \U0010ffff",
    "",
    " ",
    "\u3000\u2003 ",
    "a",
    "é",
    ".",
    "AAA aaa Aaa aAa",
]


def edges() -> list[str]:
    """Return texts whose words begin and end around every offset of a 64-byte window."""
    texts = [letter * n for letter in ("a", "é", "中", "😀", " ") for n in range(0, 201, 7)]
    texts += ["x" * n + " yz" for n in range(58, 70)] + ["x " * n + "é中😀ab" for n in range(26, 34)]
    texts += ["." * n + letter + "b c" for n in range(58, 68) for letter in "aé中𝐀😀"]
    return texts + [
        letter * n + " end" for letter in "aé中𝐀" for n in (15, 16, 17, 31, 32, 33, 63, 64, 65, 128)
    ]


def mixed(rng: random.Random, max_words: int) -> str:
    """Return random words of all scripts with random separators."""
    words = [word for text in MULTILINGUAL for word in text.split()]
    blanks = [" ", "  ", "\t", "\r\n", "\u00a0", ", ", "-", "", "\u200b"]
    return "".join(rng.choice(words) + rng.choice(blanks) for _ in range(rng.randint(0, max_words)))


def peer(kind: weigh.Text, **settings: Any) -> CountVectorizer:
    """Return the CountVectorizer with equivalent settings."""
    return CountVectorizer(
        analyzer={False: "word", True: "char", "words": "char_wb"}[kind.chars],
        ngram_range=kind.ngrams,
        lowercase=kind.lowercase,
        strip_accents="unicode" if kind.strip_accents else None,
        stop_words=list(kind.stop_words) or None,
        token_pattern=rf"(?u)\b\w{{{kind.min_length},}}\b" if kind.chars is False else None,
        binary=not kind.counts,
        **settings,
    )
