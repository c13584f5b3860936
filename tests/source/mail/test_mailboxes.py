"""Mailboxes that the standard library writes: the messages are those that it reads."""

from __future__ import annotations

import mailbox
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from weigh.source.mail import messages
from weigh.source.mail.mbox import unquoted

# Lines that begin with From, quoted or not, and all bytes; a mailbox has no other signs of its own.
LINES = st.sampled_from(
    [b"From ann Thu Aug 22 12:36:23 2002", b">From", b">From x", b">>From y", b"", b"A: 1"]
)
TEXTS = st.one_of(
    st.lists(LINES, max_size=6).map(b"\n".join),
    st.binary(max_size=60).map(lambda data: data.replace(b"\r", b"")),
)
MAILS = st.lists(TEXTS.map(lambda text: b"Subject: x\n\n" + text), min_size=1, max_size=5)


def contents(path: str) -> list[bytes]:
    return [each.content for each in messages(path)]


@settings(deadline=None, max_examples=30)
@given(MAILS)
def test_an_mbox_holds_the_same_messages(mails: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "box"))
        box = mailbox.mbox(path)
        for mail in mails:
            box.add(mail)
        box.flush()
        # The standard library leaves the '>' that it has put there.
        expected = [unquoted(box.get_bytes(key)) for key in box.iterkeys()]
        box.close()
        assert contents(path) == expected
        assert len(expected) == len(mails)


@settings(deadline=None, max_examples=30)
@given(MAILS)
def test_a_maildir_holds_the_same_messages(mails: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        box = mailbox.Maildir(str(Path(folder, "m")))
        for at, mail in enumerate(mails):
            message = mailbox.MaildirMessage(mail)
            message.set_subdir("cur" if at % 2 else "new")
            box.add(message)
        found = list(messages(str(Path(folder, "m"))))
        assert sorted(each.content for each in found) == sorted(map(box.get_bytes, box.iterkeys()))
        assert all(each.at is not None and each.at > 1e9 for each in found)


@settings(deadline=None, max_examples=30)
@given(MAILS)
def test_a_folder_of_mh_holds_the_same_messages(mails: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "mh"))
        box = mailbox.MH(path)
        for mail in mails * 3:
            box.add(mail)
        box.set_sequences({"unseen": [1]})
        assert contents(path) == [box.get_bytes(key) for key in box.iterkeys()]
