"""`weigh mail learn`, `unlearn`, `status`, `words`: what a store is told, and what it has."""

from __future__ import annotations

import json
import os

import pytest

from tests.cli.mail.conftest import ham, spam
from weigh.apps.mail.store import MailStore
from weigh.apps.mail.verdict import Costs
from weigh.cli.mail.bulk import ROUND_SIZE
from weigh.cli.mail.spam_ham_options import _expand_paths


def counts(run):
    told = json.loads(run("status", "--json").stdout)
    return told["hams"], told["spams"]


@pytest.mark.parametrize(
    ("given", "meant"),
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
def test_every_path_belongs_to_the_side_before_it(given, meant):
    assert list(_expand_paths(given)) == meant


def test_what_was_new_moved_or_known_is_told(run):
    assert run("learn", "--spam", "spam", "--ham", "ham").stdout == (
        "spam: 4 new messages learned\nham:  4 new messages learned\n"
    )
    assert run("learn", "--spam", "spam/0.eml", "ham/0.eml").stdout == (
        "spam: 0 new messages learned, 1 moved from the other label, 1 known already\n"
    )
    assert counts(run) == (3, 5)


def test_counts_come_as_json(run):
    told = run("learn", "--spam", "spam", "--ham", "ham/1.eml", "--json")
    assert json.loads(told.stdout) == {
        "spam": {"new": 4, "moved": 0, "known": 0},
        "ham": {"new": 1, "moved": 0, "known": 0},
    }


def test_without_a_path_the_message_comes_from_standard_input(run):
    assert run("learn", "--spam", input=spam(0)).stdout == "spam: 1 new message learned\n"
    assert run("learn", "--ham", input=ham(0)).stdout == "ham:  1 new message learned\n"
    assert counts(run) == (1, 1)


def test_the_filter_header_does_not_make_another_message(taught):
    filtered = taught("filter", input=spam(0)).stdout_bytes
    assert filtered.startswith(b"X-Weigh: ")
    assert "1 known already" in taught("learn", "--spam", input=filtered).stdout


def test_unlearned_mail_leaves_nothing_behind(taught, folder):
    before = MailStore.open(folder / "store").filter().ledger.image(b"")
    more = b"Subject: rare words\n\nnever seen before\n"
    taught("learn", "--spam", input=more)
    assert MailStore.open(folder / "store").filter().ledger.image(b"") != before
    told = taught("unlearn", input=more)
    assert told.stdout == "0 hams and 1 spam unlearned\n"
    assert MailStore.open(folder / "store").filter().ledger.image(b"") == before
    assert taught("unlearn", "ham", "spam").stdout == "4 hams and 4 spams unlearned\n"
    assert counts(taught) == (0, 0)


def test_a_new_store_is_as_the_options_say_and_stays_so(run):
    options = ("--learner", "logistic", "--pairs", "sparse", "--characters", "4")
    assert run("learn", *options, "--spam", "spam", "--ham", "ham").exit_code == 0
    told = json.loads(run("status", "--json").stdout)
    assert (told["learner"], told["pairs"], told["characters"]) == ("logistic", "sparse", 4)
    assert run("learn", "--ham", "ham").exit_code == 0
    refused = run("learn", "--learner", "perceptron", "--ham", "ham")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "logistic" in refused.stderr


def test_learners_that_go_by_order_hear_both_sides_in_turn(run, folder, monkeypatch):
    for name, number in (("ham", 40), ("spam", 20)):
        for at in range(4, number):
            (folder / name / f"{at}.eml").write_bytes(b"Subject: %b %d\n\ntext\n" % (name.encode(), at))
    heard = []
    learn = MailStore.learn

    def listen(self, contents, label, **settings):
        told = learn(self, contents, label, **settings)
        heard.append((label, told.messages))
        return told

    monkeypatch.setattr(MailStore, "learn", listen)
    run("learn", "--learner", "logistic", "--spam", "spam", "--ham", "ham")
    rounds = 20 // ROUND_SIZE
    assert heard == [("spam", 20 // rounds), ("ham", 40 // rounds)] * rounds + [("spam", 0), ("ham", 0)]
    heard.clear()
    run("learn", "--store", "counting", "--spam", "spam", "--ham", "ham")
    assert heard == [("spam", 20), ("ham", 40)]


def test_words_are_listed_if_they_are_kept(run):
    assert run("learn", "--words", "--spam", "spam", "--ham", "ham").exit_code == 0
    told = json.loads(run("words", "--most", "3", "--json").stdout)
    assert all(each["score"] > 0 for each in told["spam"])
    assert len(told["spam"]) == len(told["ham"]) == 3
    assert run("words").stdout.endswith("\nlog-odds: the score of a message with this feature alone.\n")


def test_a_store_of_hashes_has_no_words(taught, folder):
    refused = taught("words")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert refused.stderr == (
        f"weigh: {folder / 'store'}: this store keeps no words, only keys made of them. Make one that does "
        "in another folder: weigh mail learn --words --store DIR --spam PATH... --ham PATH...\n"
    )
    for name in os.listdir(folder / "store"):
        assert b"prize" not in (folder / "store" / name).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["learn"], "Say where mail is: --spam PATH... or --ham PATH..."),
        (["learn", "--spam", "--ham"], "Standard input can be given once only."),
        (["evaluate", "--spam", "spam"], "Say where mail is: --spam PATH... and --ham PATH..."),
        (["learn", "spam"], "'spam' is mail of which kind? Put --spam or --ham before it."),
        (["learn", "--json", "a", "b"], "'a' is mail of which kind? Put --spam or --ham before it."),
        (["train"], "No such command 'train'. Did you mean 'learn'?"),
        (["lern"], "No such command 'lern'. Did you mean 'learn'?"),
    ],
)
def test_wrong_usage_is_worded(run, arguments, sentence):
    refused = run(*arguments)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert refused.stderr.endswith(f"Error: {sentence}\n")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["learn", "--spam", "nowhere"], "There is no file nowhere."),
        (["learn", "--spam"], "There is no mail in standard input."),
        (["learn", "--ham", "ham", "--spam", "empty"], "There is no mail in empty."),
        (["explain", "box"], "box has several messages. Say which one: --number 1, say."),
        (["explain", "box", "--number", "3"], "box has 2 messages, and no number 3."),
        (["explain"], "There is no message in standard input."),
        (["explain", "empty"], "There is no message in empty."),
    ],
)
def test_refusals_are_one_line(taught, folder, arguments, sentence):
    (folder / "empty").mkdir()
    line = b"From ann@example.org Thu Aug 22 12:36:23 2002\n"
    (folder / "box").write_bytes(line + ham(0) + b"\n" + line + ham(1))
    refused = taught(*arguments)
    assert (refused.exit_code, refused.stdout, refused.stderr) == (1, "", f"weigh: {sentence}\n")


