"""Tests of `weigh mail learn`, `unlearn`, `status` and `words`."""

from __future__ import annotations

import json
import os

import pytest

from tests.cli.commands.mail.conftest import ham, spam
from weigh.apps.mail.store import MailStore
from weigh.apps.mail.verdict import Costs
from weigh.cli.commands.mail.bulk import ROUND_SIZE
from weigh.cli.commands.mail.spam_ham_options import _expand_paths


def counts(run):
    result = json.loads(run("status", "--json").stdout)
    return result["hams"], result["spams"]


@pytest.mark.parametrize(
    ("arguments", "expanded"),
    [
        (["--spam", "a", "b", "--ham", "c"], ["--spam=a", "--spam=b", "--ham=c"]),
        (["--spam"], ["--spam=-"]),
        (["--ham", "--spam", "x"], ["--ham=-", "--spam=x"]),
        (["--spam", "-", "--json"], ["--spam=-", "--json"]),
        (["--spam", "a", "--store", "s", "--ham", "b"], ["--spam=a", "--store", "s", "--ham=b"]),
        (["--spam", "--", "-odd", "--ham"], ["--spam=-odd", "--spam=--ham"]),
        (["--spam", "--"], ["--spam=-"]),
        (["--spam=a", "--ham=b"], ["--spam=a", "--ham=b"]),
        (["stray"], ["stray"]),
    ],
)
def test_every_path_belongs_to_the_label_before_it(arguments, expanded):
    assert list(_expand_paths(arguments)) == expanded


def test_new_moved_and_known_messages_are_counted(run):
    assert run("learn", "--spam", "spam", "--ham", "ham").stdout == (
        "spam: 4 new messages learned\nham:  4 new messages learned\n"
    )
    assert run("learn", "--spam", "spam/0.eml", "ham/0.eml").stdout == (
        "spam: 0 new messages learned, 1 moved from the other label, 1 known already\n"
    )
    assert counts(run) == (3, 5)


def test_counts_can_be_printed_as_json(run):
    result = run("learn", "--spam", "spam", "--ham", "ham/1.eml", "--json")
    assert json.loads(result.stdout) == {
        "spam": {"new": 4, "moved": 0, "known": 0},
        "ham": {"new": 1, "moved": 0, "known": 0},
    }


def test_without_a_path_the_message_is_read_from_standard_input(run):
    assert run("learn", "--spam", input=spam(0)).stdout == "spam: 1 new message learned\n"
    assert run("learn", "--ham", input=ham(0)).stdout == "ham:  1 new message learned\n"
    assert counts(run) == (1, 1)


def test_a_filtered_message_is_recognised_as_the_same(trained):
    filtered = trained("filter", input=spam(0)).stdout_bytes
    assert filtered.startswith(b"X-Weigh: ")
    assert "1 known already" in trained("learn", "--spam", input=filtered).stdout


def test_unlearned_mail_leaves_nothing_behind(trained, folder):
    before = MailStore.open(folder / "store").filter().ledger.image(b"")
    more = b"Subject: rare words\n\nnever seen before\n"
    trained("learn", "--spam", input=more)
    assert MailStore.open(folder / "store").filter().ledger.image(b"") != before
    result = trained("unlearn", input=more)
    assert result.stdout == "0 hams and 1 spam unlearned\n"
    assert MailStore.open(folder / "store").filter().ledger.image(b"") == before
    assert trained("unlearn", "ham", "spam").stdout == "4 hams and 4 spams unlearned\n"
    assert counts(trained) == (0, 0)


def test_options_set_the_settings_of_a_new_store_for_good(run):
    options = ("--learner", "logistic", "--pairs", "sparse", "--characters", "4")
    assert run("learn", *options, "--spam", "spam", "--ham", "ham").exit_code == 0
    result = json.loads(run("status", "--json").stdout)
    assert (result["learner"], result["pairs"], result["characters"]) == ("logistic", "sparse", 4)
    assert run("learn", "--ham", "ham").exit_code == 0
    result = run("learn", "--learner", "perceptron", "--ham", "ham")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "logistic" in result.stderr


