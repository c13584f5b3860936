"""Tests of ledger files: round trips, and safety against damaged and forged files."""

from __future__ import annotations

import math
import random
import struct

import pytest

from tests.apps.mail.reference_ledgers import pack_features
from weigh._core import DamagedLedgerError, MailLedger
from weigh.apps.mail.learners import LEARNERS

HEADER_BYTES = 112
BLOCK_BYTES = 4096
DAMAGE = (ValueError, DamagedLedgerError)


def random_features(seed: int, number: int, max_key: int) -> list[bytes]:
    rng = random.Random(seed)
    return [
        pack_features([[rng.randint(1, max_key) for _ in range(rng.randint(0, 9))] for _ in range(2)])
        for _ in range(number)
    ]


def small_ledger(learner: str) -> MailLedger:
    ledger = MailLedger(learner)
    ledger.learn(random_features(1, 8, 20), b"\0\1" * 4)
    return ledger


@pytest.mark.parametrize("learner", LEARNERS)
def test_an_opened_ledger_continues_like_the_original(learner, tmp_path):
    path = tmp_path / "ledger"
    ledger = small_ledger(learner)
    path.write_bytes(ledger.image(b"so far"))
    opened = MailLedger.open(str(path))
    assert (opened.learner, opened.note) == (learner, b"so far")
    assert (opened.hams, opened.spams, opened.features) == (4, 4, ledger.features)
    later = random_features(2, 500, 1 << 63)
    assert opened.judge(later) == ledger.judge(later)
    for each in (opened, ledger):
        each.learn(later, b"\1\0" * 250)
    assert opened.features > 3_000
    assert opened.image(b"") == ledger.image(b"")
    # The file is unchanged.
    assert path.read_bytes() == small_ledger(learner).image(b"so far")


def test_a_file_can_be_replaced_while_it_is_open(tmp_path):
    path = tmp_path / "ledger"
    path.write_bytes(small_ledger("logistic").image(b""))
    opened = MailLedger.open(str(path))
    before = opened.judge(random_features(1, 8, 20))
    (tmp_path / "new").write_bytes(MailLedger("logistic").image(b""))
    (tmp_path / "new").replace(path)
    assert opened.judge(random_features(1, 8, 20)) == before


@pytest.mark.parametrize("learner", LEARNERS)
def test_any_damaged_byte_is_detected(learner, tmp_path):
    path = tmp_path / "ledger"
    image = small_ledger(learner).image(b"note")
    hashed = random_features(1, 8, 20)
    # Every byte of the header and the note, and some of the zeros after them, the slots and the checksums.
    for at in (*range(120), *range(120, BLOCK_BYTES, 199), *range(BLOCK_BYTES, len(image), 5)):
        path.write_bytes(image[:at] + bytes([image[at] ^ 0xFF]) + image[at + 1 :])
        with pytest.raises(DAMAGE, match=r"^its? .*\.$"):
            MailLedger.check(str(path))
        if not BLOCK_BYTES <= at < len(image) - 8:
            with pytest.raises(DAMAGE, match=r"^its? .*\.$"):
                MailLedger.open(str(path))
            continue
        opened = MailLedger.open(str(path))
        for use in (
            lambda opened: opened.judge(hashed),
            lambda opened: opened.evidence(hashed[0]),
            lambda opened: opened.learn(hashed, b"\1" * 8),
            lambda opened: opened.image(b""),
            lambda opened: opened.features,
        ):
            with pytest.raises(DamagedLedgerError, match=r"^its bytes 4096 to \d+ are damaged\.$"):
                use(opened)


def test_only_blocks_that_are_read_are_verified(tmp_path):
    path = tmp_path / "ledger"
    ledger = MailLedger("naive-bayes")
    ledger.learn(random_features(3, 2000, 1 << 63), b"\0\1" * 1000)
    image = ledger.image(b"")
    path.write_bytes(image[:9000] + bytes(1000) + image[10000:])
    opened, reports = MailLedger.open(str(path)), []
    for hashed in random_features(3, 2000, 1 << 63):
        try:
            scores = opened.judge([hashed])
        except DamagedLedgerError as error:
            reports.append(str(error))
        else:
            assert scores == ledger.judge([hashed])
    assert set(reports) == {"its bytes 8192 to 12287 are damaged."}
    assert len(reports) < 200


def test_a_file_that_is_truncated_while_it_is_open_is_reported(tmp_path):
    path = tmp_path / "ledger"
    path.write_bytes(small_ledger("naive-bayes").image(b""))
    opened = MailLedger.open(str(path))
    path.write_bytes(b"")
    with pytest.raises(DamagedLedgerError, match="are damaged"):
        opened.judge(random_features(1, 8, 20))


