"""`weigh mail filter`: the message comes out as it went in, with its verdict, whatever happens."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.apps.mail.serving.fake_store import server
from tests.cli.mail.conftest import ham, spam
from weigh.apps.mail.serving.client import default_socket
from weigh.apps.mail.store import MailStore

HEADER = re.compile(rb"^X-Weigh: [^\n]*\n(?: [^\n]*\n)*", re.MULTILINE)
# Neither kind of mail has these words.
STRANGE = b"Subject: zebra\n\nquartz\n"


def test_a_message_comes_out_with_its_verdict(taught):
    told = taught("filter", input=spam(0))
    assert (told.exit_code, told.stderr) == (0, "")
    verdict, rest = re.split(rb"\n(?! )", told.stdout_bytes, maxsplit=1)
    assert rest == spam(0)
    assert re.fullmatch(rb'X-Weigh: spam, probability 0\.999\d+(;\n? "[^"\n]+" [+-]\d+\.\d\d)+', verdict)
    assert max(map(len, verdict.split(b"\n"))) < 78


@pytest.mark.parametrize(
    ("content", "code"), [(spam(0), 0), (ham(0), 1), (STRANGE, 2)], ids=["spam", "ham", "unsure"]
)
def test_exit_codes_of_the_quiet_filter_are_bogofilters(taught, content, code):
    told = taught("filter", "-q", input=content)
    assert (told.exit_code, told.stdout, told.stderr) == (code, "", "")


def test_a_message_may_come_from_a_file(taught):
    told = taught("filter", "spam/1.eml")
    assert HEADER.sub(b"", told.stdout_bytes) == spam(1)
    assert taught("filter", "-q", "ham/1.eml").exit_code == 1


def test_lines_keep_their_ends(taught):
    crlf = spam(0).replace(b"\n", b"\r\n")
    told = taught("filter", input=crlf)
    assert told.stdout_bytes.count(b"\n") == told.stdout_bytes.count(b"\r\n")
    assert HEADER.sub(b"", told.stdout_bytes.replace(b"\r\n", b"\n")) == spam(0)


def test_a_forged_verdict_is_removed(taught):
    forged = spam(0).replace(b"Subject", b"x-weigh: ham,\n probability 0.0\nSubject")
    told = taught("filter", input=forged).stdout_bytes
    assert told == taught("filter", input=spam(0)).stdout_bytes


@pytest.mark.parametrize("damage", ["missing", "foreign", "settings", "ledger", "journal"])
def test_without_a_usable_store_the_message_is_passed_on_and_the_reason_told(taught, folder, damage):
    store = folder / "store"
    MailStore.open(store).fold()
    for name in os.listdir(store):
        if damage in (name, "missing") or name.startswith(damage):
            (store / name).unlink()
    if damage == "missing":
        store.rmdir()
    elif damage == "foreign":
        store = folder / "ham"
    else:
        (store / ("settings.json" if damage == "settings" else damage)).write_bytes(b"\x00rubbish" * 99)
    told = taught("filter", "--store", str(store), input=spam(0))
    assert told.exit_code == 0
    assert told.stdout_bytes == b"X-Weigh: unsure, error\n" + spam(0)
    assert told.stderr.startswith("weigh: ")
    assert told.stderr.endswith(" The message is passed on without a verdict.\n")
    quiet = taught("filter", "-q", "--store", str(store), input=spam(0))
    assert (quiet.exit_code, quiet.stdout) == (3, "")
    assert told.stderr == quiet.stderr[:-1] + " The message is passed on without a verdict.\n"


@pytest.mark.parametrize("error", [MemoryError, ValueError, RecursionError, KeyError])
def test_any_failure_passes_the_message_on_and_tells_no_word_of_it(taught, monkeypatch, error):
    def fail(self, content, most):
        raise error("you won a prize")

    monkeypatch.setattr(MailStore, "brief", fail)
    told = taught("filter", input=spam(0))
    assert told.exit_code == 0
    assert HEADER.sub(b"", told.stdout_bytes) == spam(0)
    assert told.stderr == (
        f"weigh: Judging failed ({error.__name__}). The message is passed on without a verdict.\n"
    )


@pytest.mark.parametrize("error", [MemoryError, ValueError, RecursionError, KeyError])
def test_no_failure_is_taken_for_a_verdict(taught, monkeypatch, error):
    def fail(self, contents):
        raise error("you won a prize")

    monkeypatch.setattr(MailStore, "judge", fail)
    for arguments in (["-q"], ["--list", "spam"]):
        told = taught("filter", *arguments, input=spam(0))
        assert (told.exit_code, told.stdout) == (3, "")
        assert told.stderr == f"weigh: Judging failed ({error.__name__}).\n"


def test_even_without_a_header_the_message_is_passed_on(taught, monkeypatch):
    def fail(*_):
        raise ValueError

    monkeypatch.setattr("weigh.apps.mail.header.add_verdict_header", fail)
    monkeypatch.setattr("weigh.apps.mail.header.add_error_header", fail)
    told = taught("filter", input=spam(0))
    assert (told.exit_code, told.stdout_bytes) == (0, spam(0))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--bogus"], "No such option '--bogus'."),
        (["-q", "--bogus"], "No such option '--bogus'."),
        (["-q", "--store"], "Option '--store' requires an argument."),
        (["a", "b"], "Only one message can be passed on. Add --list to judge several."),
        (["--json"], "A message is not passed on as JSON. Add --list to have its verdict."),
    ],
)
def test_wrong_usage_is_an_error_like_all_others(taught, arguments, sentence):
    told = taught("filter", *arguments, input=spam(0))
    assert (told.exit_code, told.stdout) == (3, "")
    assert told.stderr.endswith(f"Error: {sentence}\n")


def test_what_cannot_be_read_is_an_error(taught):
    told = taught("filter", "nowhere")
    assert (told.exit_code, told.stdout) == (3, "")
    assert told.stderr == "weigh: There is no file nowhere.\n"
    assert taught("filter", "-q", "ham").exit_code == 3
    assert taught("filter", "--list", "nowhere").exit_code == 3


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")
@pytest.mark.usefixtures("taught")
def test_what_cannot_be_written_is_an_error():
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "weigh.cli.main", "mail", "filter"],
            input=spam(0),
            stdout=full,
            stderr=subprocess.PIPE,
        )
    assert done.returncode == 3
    assert done.stderr == b"weigh: The message cannot be written: No space left on device.\n"


def shell(line, **settings):
    """Run a line of the shell in which `weigh` is the program."""
    weigh = f'weigh() {{ "{sys.executable}" -m weigh.cli.main "$@"; }}; '
    return subprocess.run(["sh", "-c", weigh + line], capture_output=True, timeout=60, **settings)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")
@pytest.mark.usefixtures("folder")
def test_the_message_is_passed_on_when_its_failure_cannot_be_told():
    for ending in ("2>/dev/full", "2>&-", "2>&1 1>&3 3>&- | true"):
        done = shell(f"exec 3>&1; weigh mail filter {ending}", input=spam(0))
        assert done.stdout == b"X-Weigh: unsure, error\n" + spam(0)
    assert shell("weigh mail filter 2>/dev/full", input=spam(0)).returncode == 0
    assert shell("weigh mail filter -q 2>/dev/full", input=spam(0)).returncode == 3
    assert shell("weigh mail filter -q --bogus 2>/dev/full", input=spam(0)).returncode == 3


@pytest.mark.usefixtures("taught")
@pytest.mark.parametrize(
    ("line", "code", "told"),
    [
        ("filter <&-", 3, "standard input cannot be read: Bad file descriptor."),
        ("filter -q <&-", 3, "standard input cannot be read: Bad file descriptor."),
        ("filter >&-", 3, "The message cannot be written: Bad file descriptor."),
        ("filter --list spam >&-", 3, "The output cannot be written: Bad file descriptor."),
        ("status >&-", 1, "The output cannot be written: Bad file descriptor."),
    ],
)
def test_closed_streams_are_told_in_words(line, code, told):
    done = shell(f"weigh mail {line}", input=spam(0))
    assert (done.returncode, done.stderr.decode()) == (code, f"weigh: {told}\n")


@pytest.mark.usefixtures("taught")
def test_the_quiet_filter_needs_no_output():
    assert shell("weigh mail filter -q >&- 2>&-", input=spam(0)).returncode == 0


@pytest.mark.usefixtures("taught")
def test_a_fault_of_the_program_is_no_verdict():
    break_it = "import weigh.cli.main as m; m.app.main = None; m.run(['mail', 'filter', '-q'])"
    done = subprocess.run([sys.executable, "-c", break_it], input=spam(0), capture_output=True)
    assert done.returncode == 3


def test_too_little_memory_is_told_without_advice_for_tables(taught, monkeypatch):
    def fail(self):
        raise MemoryError

    monkeypatch.setattr(MailStore, "status", fail)
    assert taught("status").stderr == "weigh: There is not enough memory.\n"


def test_pipes_and_devices_are_not_waited_for(taught, folder):
    os.mkfifo(folder / "pipe")
    told = taught("filter", "pipe")
    assert (told.exit_code, told.stdout) == (3, "")
    assert told.stderr.startswith("weigh: pipe is a pipe, not a file or a folder of mail.")
    assert taught("filter", "-q", "/dev/zero").exit_code == 3


def test_names_do_nothing_to_the_terminal(taught):
    told = taught("filter", "a\x1b[2J\nb")
    assert told.stderr == "weigh: There is no file a\\x1b[2J\\nb.\n"


def test_empty_paths_are_refused(taught):
    for arguments in (["filter", ""], ["learn", "--spam", ""], ["unlearn", ""], ["filter", "--list", ""]):
        told = taught(*arguments)
        assert told.stderr == (
            "weigh: A path is empty. Give the name of a file or a folder; '.' is this folder.\n"
        )
    for command in ("filter", "status"):
        told = taught(command, "--store", "", input=spam(0))
        assert told.stderr.endswith("Error: Invalid value for '--store': the path is empty.\n")


def test_many_messages_are_listed(taught, folder):
    line = b"From ann@example.org Thu Aug 22 12:36:23 2002\n"
    (folder / "box").write_bytes(b"\n".join([line + ham(0), line + spam(0)]))
    told = taught("filter", "--list", "box", "spam/1.eml")
    assert told.exit_code == 0
    rows = [row.split(maxsplit=2) for row in told.stdout.splitlines()]
    assert [(row[0], row[2]) for row in rows] == [
        ("ham", "box, message 1"),
        ("spam", "box, message 2"),
        ("spam", "spam/1.eml"),
    ]
    found = [json.loads(row) for row in taught("filter", "--list", "--json", "box").stdout.splitlines()]
    assert [(each["label"], each["place"]) for each in found] == [
        ("ham", "box, message 1"),
        ("spam", "box, message 2"),
    ]
    assert all(0 <= each["probability"] <= 1 for each in found)


def test_a_list_judges_as_single_calls_do(taught):
    found = [
        json.loads(row) for row in taught("filter", "--list", "--json", "ham", "spam").stdout.splitlines()
    ]
    codes = {"spam": 0, "ham": 1, "unsure": 2}
    assert [codes[each["label"]] for each in found] == [
        taught("filter", "-q", each["place"]).exit_code for each in found
    ]


NAMES = st.sampled_from([b"Subject", b"From", b"X-Weigh", b"x-weigh", b"Received", b"To", b"X-Weighty"])
LINES = st.lists(st.tuples(NAMES, st.binary(max_size=30)), max_size=6)
MESSAGES = st.one_of(
    st.binary(max_size=400),
    st.builds(
        lambda lines, body: b"".join(b"%b: %b\n" % line for line in lines) + b"\n" + body,
        LINES,
        st.binary(max_size=200),
    ),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=MESSAGES)
def test_any_bytes_are_passed_on_and_judged_alike(taught, content):
    told = taught("filter", input=content)
    assert (told.exit_code, told.stderr) == (0, "")
    if b"\r" not in content and b"X-Weigh-Note" not in told.stdout_bytes:
        # Nothing but the verdict was added: what comes out stays as it is.
        assert taught("filter", input=told.stdout_bytes).stdout_bytes == told.stdout_bytes
    if b"x-weigh" not in content.lower():
        start = told.stdout_bytes.index(b"X-Weigh: ")
        written = len(told.stdout_bytes) - len(content)
        assert written > 0
        assert content == told.stdout_bytes[:start] + told.stdout_bytes[start:][written:]


def test_a_running_server_is_asked_first(taught, folder):
    with server(default_socket(str(folder / "store"))):
        told = taught("filter", input=STRANGE + b"prize\n")
        assert b'X-Weigh: spam, probability 0.999500; "prize" +2.50\n' in told.stdout_bytes
        assert taught("filter", "-q", input=STRANGE).exit_code == 1
    assert taught("filter", "-q", input=STRANGE).exit_code == 2


def test_other_costs_make_other_verdicts_for_a_call(taught, folder):
    cheap = ("--costs", "ham-lost=1,unsure=9")
    assert taught("filter", "-q", input=STRANGE).exit_code == 2
    assert taught("filter", "-q", *cheap, input=STRANGE).exit_code == 0
    assert taught("filter", *cheap, input=STRANGE).stdout.startswith("X-Weigh: spam, probability 0.5")
    (folder / "strange").write_bytes(STRANGE)
    assert taught("filter", "--list", *cheap, "strange").stdout.startswith("spam  ")
    assert taught("explain", *cheap, "strange").stdout.startswith("spam, ")
    with server(default_socket(str(folder / "store"))):
        assert taught("filter", "-q", *cheap, input=STRANGE).exit_code == 0
        assert taught("filter", *cheap, input=STRANGE).stdout.startswith("X-Weigh: spam, probability 0.5")


@pytest.mark.parametrize("costs", ["", "ham-lost", "ham-lost=0", "ham_lost=1", "unsure=x", "unsure=nan"])
def test_costs_that_are_none_are_refused(taught, costs):
    told = taught("filter", "-q", "--costs", costs, input=STRANGE)
    assert told.exit_code == 3
    assert f"{costs!r} is not of the form ham-lost=500,spam-let=1,unsure=0.5" in " ".join(told.stderr.split())


def test_the_server_of_somebody_else_is_not_asked(taught, folder, monkeypatch):
    with server(default_socket(str(folder / "store"))):
        assert taught("filter", "-q", input=STRANGE).exit_code == 1
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        assert taught("filter", "-q", input=STRANGE).exit_code == 2


def test_a_folder_is_judged_as_a_list(taught):
    told = taught("filter", "spam")
    assert (told.exit_code, told.stdout) == (3, "")
    assert told.stderr == "weigh: spam is a folder. Add --list to judge all messages in it.\n"