def test_order_dependent_learners_alternate_between_the_labels(run, folder, monkeypatch):
    for name, number in (("ham", 40), ("spam", 20)):
        for i in range(4, number):
            (folder / name / f"{i}.eml").write_bytes(b"Subject: %b %d\n\ntext\n" % (name.encode(), i))
    calls = []
    learn = MailStore.learn

    def record_call(self, contents, label, **settings):
        result = learn(self, contents, label, **settings)
        calls.append((label, result.messages))
        return result

    monkeypatch.setattr(MailStore, "learn", record_call)
    run("learn", "--learner", "logistic", "--spam", "spam", "--ham", "ham")
    n_rounds = 20 // ROUND_SIZE
    assert calls == [("spam", 20 // n_rounds), ("ham", 40 // n_rounds)] * n_rounds + [("spam", 0), ("ham", 0)]
    calls.clear()
    run("learn", "--store", "counting", "--spam", "spam", "--ham", "ham")
    assert calls == [("spam", 20), ("ham", 40)]


def test_words_are_listed_if_the_store_keeps_them(run):
    assert run("learn", "--words", "--spam", "spam", "--ham", "ham").exit_code == 0
    result = json.loads(run("words", "--most", "3", "--json").stdout)
    assert all(each["score"] > 0 for each in result["spam"])
    assert len(result["spam"]) == len(result["ham"]) == 3
    assert run("words").stdout.endswith("\nlog-odds: the score of a message with this feature alone.\n")


def test_a_store_without_words_cannot_list_them(trained, folder):
    result = trained("words")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        f"weigh: {folder / 'store'}: this store keeps no words, only their hashes. Create one with words "
        "in another folder: weigh mail learn --words --store DIR --spam PATH... --ham PATH...\n"
    )
    for name in os.listdir(folder / "store"):
        assert b"prize" not in (folder / "store" / name).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["learn"], "Give mail with --spam PATH... or --ham PATH..."),
        (["learn", "--spam", "--ham"], "Standard input can be given only once."),
        (["evaluate", "--spam", "spam"], "Give mail with --spam PATH... and --ham PATH..."),
        (["learn", "spam"], "Is 'spam' spam or ham? Put --spam or --ham before it."),
        (["learn", "--json", "a", "b"], "Is 'a' spam or ham? Put --spam or --ham before it."),
        (["train"], "No such command 'train'. Did you mean 'learn'?"),
        (["lern"], "No such command 'lern'. Did you mean 'learn'?"),
    ],
)
def test_usage_errors_say_what_to_do(run, arguments, message):
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.endswith(f"Error: {message}\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["learn", "--spam", "nowhere"], "There is no file nowhere."),
        (["learn", "--spam"], "There is no mail in standard input."),
        (["learn", "--ham", "ham", "--spam", "empty"], "There is no mail in empty."),
        (["explain", "box"], "box has several messages. Choose one, for example with --number 1."),
        (["explain", "box", "--number", "3"], "box has 2 messages; there is no message 3."),
        (["explain"], "There is no message in standard input."),
        (["explain", "empty"], "There is no message in empty."),
    ],
)
def test_errors_are_one_line(trained, folder, arguments, message):
    (folder / "empty").mkdir()
    envelope = b"From ann@example.org Thu Aug 22 12:36:23 2002\n"
    (folder / "box").write_bytes(envelope + ham(0) + b"\n" + envelope + ham(1))
    result = trained(*arguments)
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", f"weigh: {message}\n")


def test_nothing_is_learned_if_a_path_does_not_exist(run, folder):
    assert run("learn", "--spam", "spam", "--ham", "nowhere").exit_code == 1
    assert not (folder / "store").exists()


def test_without_a_store_the_error_explains_how_to_create_one(run, folder):
    for command in ("status", "words", "explain", "unlearn"):
        result = run(command, input=ham(0))
        assert result.exit_code == 1
        assert result.stderr == (
            f"weigh: {folder / 'store'}: there is no mail store. Create one by learning mail: "
            "weigh mail learn --ham FOLDER --spam FOLDER.\n"
        )


def test_the_first_call_fixes_the_costs(run):
    assert run("learn", "--spam", "spam", "--costs", "ham-lost=9").exit_code == 0
    assert MailStore.open().costs == Costs(ham_lost=9)
    assert run("learn", "--ham", "ham", "--costs", "ham-lost=9").exit_code == 0
    result = run("learn", "--ham", "ham", "--costs", "ham-lost=8")
    assert result.exit_code == 2
    assert result.stderr.endswith(
        "store: this store was created with costs ham-lost=9,spam-let=1,unsure=0.5, not "
        "ham-lost=8,spam-let=1,unsure=0.5. Pass other costs to filter and explain, or give another folder "
        "(--store DIR).\n"
    )


def test_no_store_is_created_without_mail(run, folder):
    (folder / "nothing").write_bytes(b"")
    for arguments in (["nothing"], ["spam", "--ham", "nothing"]):
        result = run("learn", "--spam", *arguments)
        assert (result.exit_code, result.stderr) == (1, "weigh: There is no mail in nothing.\n")
    assert not (folder / "store").exists()


def test_messages_without_headers_are_reported(run, folder):
    (folder / "notes").mkdir()
    for name, content in {"a": b"dear diary\n", "b": b"https://a.example/\n", "c": b"\x89PNG"}.items():
        (folder / "notes" / name).write_bytes(content)
    result = run("learn", "--ham", "ham", "--spam", "spam", "notes")
    assert (result.exit_code, result.stdout) == (
        0,
        "spam: 7 new messages learned\nham:  4 new messages learned\n",
    )
    assert result.stderr == (
        "weigh: 3 of 11 messages do not begin with headers. Are they mail? "
        "If not, undo with: weigh mail unlearn PATH\n"
    )


def test_all_kinds_of_first_lines_are_recognised_as_mail(run):
    for head in (b"Subject: x", b"X-Odd_1.a : x", b">From ann Mon", b"Received:\n from here"):
        assert "headers" not in run("learn", "--spam", input=head + b"\n\ntext\n").stderr


def test_after_learning_one_label_a_hint_asks_for_the_other(run):
    hint = "weigh: The store has learned no ham yet. Learn both ham and spam before you rely on it.\n"
    assert run("learn", "--spam", "spam").stderr == hint
    assert run("learn", "--ham", "ham").stderr == ""


def test_mails_with_both_labels_are_reported(run):
    result = run("learn", "--spam", "spam", "--ham", "ham", "spam/0.eml", "spam/1.eml")
    assert (result.exit_code, counts(run)) == (0, (6, 2))
    assert result.stderr == "weigh: 2 mails were given as both spam and ham. The label learned last counts.\n"
