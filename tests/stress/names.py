"""Hostile names of classes, columns, levels and words in every output."""

from __future__ import annotations

import csv
import email
import io
import json
import random
import re
import resource
import xml.etree.ElementTree
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from click.testing import CliRunner

import weigh
from tests.hostile import HOSTILE_NAMES, find_control_characters
from tests.stress.attack import Attack
from weigh.apps.mail.header import add_verdict_header
from weigh.apps.mail.store import MailStore
from weigh.cli.main import app
from weigh.errors import DataError

PIECES = [
    "\x1b[31m", "\x1b]0;title\x07", "\x9b2J", "\r", "\n", "\t", "\b", "\0", "\x7f", "\x85", "\u2028",
    "\u2029", "\u202e", "\u2066", "\u200b", "\ufeff", "\ud800", "é", "漢字", "😀", " ", ",", ";", '"', "'",
    "`", "|", "<pwned>", "</pwned>", "<script>pwned()</script>", "</script><pwned>", "--><pwned>",
    "]]><pwned>", '" pwned="', "' pwned='", "<img src=x pwned=1>", "&lt;", "&amp;", "{{ pwned }}",
    "{% pwned %}", "${pwned}", "=pwned()", "+pwned()", "-pwned()", "@pwned", "=1+1|pwned", "%pwned",
    "\\pwned{x}", "\\end{align*}", "{", "}", "$", "#", "_", "^", "~", '\\', "[bold]", "[/]",
    "[link=pwned]", "\r\nPwned: yes", "a", "b", "%s", "{0}",
]  # fmt: skip
# A single quote in front makes a cell text.
FORMULA = re.compile(r"[\s\"\ufeff]*[=+\-@\t\r＝＋－＠]")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$", re.IGNORECASE)
LATEX_COMMAND = re.compile(r"\\([A-Za-z]+)")


class NameAttack(Attack):
    """A table and a mail whose every name is hostile, shown in one output per case."""

    max_address_space = resource.RLIM_INFINITY  # the JavaScript engine that draws pictures reserves much more

    def run_case(self, rng: random.Random) -> str:
        """Fit a model to hostile names and check one output; return the name of the output."""
        self._classes = _distinct_names(rng, 2)
        self._columns = _distinct_names(rng, 3)
        self._rows = _rows(rng, self._columns, self._classes)
        table = {name: [row[name] for row in self._rows] for name in self._columns}
        labels = [row["the label"] for row in self._rows]
        colour, note, size = self._columns
        kinds = {colour: "category", note: "text", size: "number"}
        learner: Any = rng.choice(
            (weigh.NaiveBayes, weigh.NaiveBayes, weigh.LogisticRegression, weigh.Perceptron)
        )
        self._model = learner(columns=kinds).fit(table | {"the label": labels}, "the label").model_
        self._model.save("model.weigh")
        Path("data.jsonl").write_text("\n".join(json.dumps(row) for row in self._rows))
        output, check = rng.choice(list(OUTPUTS.items()))
        check(self, rng)
        return output

    def run_command(self, *arguments: str) -> str:
        """Run `weigh` and return its standard output; its terminal output must have no control characters."""
        result = CliRunner().invoke(app, arguments, prog_name="weigh")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise AssertionError(f"{arguments}: {result.exception!r}") from result.exception
        assert not (found := find_control_characters(result.stderr)), (arguments, found, result.stderr)
        if result.exit_code != 0:
            raise DataError(result.stderr)
        return result.stdout

    def check_terminal(self, rng: random.Random) -> None:
        """Check the text of one command, and of printing a result in Python."""
        arguments = rng.choice(TEXT_COMMANDS)
        text = self.run_command(*arguments) + str(self._model.explain(self._rows[:1])[0])
        assert not (found := find_control_characters(text)), (arguments, found, text)

    def check_csv(self, rng: random.Random) -> None:
        """Check that no cell is a formula, and that --raw writes the names as they are."""
        options = rng.choice(((), ("--proba",), ("--check",)))
        arguments = ("predict", "model.weigh", "data.jsonl", *options, "-o", "out.csv")
        self.run_command(*arguments)
        for cell in _cells("out.csv"):
            assert not FORMULA.match(cell) or NUMBER.match(cell), repr(cell)
        self.run_command(*arguments, "--raw")
        predicted = {row[0] for row in _rows_of_csv("out.csv")[1:]}
        assert predicted <= {_encodable(name) for name in self._classes}, predicted

    def check_html(self, rng: random.Random) -> None:
        """Check that no name becomes an element or an attribute, in a report or in a notebook."""
        if rng.random() < 0.3:
            self.run_command("report", "model.weigh", "data.jsonl", "-o", "report.html")
            pages = [Path("report.html").read_text(encoding="utf-8")]
        else:
            evaluation = weigh.evaluate(self._model, weigh.open("data.jsonl", "the label"))
            pages = [self._model.explain(self._rows[:1])[0]._repr_html_(), evaluation._repr_html_()]
        for page in pages:
            _check_html(page)

    def check_svg(self, rng: random.Random) -> None:
        """Check that a picture is XML without elements or attributes made from names."""
        del rng
        Path("figure.svg").unlink(missing_ok=True)
        evaluation = weigh.evaluate(self._model, weigh.open("data.jsonl", "the label"))
        evaluation.plot().save("figure.svg")
        for element in xml.etree.ElementTree.parse("figure.svg").iter():
            assert "pwned" not in element.tag
            assert not any("pwned" in attribute for attribute in element.attrib)

    def check_latex(self, rng: random.Random) -> None:
        """Check that names add no command to the formulas, and that braces are balanced."""
        del rng
        if not hasattr(self._model, "log_prior"):
            return
        _check_latex(self.run_command("explain", "model.weigh", "data.jsonl", "--row", "0", "--latex"))

    def check_mail_header(self, rng: random.Random) -> None:
        """Check that a filtered message has one new header, and the message as it was."""
        subject, body = (" ".join(_name(rng) for _ in range(3)) for _ in range(2))
        message = f"Subject: {subject}\n\n{body}".encode("utf-8", "surrogatepass")
        store = MailStore.open(self.folder / "mail", create=True, words=True)
        store.learn([message], "spam")
        filtered = add_verdict_header(message, *store.brief(message, 10))
        header, _, rest = filtered.partition(message)
        assert not rest
        assert email.message_from_bytes(header).keys() == ["X-Weigh"], header


