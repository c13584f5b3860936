"""Reference implementation of the identity of a message: SipHash-1-3 of its canonical bytes."""

from __future__ import annotations

import re

_MASK = (1 << 64) - 1
_MAILBOX_HEADERS = re.compile(
    rb"\n(?:(?:status|x-status|x-keywords|x-uid|x-uidl|content-length|lines|x-gmail-labels)"
    rb"|x-(?:weigh|bogosity|spam|dspam|crm114|rspamd|antispam|mozilla-|evolution|gm-|imap)[^:\n]*)"
    rb":[^\n]*(?:\n[ \t][^\n]*)*",
    re.IGNORECASE,
)
_QUOTED_FROM = re.compile(rb"\n>+From ")


def canonical(content: bytes) -> bytes:
    text = content.replace(b"\r\n", b"\n")
    if text.startswith(b"From "):
        text = text[text.find(b"\n") + 1 :]
    end = 0 if text.startswith(b"\n") else text.find(b"\n\n") + 1 or len(text)
    headers = _MAILBOX_HEADERS.sub(b"", b"\n" + text[:end])[1:]
    return (headers + _QUOTED_FROM.sub(b"\nFrom ", text[end:])).rstrip(b"\n")


def identity(content: bytes, salt: int) -> bytes:
    text = canonical(content)
    return b"".join(siphash(text, salt, mix(salt, i)).to_bytes(8, "little") for i in (2, 3))


def mix(low: int, high: int) -> int:
    product = (low ^ 0x9E3779B97F4A7C15) * (high ^ 0xC2B2AE3D27D4EB4F)
    return (product ^ product >> 64) & _MASK


def siphash(text: bytes, low: int, high: int) -> int:
    a, b, c, d = 0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573
    a, b, c, d = a ^ low, b ^ high, c ^ low, d ^ high
    padded = text + bytes(-(len(text) + 1) % 8) + bytes([len(text) % 256])
    for offset in range(0, len(padded), 8):
        word = int.from_bytes(padded[offset : offset + 8], "little")
        a, b, c, d = _round(a, b, c, d ^ word)
        a ^= word
    c ^= 0xFF
    for _ in range(3):
        a, b, c, d = _round(a, b, c, d)
    return a ^ b ^ c ^ d


def _round(a: int, b: int, c: int, d: int) -> tuple[int, int, int, int]:
    a, c = (a + b) & _MASK, (c + d) & _MASK
    b, d = _rotate_left(b, 13) ^ a, _rotate_left(d, 16) ^ c
    a, c = (_rotate_left(a, 32) + d) & _MASK, (c + b) & _MASK
    return a, _rotate_left(b, 17) ^ c, _rotate_left(c, 32), _rotate_left(d, 21) ^ a


def _rotate_left(word: int, bits: int) -> int:
    return (word << bits | word >> (64 - bits)) & _MASK
