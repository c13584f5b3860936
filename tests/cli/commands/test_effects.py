"""`weigh effects`: the effects it lists, the page it draws, what it refuses."""

from __future__ import annotations

import json

import pytest

import weigh
from tests.cli.test_fit_regression import FLATS

EFFECTS = """Effects on rent, strongest first

effect    shape                         importance     from … to  cells
size      line, rising                       289.7  −421 to +531      1
district  most for south, least for n…       45.13      0 to +90      2
rooms     line, falling                      45.02    −73 to +81      1

Importance is the standard deviation of the contribution over 10 given rows.
"""


@pytest.fixture
def flats(run, tmp_path):
    (tmp_path / "flats.csv").write_text(FLATS)
    assert run("fit", "flats.csv", "--label", "rent", "--learner", "linear").exit_code == 0
    return run


def test_effects_are_listed_strongest_first(flats):
    assert flats("effects", "flats.weigh", "flats.csv").output == EFFECTS


def test_only_the_strongest_are_listed_on_request(flats):
    lines = flats("effects", "flats.weigh", "flats.csv", "--top", "2").output.splitlines()
    assert [line.split() for line in lines[3:5]] == [line.split() for line in EFFECTS.splitlines()[3:5]]
    assert lines[5] == "… and 1 more"


def test_lines_need_rows(flats):
    assert "Not listed: 'size', 'rooms' (straight lines" in flats("effects", "flats.weigh").output


def test_json_is_what_python_finds(flats, tmp_path):
    given = json.loads(flats("effects", "flats.weigh", "flats.csv", "--json").output)
    model = weigh.load(tmp_path / "flats.weigh")
    expected = weigh.effects(model, weigh.open(tmp_path / "flats.csv", label="rent"))
    assert given == json.loads(json.dumps(expected.to_dict()))


@pytest.mark.parametrize("name", ["page.svg", "page.html"])
def test_the_page_is_written_and_its_path_printed(flats, tmp_path, name):
    pytest.importorskip("altair")
    given = ("effects", "flats.weigh", "flats.csv", "--row", "1", "-o", name)
    assert flats(*given).output == f"{EFFECTS}\nThe picture is in {name}.\n"
    text = (tmp_path / name).read_text()
    assert "this row 82: +28" in text
    assert "this row south: +90" in text


def test_one_of_several_classes_is_drawn(run, tmp_path):
    pytest.importorskip("altair")
    rows = "\n".join(f"{k / 2},{'abc'[k // 10]}" for k in range(30))
    (tmp_path / "three.csv").write_text(f"x,y\n{rows}\n")
    fit = ("fit", "three.csv", "--label", "y", "--learner", "logistic", "--set", "curves=auto")
    assert run(*fit).exit_code == 0
    assert run("effects", "three.weigh", "--class", "b", "-o", "b.html").exit_code == 0
    page = (tmp_path / "b.html").read_text()
    assert '"series":"b"' in page
    assert '"series":"a"' not in page
    refused = run("effects", "three.weigh", "--class", "z", "-o", "b.html")
    assert (refused.exit_code, "no class 'z'" in refused.output) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--row", "0"], 2, "--row and --class are for the picture. Name its file with -o."),
        (["--row", "0", "-o", "x.svg"], 2, "--row needs DATA, the file that has the row."),
        (["flats.csv", "--row", "99", "-o", "x.svg"], 1, "flats.csv has 10 rows, so there is no row 99"),
        (["-o", "x.pdf"], 2, "'x.pdf' does not end in .svg, .png or .html."),
        (["--class", "a", "-o", "x.svg"], 2, "--class is for models of more than two classes."),
        (["--top", "0"], 2, "0 is not in the range x>=1."),
    ],
)
def test_wrong_options_are_explained(flats, tmp_path, arguments, code, message):
    pytest.importorskip("altair")
    result = flats("effects", "flats.weigh", *arguments)
    assert result.exit_code == code
    assert message in result.output
    assert not (tmp_path / "x.svg").exists()


def test_naive_bayes_has_no_effects(fitted):
    result = fitted("effects", "mails.weigh")
    assert (result.exit_code, "effects needs a linear model" in result.output) == (1, True)