TEXT_COMMANDS = (
    ("explain", "model.weigh"),
    ("explain", "model.weigh", "data.jsonl", "--row", "0"),
    ("explain", "model.weigh", "data.jsonl", "--row", "0", "--worked"),
    ("explain", "model.weigh", "data.jsonl", "--row", "0", "--latex"),
    ("explain", "model.weigh", "data.jsonl", "--row", "0", "--flip"),
    ("evaluate", "model.weigh", "data.jsonl"),
    ("audit", "model.weigh", "data.jsonl"),
    ("verify", "model.weigh", "data.jsonl"),
    ("diff", "model.weigh", "model.weigh"),
    ("trace", "data.jsonl", "--label", "the label"),
    ("fit", "data.jsonl", "--label", "the label", "-o", "again.weigh"),
    ("compare", "data.jsonl", "--label", "the label"),
)
OUTPUTS: dict[str, Callable[[NameAttack, random.Random], None]] = {
    "terminal": NameAttack.check_terminal,
    "CSV": NameAttack.check_csv,
    "HTML": NameAttack.check_html,
    "SVG": NameAttack.check_svg,
    "LaTeX": NameAttack.check_latex,
    "mail header": NameAttack.check_mail_header,
}


def _name(rng: random.Random) -> str:
    return (
        rng.choice(HOSTILE_NAMES) if rng.random() < 0.3 else "".join(rng.choices(PIECES, k=rng.randint(1, 3)))
    )


def _distinct_names(rng: random.Random, n: int) -> list[str]:
    return [f"{_name(rng)}{i}" for i in range(n)]


def _rows(rng: random.Random, columns: list[str], classes: list[str]) -> list[dict[str, Any]]:
    levels, words = _distinct_names(rng, 3), _distinct_names(rng, 6)
    colour, note, size = columns
    return [
        {
            colour: rng.choice(levels),
            note: " ".join(rng.choices(words, k=4)),
            size: rng.gauss(i % 2, 1),
            "the label": classes[i % 2],
        }
        for i in range(12)
    ]


def _rows_of_csv(path: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(Path(path).read_bytes().decode(), newline="")))


def _cells(path: str) -> list[str]:
    return [cell for row in _rows_of_csv(path) for cell in row]


def _encodable(name: str) -> str:
    """Return a name as UTF-8 can hold it."""
    return name.encode("utf-8", "backslashreplace").decode()


class _TagCollector(HTMLParser):
    """Collects the names of elements and attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names |= {tag, *(name for name, _ in attrs)}


def _check_html(page: str) -> None:
    collector = _TagCollector()
    collector.feed(page)
    assert not any("pwned" in name for name in collector.names), collector.names


def _check_latex(text: str) -> None:
    commands = set(LATEX_COMMAND.findall(re.sub(r"\\\\|\\[{}%$#&_]", "", text)))
    assert not any("pwned" in command for command in commands), commands
    bare = re.sub(r"\\[\\{}%$#&_]", "", text)
    assert bare.count("{") == bare.count("}"), text
    assert "%" not in bare, text
