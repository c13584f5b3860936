"""Random damage to bytes."""

from __future__ import annotations

import random

# Bytes that formats give a meaning to, numbers at the limits of their types, and invalid UTF-8.
TOKENS = [
    b"\0", b"\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80",
    b'"', b'""', b"'", b",", b";", b"\t", b"|", b":", b"\n", b"\r", b"\r\n", b"\n\n", b" ", b"#", b"\\",
    b"{", b"}", b"[", b"]", b"[[[[", b"null", b"NaN", b"nan", b"inf", b"-inf", b"1e309", b"1e-400",
    b"-0", b"0x10", b"1_000", b"9223372036854775808", b"-9223372036854775809", b"18446744073709551616",
    b"2147483647", b"2147483648", b"4294967296", b"99999999999999999999999", b"__label__", b"From ",
    b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff", b"\x80\0\0\0", b"\0\0\0\x80", b"\xff" * 8, b"\0" * 8,
]  # fmt: skip


def mutate(data: bytes, rng: random.Random) -> bytes:
    """Return the bytes after one to four random changes."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        data = rng.choice(MUTATIONS)(data, rng)
    return data


def _flip_bits(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8)) if data else 0):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _truncate(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _insert(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + _fragment(rng) + data[at:]


def _overwrite(data: bytes, rng: random.Random) -> bytes:
    at, fragment = rng.randrange(len(data) + 1), _fragment(rng)
    return data[:at] + fragment + data[at + len(fragment) :]


def _delete(data: bytes, rng: random.Random) -> bytes:
    start, stop = _span(data, rng)
    return data[:start] + data[stop:]


def _repeat(data: bytes, rng: random.Random) -> bytes:
    start, stop = _span(data, rng)
    return data[:stop] + data[start:stop] * rng.choice((1, 1, 3)) + data[stop:]


def _move(data: bytes, rng: random.Random) -> bytes:
    start, stop = _span(data, rng)
    rest = data[:start] + data[stop:]
    at = rng.randrange(len(rest) + 1)
    return rest[:at] + data[start:stop] + rest[at:]


def _fragment(rng: random.Random) -> bytes:
    if rng.random() < 0.7:
        return rng.choice(TOKENS) * rng.choice((1, 1, 1, 2, 50))
    return rng.randbytes(rng.choice((1, 2, 4, 8, 100)))


def _span(data: bytes, rng: random.Random) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.choice((1, 4, 16, 200)))


MUTATIONS = (_flip_bits, _truncate, _insert, _overwrite, _delete, _repeat, _move)