def test_bytes_that_change_after_they_were_read_do_not_matter(tmp_path):
    path = tmp_path / "ledger"
    path.write_bytes(small_ledger("naive-bayes").image(b""))
    opened = MailLedger.open(str(path))
    before = opened.judge(random_features(1, 8, 20))
    path.write_bytes(bytes(path.stat().st_size))
    assert opened.judge(random_features(1, 8, 20)) == before


def test_truncated_files_are_rejected(tmp_path):
    path = tmp_path / "ledger"
    image = small_ledger("naive-bayes").image(b"note")
    for size in (*range(130), *range(130, len(image), 37), len(image) - 1):
        path.write_bytes(image[:size])
        with pytest.raises(ValueError, match=r"^its? .*\.$"):
            MailLedger.open(str(path))


def test_files_with_trailing_bytes_are_rejected(tmp_path):
    path = tmp_path / "ledger"
    for note in (b"", b"note"):
        path.write_bytes(small_ledger("naive-bayes").image(note) + b"x")
        with pytest.raises(ValueError, match="its length"):
            MailLedger.open(str(path))


def mix(low: int, high: int) -> int:
    product = (low ^ 0x9E3779B97F4A7C15) * (high ^ 0xC2B2AE3D27D4EB4F)
    return (product ^ product >> 64) & (1 << 64) - 1


def checksum(data: bytes, check: int) -> int:
    """Return the ledger's checksum, so that tests can forge a header."""
    check ^= len(data)
    for low, high in struct.iter_unpack("<QQ", data + bytes(-len(data) % 16)):
        rotated = (check << 17 | check >> 47) & (1 << 64) - 1
        check = rotated ^ mix(low ^ check, high)
    return check


def forge_header(image: bytes, offset: int, kind: str, number: float) -> bytes:
    """Return an image without a note, with another number in its header and a valid checksum."""
    header = bytearray(image[: HEADER_BYTES - 8])
    struct.pack_into(kind, header, offset, number)
    padding = bytes(BLOCK_BYTES - HEADER_BYTES)
    sealed = struct.pack("<Q", checksum(padding, checksum(bytes(header), 0)))
    return bytes(header) + sealed + image[HEADER_BYTES:]


VERSION, NOTE, NAME, HAMS, SPAMS, BIAS, KEYS, CAPACITY = 8, 12, 16, 32, 40, 48, 80, 88


@pytest.mark.parametrize(
    ("offset", "kind", "number"),
    [
        (VERSION, "<I", 0),
        (VERSION, "<I", 1),
        (VERSION, "<I", 3),
        (NOTE, "<I", BLOCK_BYTES),
        (NOTE, "<I", 0xFFFFFFFF),
        (NAME, "<Q", 0x6161616161616161),
        (HAMS, "<Q", 1 << 31),
        (SPAMS, "<Q", (1 << 64) - 4),
        (BIAS, "<d", math.nan),
        (BIAS + 24, "<d", math.inf),
        (KEYS, "<Q", 1 << 20),
        (KEYS, "<Q", (1 << 64) // 5 + 1),
        (CAPACITY, "<Q", 0),
        (CAPACITY, "<Q", 1),
        (CAPACITY, "<Q", 33),
        (CAPACITY, "<Q", 1 << 60),
        (CAPACITY, "<Q", 1 << 63),
    ],
)
def test_an_invalid_header_with_a_valid_checksum_is_rejected(tmp_path, offset, kind, number):
    path = tmp_path / "ledger"
    image = small_ledger("logistic").image(b"")
    same = struct.unpack_from(kind, image, offset)[0]
    assert forge_header(image, offset, kind, same) == image
    path.write_bytes(forge_header(image, offset, kind, number))
    with pytest.raises(DAMAGE, match=r"\.$"):
        MailLedger.open(str(path))


def test_a_full_ledger_rejects_more_messages(tmp_path):
    path = tmp_path / "ledger"
    max_messages = (1 << 31) - 1
    path.write_bytes(forge_header(small_ledger("naive-bayes").image(b""), HAMS, "<Q", max_messages - 5))
    opened = MailLedger.open(str(path))
    before = opened.image(b"")
    with pytest.raises(ValueError, match="2,147,483,647"):
        opened.learn(random_features(1, 2, 20), b"\0\1")
    assert opened.image(b"") == before
    opened.learn(random_features(1, 1, 20), b"\0")
    assert opened.hams + opened.spams == max_messages


def test_operating_system_errors_are_raised_unchanged(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        MailLedger.open(str(tmp_path / "none"))
    assert caught.value.filename == str(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        MailLedger.open(str(tmp_path))