def test_nothing_is_learned_if_a_path_is_wrong(run, folder):
    assert run("learn", "--spam", "spam", "--ham", "nowhere").exit_code == 1
    assert not (folder / "store").exists()


def test_without_a_store_the_first_step_is_told(run, folder):
    for command in ("status", "words", "explain", "unlearn"):
        refused = run(command, input=ham(0))
        assert refused.exit_code == 1
        assert refused.stderr == (
            f"weigh: {folder / 'store'}: there is no mail store. Make one by learning: "
            "weigh mail learn --ham FOLDER --spam FOLDER.\n"
        )


def test_costs_are_those_of_the_first_call(run):
    assert run("learn", "--spam", "spam", "--costs", "ham-lost=9").exit_code == 0
    assert MailStore.open().costs == Costs(ham_lost=9)
    assert run("learn", "--ham", "ham", "--costs", "ham-lost=9").exit_code == 0
    told = run("learn", "--ham", "ham", "--costs", "ham-lost=8")
    assert told.exit_code == 2
    assert told.stderr.endswith(
        "store: this store was made with costs ham-lost=9,spam-let=1,unsure=0.5, not with "
        "ham-lost=8,spam-let=1,unsure=0.5. Give yours to filter and explain, or give another folder "
        "(--store DIR).\n"
    )


def test_no_store_is_made_of_no_mail(run, folder):
    (folder / "nothing").write_bytes(b"")
    for given in (["nothing"], ["spam", "--ham", "nothing"]):
        told = run("learn", "--spam", *given)
        assert (told.exit_code, told.stderr) == (1, "weigh: There is no mail in nothing.\n")
    assert not (folder / "store").exists()


def test_what_does_not_look_like_mail_is_told(run, folder):
    (folder / "notes").mkdir()
    for name, content in {"a": b"dear diary\n", "b": b"https://a.example/\n", "c": b"\x89PNG"}.items():
        (folder / "notes" / name).write_bytes(content)
    told = run("learn", "--ham", "ham", "--spam", "spam", "notes")
    assert (told.exit_code, told.stdout) == (
        0,
        "spam: 7 new messages learned\nham:  4 new messages learned\n",
    )
    assert told.stderr == (
        "weigh: 3 of 11 messages do not begin with headers. Are they mail? "
        "Take them back with: weigh mail unlearn PATH\n"
    )


def test_mail_of_every_form_is_taken_for_mail(run):
    for head in (b"Subject: x", b"X-Odd_1.a : x", b">From ann Mon", b"Received:\n from here"):
        assert "headers" not in run("learn", "--spam", input=head + b"\n\ntext\n").stderr


def test_after_mail_of_one_kind_the_other_is_asked_for(run):
    sentence = "weigh: It has learned no ham yet. Learn both ham and spam before you trust it.\n"
    assert run("learn", "--spam", "spam").stderr == sentence
    assert run("learn", "--ham", "ham").stderr == ""


def test_mail_of_both_kinds_is_told(run):
    told = run("learn", "--spam", "spam", "--ham", "ham", "spam/0.eml", "spam/1.eml")
    assert (told.exit_code, counts(run)) == (0, (6, 2))
    assert told.stderr == "weigh: 2 mails were given as both spam and ham. What was learned last counts.\n"
