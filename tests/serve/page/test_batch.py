"""Whole files: dropped or chosen in a browser, and answered as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.report import tables
from tests.serve.page.conftest import Visit
from tests.serve.page.models import served

pytestmark = pytest.mark.filterwarnings("ignore::weigh.errors.WeighWarning")
Visits = Callable[..., Visit]
CUSTOMERS = """\
id;plan;months;calls;pays automatically;signed
001;basic;3;5;no;2023-02-03
=1+1;plus;50;0;yes;2023-02-03
003;"other; new";;1;yes;
"""


def post(address: str, model: str, body: str | bytes) -> httpx.Response:
    content = body.encode() if isinstance(body, str) else body
    return httpx.post(f"{address}page/batch/{model}", content=content, headers={"Content-Type": "text/csv"})


def test_a_file_comes_back_with_predictions_and_reasons(address: str) -> None:
    answer = post(address, "churn", CUSTOMERS)
    assert (answer.status_code, answer.headers["X-Rows"]) == (200, "3")
    names, *records = csv.reader(io.StringIO(answer.text))
    assert names == [
        *("id", "plan", "months", "calls", "pays automatically", "signed"),
        *("prediction", "probability", "P(leaves)", "P(stays)", "reason 1", "reason 2", "reason 3"),
    ]
    # Cells stay as they are written, except that a spreadsheet must not run them.
    assert [record[0] for record in records] == ["001", "'=1+1", "003"]
    row = {"plan": "basic", "months": 3, "calls": 5, "pays automatically": "no", "signed": "2023-02-03"}
    evidence = served()["churn"].explain([row])[0]
    strongest = [each for each in evidence.strongest(4) if each.feature != "class prior"]
    assert records[0][6] == evidence.verdict
    assert float(records[0][7]) == pytest.approx(evidence.probability, abs=1e-5)
    assert records[0][10].startswith(f"{strongest[0].title} (")
    assert records[2][1] == "other; new"


def test_models_without_probabilities_are_answered_too(address: str) -> None:
    answer = post(address, "rent", "rooms,area\n2,50\n3,70\n")
    names, *records = csv.reader(io.StringIO(answer.text))
    assert names == ["rooms", "area", "prediction", "reason 1", "reason 2", "reason 3"]
    predicted = served()["rent"].predict({"area": [50, 70], "rooms": [2, 3]})
    assert [float(record[2]) for record in records] == pytest.approx(predicted)
    lead = post(address, "lead", "sender,offer,length\nfriend,yes,2\n")
    assert lead.text.splitlines()[0] == "sender,offer,length,prediction,lead,reason 1,reason 2,reason 3"


def test_a_row_takes_one_line_whatever_its_texts_hold(address: str) -> None:
    body = 'body\n"=cmd|\'/c\'!A0 password"\n"two\nlines, login"\n'
    lines = post(address, "tickets", body).text.splitlines()
    assert len(lines) == 3
    assert lines[1].startswith("'=cmd|'/c'!A0 password,access,")
    assert lines[2].startswith('"two\\nlines, login",access,')


@pytest.mark.parametrize(
    ("model", "body", "status", "sentence"),
    [
        ("churn", "", 422, "There are no rows."),
        ("absent", "a\n1\n", 404, "There is no model 'absent'"),
        ("rent", "area\n50\n", 422, "rooms"),
    ],
)
def test_a_file_that_cannot_be_predicted_is_refused(
    address: str, model: str, body: str, status: int, sentence: str
) -> None:
    answer = post(address, model, body)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert sentence in answer.json()["detail"]


def test_a_chosen_file_is_shown_and_downloaded(visit: Visits, tmp_path: Path, screenshots: Path) -> None:
    path = tmp_path / "new customers.csv"
    path.write_text(CUSTOMERS)
    page = visit(accept_downloads=True).open("churn", "#file")
    page.get_by_label("Choose a CSV file").set_input_files(path)
    page.get_by_text("3 rows of new customers.csv predicted.").first.wait_for()
    assert page.locator(".preview thead th").all_inner_texts()[:3] == [
        "prediction",
        "probability",
        "P(leaves)",
    ]
    assert page.locator(".preview tbody tr").count() == 3
    page.screenshot(path=screenshots / "serve-batch.png", full_page=True)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download new customers-predicted.csv").click()
    assert download.value.suggested_filename == "new customers-predicted.csv"
    assert Path(download.value.path()).read_text().splitlines()[2].startswith("'=1+1,plus,50,0,yes,")


def test_a_file_dropped_anywhere_is_predicted(visit: Visits) -> None:
    page = visit().open("churn")
    page.evaluate(
        """text => {
          const transfer = new DataTransfer();
          transfer.items.add(new File([text], "dropped.csv", { type: "text/csv" }));
          for (const name of ["dragenter", "dragover", "drop"]) {
            const event = new DragEvent(name, { bubbles: true, cancelable: true, dataTransfer: transfer });
            document.querySelector("#view-try h2").dispatchEvent(event);
          }
        }""",
        CUSTOMERS,
    )
    page.get_by_text("3 rows of dropped.csv predicted.").first.wait_for()


def test_a_refused_file_is_explained(visit: Visits, tmp_path: Path) -> None:
    path = tmp_path / "wrong.csv"
    path.write_text("area\n50\n")
    each = visit()
    page = each.open("rent", "#file")
    page.get_by_label("Choose a CSV file").set_input_files(path)
    page.locator("#view-file [role=status]", has_text="rooms").wait_for()
    assert page.locator(".preview").count() == 0
    each.problems.clear()


def test_the_preview_reads_what_the_server_writes(visit: Visits) -> None:
    page = visit().open("churn")
    text = 'a,"b ""x""",c\n"1,2",,3\n"line\nend","",\n'
    parsed = page.evaluate("async text => (await import('/static/csv.js')).parseCsv(text, 10)", text)
    assert parsed == list(csv.reader(io.StringIO(text)))


def test_cells_that_are_markup_stay_text(visit: Visits, tmp_path: Path) -> None:
    path = tmp_path / "hostile.csv"
    path.write_text(f"body\n{tables.ATTACK} password\n<img src=x onerror=document.title='owned'>\n")
    page: Any = visit().open("tickets", "#file")
    page.get_by_label("Choose a CSV file").set_input_files(path)
    page.locator(".preview").wait_for()
    assert page.locator(".preview").get_by_text(tables.ATTACK).count() > 0
    assert page.locator(".preview img, .preview script").count() == 0
    assert page.title() == "tickets – weigh"
