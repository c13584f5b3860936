"""The ledger as a file: what it holds, and that no file of whatever bytes does harm."""

from __future__ import annotations

import math
import random
import struct

import pytest

from tests.apps.mail.reference_ledgers import print_of
from weigh._core import MailLedger
from weigh.apps.mail.learners import LEARNERS

HEADER = 112


def prints(seed: int, number: int, world: int) -> list[bytes]:
    chance = random.Random(seed)
    return [
        print_of([[chance.randint(1, world) for _ in range(chance.randint(0, 9))] for _ in range(2)])
        for _ in range(number)
    ]


def small(learner: str) -> MailLedger:
    ledger = MailLedger(learner)
    ledger.learn(prints(1, 8, 20), b"\0\1" * 4)
    return ledger


@pytest.mark.parametrize("learner", LEARNERS)
def test_an_opened_ledger_goes_on_as_if_it_had_never_been_closed(learner, tmp_path):
    path = tmp_path / "ledger"
    ledger = small(learner)
    path.write_bytes(ledger.image(b"so far"))
    opened = MailLedger.open(str(path))
    assert (opened.learner, opened.note) == (learner, b"so far")
    assert (opened.hams, opened.spams, opened.features) == (4, 4, ledger.features)
    later = prints(2, 500, 1 << 63)
    assert opened.judge(later) == ledger.judge(later)
    for each in (opened, ledger):
        each.learn(later, b"\1\0" * 250)
    assert opened.features > 3_000
    assert opened.image(b"") == ledger.image(b"")
    # The file is as it was, and so is what others opened.
    assert path.read_bytes() == small(learner).image(b"so far")


def test_a_file_may_be_replaced_while_it_is_open(tmp_path):
    path = tmp_path / "ledger"
    path.write_bytes(small("logistic").image(b""))
    opened = MailLedger.open(str(path))
    before = opened.judge(prints(1, 8, 20))
    (tmp_path / "new").write_bytes(MailLedger("logistic").image(b""))
    (tmp_path / "new").replace(path)
    assert opened.judge(prints(1, 8, 20)) == before


@pytest.mark.parametrize("learner", LEARNERS)
def test_no_damaged_byte_does_harm(learner, tmp_path):
    path = tmp_path / "ledger"
    image = small(learner).image(b"note")
    asked = prints(1, 8, 20)
    for at in range(len(image)):
        path.write_bytes(image[:at] + bytes([image[at] ^ 0xFF]) + image[at + 1 :])
        with pytest.raises(ValueError, match=r"^its? .*\.$"):
            MailLedger.check(str(path))
        if not HEADER <= at < len(image) - len(b"note"):
            with pytest.raises(ValueError, match=r"^its? .*\.$"):
                MailLedger.open(str(path))
            continue
        opened = MailLedger.open(str(path))
        assert all(map(math.isfinite, opened.judge(asked)))
        opened.learn(asked, b"\1" * 8)
        assert all(map(math.isfinite, opened.judge(asked)))


def test_no_file_that_is_cut_short_is_opened(tmp_path):
    path = tmp_path / "ledger"
    image = small("naive-bayes").image(b"note")
    for size in range(len(image)):
        path.write_bytes(image[:size])
        with pytest.raises(ValueError, match=r"^its? .*\.$"):
            MailLedger.open(str(path))


def test_no_file_that_goes_on_is_opened(tmp_path):
    path = tmp_path / "ledger"
    for note in (b"", b"note"):
        path.write_bytes(small("naive-bayes").image(note) + b"x")
        with pytest.raises(ValueError, match="its length"):
            MailLedger.open(str(path))


def mixed(low: int, high: int) -> int:
    product = (low ^ 0x9E3779B97F4A7C15) * (high ^ 0xC2B2AE3D27D4EB4F)
    return (product ^ product >> 64) & (1 << 64) - 1


def checked(data: bytes, check: int) -> int:
    """The ledger's check, so that tests can forge a header."""
    check ^= len(data)
    for low, high in struct.iter_unpack("<QQ", data + bytes(-len(data) % 16)):
        turned = (check << 17 | check >> 47) & (1 << 64) - 1
        check = turned ^ mixed(low ^ check, high)
    return check


def forged(image: bytes, at: int, kind: str, number: float) -> bytes:
    """An image without a note, with another number in its header and a check that fits."""
    header = bytearray(image[: HEADER - 8])
    struct.pack_into(kind, header, at, number)
    return bytes(header) + struct.pack("<Q", checked(b"", checked(bytes(header), 0))) + image[HEADER:]


VERSION, NOTE, NAME, HAMS, SPAMS, BIAS, KEYS, CAPACITY = 8, 12, 16, 32, 40, 48, 80, 88


@pytest.mark.parametrize(
    ("at", "kind", "number"),
    [
        (VERSION, "<I", 0),
        (VERSION, "<I", 2),
        (NOTE, "<I", 1),
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
def test_a_header_that_fits_its_check_and_nothing_else_is_refused(tmp_path, at, kind, number):
    path = tmp_path / "ledger"
    image = small("logistic").image(b"")
    same = struct.unpack_from(kind, image, at)[0]
    assert forged(image, at, kind, same) == image
    path.write_bytes(forged(image, at, kind, number))
    with pytest.raises(ValueError, match=r"\.$"):
        MailLedger.open(str(path))


def test_a_full_ledger_learns_no_more(tmp_path):
    path = tmp_path / "ledger"
    most = (1 << 31) - 1
    path.write_bytes(forged(small("naive-bayes").image(b""), HAMS, "<Q", most - 5))
    opened = MailLedger.open(str(path))
    before = opened.image(b"")
    with pytest.raises(ValueError, match="2,147,483,647"):
        opened.learn(prints(1, 2, 20), b"\0\1")
    assert opened.image(b"") == before
    opened.learn(prints(1, 1, 20), b"\0")
    assert opened.hams + opened.spams == most


def test_what_the_system_refuses_is_an_error_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        MailLedger.open(str(tmp_path / "none"))
    assert caught.value.filename == str(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        MailLedger.open(str(tmp_path))
