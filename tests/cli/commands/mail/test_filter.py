"""Tests of `weigh mail filter`: the message comes out unchanged but for its verdict, whatever happens."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.apps.mail.serving.fake_store import server
from tests.cli.commands.mail.conftest import ham, spam
from weigh import _core
from weigh.apps.mail.serving.client import default_socket
from weigh.apps.mail.store import MailStore

HEADER = re.compile(rb"^X-Weigh: [^\n]*\n(?: [^\n]*\n)*", re.MULTILINE)
# Words that no learned mail has.
STRANGE = b"Subject: zebra\n\nquartz\n"


def test_a_message_comes_out_with_its_verdict(trained):
    result = trained("filter", input=spam(0))
    assert (result.exit_code, result.stderr) == (0, "")
    verdict, message = re.split(rb"\n(?! )", result.stdout_bytes, maxsplit=1)
    assert message == spam(0)
    assert re.fullmatch(rb'X-Weigh: spam, probability 0\.999\d+(;\n? "[^"\n]+" [+-]\d+\.\d\d)+', verdict)
    assert max(map(len, verdict.split(b"\n"))) < 78


@pytest.mark.parametrize(
    ("content", "code"), [(spam(0), 0), (ham(0), 1), (STRANGE, 2)], ids=["spam", "ham", "unsure"]
)
def test_exit_codes_of_the_quiet_filter_are_bogofilters(trained, content, code):
    result = trained("filter", "-q", input=content)
    assert (result.exit_code, result.stdout, result.stderr) == (code, "", "")


@pytest.mark.parametrize("options", [(), ("-q",)], ids=["header", "quiet"])
def test_a_message_is_parsed_once(trained, monkeypatch, options):
    parsed = []

    def count(name, parse, *arguments):
        parsed.append(name)
        return parse(*arguments)

    for name in ("read_mail", "hash_mail_features", "hash_mail_features_with_ids", "extract_mail_features"):
        monkeypatch.setattr(_core, name, partial(count, name, getattr(_core, name)))
    assert trained("filter", *options, input=spam(0)).exit_code == 0
    assert len(parsed) == 1, parsed


def test_a_message_can_be_read_from_a_file(trained):
    result = trained("filter", "spam/1.eml")
    assert HEADER.sub(b"", result.stdout_bytes) == spam(1)
    assert trained("filter", "-q", "ham/1.eml").exit_code == 1


def test_line_ends_are_kept(trained):
    crlf = spam(0).replace(b"\n", b"\r\n")
    result = trained("filter", input=crlf)
    assert result.stdout_bytes.count(b"\n") == result.stdout_bytes.count(b"\r\n")
    assert HEADER.sub(b"", result.stdout_bytes.replace(b"\r\n", b"\n")) == spam(0)


def test_a_forged_verdict_is_removed(trained):
    forged = spam(0).replace(b"Subject", b"x-weigh: ham,\n probability 0.0\nSubject")
    result = trained("filter", input=forged).stdout_bytes
    assert result == trained("filter", input=spam(0)).stdout_bytes


@pytest.mark.parametrize("damage", ["missing", "foreign", "settings", "ledger", "journal"])
def test_without_a_usable_store_the_message_is_passed_on_and_the_reason_reported(trained, folder, damage):
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
    result = trained("filter", "--store", str(store), input=spam(0))
    assert result.exit_code == 0
    assert result.stdout_bytes == b"X-Weigh: unsure, error\n" + spam(0)
    assert result.stderr.startswith("weigh: ")
    assert result.stderr.endswith(" The message is passed on without a verdict.\n")
    quiet = trained("filter", "-q", "--store", str(store), input=spam(0))
    assert (quiet.exit_code, quiet.stdout) == (3, "")
    assert result.stderr == quiet.stderr[:-1] + " The message is passed on without a verdict.\n"


@pytest.mark.parametrize("error", [MemoryError, ValueError, RecursionError, KeyError])
def test_after_any_failure_the_message_is_passed_on_but_not_quoted(trained, monkeypatch, error):
    def fail(self, content, most):
        raise error("you won a prize")

    monkeypatch.setattr(MailStore, "brief", fail)
    result = trained("filter", input=spam(0))
    assert result.exit_code == 0
    assert HEADER.sub(b"", result.stdout_bytes) == spam(0)
    assert result.stderr == (
        f"weigh: Judging failed ({error.__name__}). The message is passed on without a verdict.\n"
    )


@pytest.mark.parametrize("error", [MemoryError, ValueError, RecursionError, KeyError])
def test_no_failure_is_mistaken_for_a_verdict(trained, monkeypatch, error):
    def fail(self, contents):
        raise error("you won a prize")

    monkeypatch.setattr(MailStore, "judge", fail)
    for arguments in (["-q"], ["--list", "spam"]):
        result = trained("filter", *arguments, input=spam(0))
        assert (result.exit_code, result.stdout) == (3, "")
        assert result.stderr == f"weigh: Judging failed ({error.__name__}).\n"


def test_the_message_is_passed_on_even_if_no_header_can_be_added(trained, monkeypatch):
    def fail(*_):
        raise ValueError

    monkeypatch.setattr("weigh.apps.mail.header.add_verdict_header", fail)
    monkeypatch.setattr("weigh.apps.mail.header.add_error_header", fail)
    result = trained("filter", input=spam(0))
    assert (result.exit_code, result.stdout_bytes) == (0, spam(0))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--bogus"], "No such option '--bogus'."),
        (["-q", "--bogus"], "No such option '--bogus'."),
        (["-q", "--store"], "Option '--store' requires an argument."),
        (["a", "b"], "Only one message can be passed on. Add --list to judge several."),
        (["--json"], "A message cannot be passed on as JSON. Add --list to print its verdict."),
    ],
)
def test_usage_errors_have_the_exit_code_of_other_errors(trained, arguments, message):
    result = trained("filter", *arguments, input=spam(0))
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr.endswith(f"Error: {message}\n")


def test_an_unreadable_message_is_an_error(trained):
    result = trained("filter", "nowhere")
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr == "weigh: There is no file nowhere.\n"
    assert trained("filter", "-q", "ham").exit_code == 3
    assert trained("filter", "--list", "nowhere").exit_code == 3


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")
@pytest.mark.usefixtures("trained")
def test_unwritable_output_is_an_error():
    with open("/dev/full", "wb") as full:
        process = subprocess.run(
            [sys.executable, "-m", "weigh.cli.main", "mail", "filter"],
            input=spam(0),
            stdout=full,
            stderr=subprocess.PIPE,
        )
    assert process.returncode == 3
    assert process.stderr == b"weigh: The message cannot be written: No space left on device.\n"


def shell(line, **settings):
    """Run a shell command in which `weigh` is this program."""
    weigh = f'weigh() {{ "{sys.executable}" -m weigh.cli.main "$@"; }}; '
    return subprocess.run(["sh", "-c", weigh + line], capture_output=True, timeout=60, **settings)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")
@pytest.mark.usefixtures("folder")
def test_the_message_is_passed_on_even_if_the_error_cannot_be_printed():
    for ending in ("2>/dev/full", "2>&-", "2>&1 1>&3 3>&- | true"):
        process = shell(f"exec 3>&1; weigh mail filter {ending}", input=spam(0))
        assert process.stdout == b"X-Weigh: unsure, error\n" + spam(0)
    assert shell("weigh mail filter 2>/dev/full", input=spam(0)).returncode == 0
    assert shell("weigh mail filter -q 2>/dev/full", input=spam(0)).returncode == 3
    assert shell("weigh mail filter -q --bogus 2>/dev/full", input=spam(0)).returncode == 3


@pytest.mark.usefixtures("trained")
@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("filter <&-", 3, "standard input cannot be read: Bad file descriptor."),
        ("filter -q <&-", 3, "standard input cannot be read: Bad file descriptor."),
        ("filter >&-", 3, "The message cannot be written: Bad file descriptor."),
        ("filter --list spam >&-", 3, "The output cannot be written: Bad file descriptor."),
        ("status >&-", 1, "The output cannot be written: Bad file descriptor."),
    ],
)
def test_closed_streams_are_reported(line, code, message):
    process = shell(f"weigh mail {line}", input=spam(0))
    assert (process.returncode, process.stderr.decode()) == (code, f"weigh: {message}\n")


@pytest.mark.usefixtures("trained")
def test_the_quiet_filter_works_without_output_streams():
    assert shell("weigh mail filter -q >&- 2>&-", input=spam(0)).returncode == 0


@pytest.mark.usefixtures("trained")
def test_a_bug_in_the_program_is_not_a_verdict():
    script = "import weigh.cli.main as m; m.app.main = None; m.run(['mail', 'filter', '-q'])"
    process = subprocess.run([sys.executable, "-c", script], input=spam(0), capture_output=True)
    assert process.returncode == 3


def test_out_of_memory_is_reported_without_advice_about_tables(trained, monkeypatch):
    def fail(self):
        raise MemoryError

    monkeypatch.setattr(MailStore, "status", fail)
    assert trained("status").stderr == "weigh: There is not enough memory.\n"


def test_pipes_and_devices_are_rejected_without_waiting(trained, folder):
    os.mkfifo(folder / "pipe")
    result = trained("filter", "pipe")
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr.startswith("weigh: pipe is a pipe, not a file or a folder of mail.")
    assert trained("filter", "-q", "/dev/zero").exit_code == 3


def test_control_characters_in_names_are_escaped(trained):
    result = trained("filter", "a\x1b[2J\nb")
    assert result.stderr == "weigh: There is no file a\\x1b[2J\\nb.\n"


def test_empty_paths_are_rejected(trained):
    for arguments in (["filter", ""], ["learn", "--spam", ""], ["unlearn", ""], ["filter", "--list", ""]):
        result = trained(*arguments)
        assert result.stderr == (
            "weigh: A path is empty. Give the name of a file or a folder; '.' is this folder.\n"
        )
    for command in ("filter", "status"):
        result = trained(command, "--store", "", input=spam(0))
        assert result.stderr.endswith("Error: Invalid value for '--store': the path is empty.\n")


def test_many_messages_are_listed(trained, folder):
    line = b"From ann@example.org Thu Aug 22 12:36:23 2002\n"
    (folder / "box").write_bytes(b"\n".join([line + ham(0), line + spam(0)]))
    result = trained("filter", "--list", "box", "spam/1.eml")
    assert result.exit_code == 0
    rows = [row.split(maxsplit=2) for row in result.stdout.splitlines()]
    assert [(row[0], row[2]) for row in rows] == [
        ("ham", "box, message 1"),
        ("spam", "box, message 2"),
        ("spam", "spam/1.eml"),
    ]
    verdicts = [json.loads(row) for row in trained("filter", "--list", "--json", "box").stdout.splitlines()]
    assert [(each["label"], each["place"]) for each in verdicts] == [
        ("ham", "box, message 1"),
        ("spam", "box, message 2"),
    ]
    assert all(0 <= each["probability"] <= 1 for each in verdicts)


def test_a_list_gives_the_same_verdicts_as_single_calls(trained):
    verdicts = [
        json.loads(row) for row in trained("filter", "--list", "--json", "ham", "spam").stdout.splitlines()
    ]
    codes = {"spam": 0, "ham": 1, "unsure": 2}
    assert [codes[each["label"]] for each in verdicts] == [
        trained("filter", "-q", each["place"]).exit_code for each in verdicts
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
def test_any_bytes_are_passed_on_and_filtering_is_idempotent(trained, content):
    result = trained("filter", input=content)
    assert (result.exit_code, result.stderr) == (0, "")
    if b"\r" not in content and b"X-Weigh-Note" not in result.stdout_bytes:
        # Only the verdict was added, and filtering again changes nothing.
        assert trained("filter", input=result.stdout_bytes).stdout_bytes == result.stdout_bytes
    if b"x-weigh" not in content.lower():
        start = result.stdout_bytes.index(b"X-Weigh: ")
        n_added = len(result.stdout_bytes) - len(content)
        assert n_added > 0
        assert content == result.stdout_bytes[:start] + result.stdout_bytes[start:][n_added:]


def test_a_running_server_is_used_first(trained, folder):
    with server(default_socket(str(folder / "store"))):
        result = trained("filter", input=STRANGE + b"prize\n")
        assert b'X-Weigh: spam, probability 0.999500; "prize" +2.50\n' in result.stdout_bytes
        assert trained("filter", "-q", input=STRANGE).exit_code == 1
    assert trained("filter", "-q", input=STRANGE).exit_code == 2


def test_costs_of_a_call_change_its_verdicts(trained, folder):
    cheap = ("--costs", "ham-lost=1,unsure=9")
    assert trained("filter", "-q", input=STRANGE).exit_code == 2
    assert trained("filter", "-q", *cheap, input=STRANGE).exit_code == 0
    assert trained("filter", *cheap, input=STRANGE).stdout.startswith("X-Weigh: spam, probability 0.5")
    (folder / "strange").write_bytes(STRANGE)
    assert trained("filter", "--list", *cheap, "strange").stdout.startswith("spam  ")
    assert trained("explain", *cheap, "strange").stdout.startswith("spam, ")
    with server(default_socket(str(folder / "store"))):
        assert trained("filter", "-q", *cheap, input=STRANGE).exit_code == 0
        assert trained("filter", *cheap, input=STRANGE).stdout.startswith("X-Weigh: spam, probability 0.5")


@pytest.mark.parametrize("costs", ["", "ham-lost", "ham-lost=0", "ham_lost=1", "unsure=x", "unsure=nan"])
def test_invalid_costs_are_rejected(trained, costs):
    result = trained("filter", "-q", "--costs", costs, input=STRANGE)
    assert result.exit_code == 3
    assert f"{costs!r} is not of the form ham-lost=500,spam-let=1,unsure=0.5" in " ".join(
        result.stderr.split()
    )


def test_the_server_of_another_user_is_not_used(trained, folder, monkeypatch):
    with server(default_socket(str(folder / "store"))):
        assert trained("filter", "-q", input=STRANGE).exit_code == 1
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        assert trained("filter", "-q", input=STRANGE).exit_code == 2


def test_a_folder_needs_the_option_list(trained):
    result = trained("filter", "spam")
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr == "weigh: spam is a folder. Add --list to judge all messages in it.\n"
