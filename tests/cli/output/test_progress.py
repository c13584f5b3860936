"""The progress bar, and several files read as one."""

from __future__ import annotations

import io
import re
import time

import pytest
from click.testing import CliRunner

import weigh
from weigh.cli.main import app
from weigh.cli.output import heartbeat, progress
from weigh.cli.output import text as output
from weigh.cli.output.progress import RowProgress, show_row_progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def files(tmp_path):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("x,y\n1,p\n2,q\n")
    paths = [str(tmp_path / name) for name in ("a.csv", "b.csv")]
    return weigh.open(paths, "y")


def test_files_in_a_row_number_their_rows_on_and_add_up_their_bytes(files):
    chunks = list(files.chunks())
    assert [(chunk.first_row, chunk.n_rows) for chunk in chunks] == [(0, 2), (2, 2)]
    assert files.bytes_total == 2 * len("x,y\n1,p\n2,q\n")
    assert 0 < files.bytes_read <= files.bytes_total
    assert files.prefix(1).n_rows == 1


def test_files_in_a_row_can_be_read_by_another_label(files):
    assert files.with_label("x").names == ("y",)


def test_nothing_is_shown_where_there_is_no_terminal(files, monkeypatch):
    shown = io.StringIO()
    monkeypatch.setattr("sys.stderr", shown)
    monkeypatch.setattr(progress, "PROGRESS_DELAY", 0.0)
    bar = RowProgress(files)
    bar(2)
    bar.close()
    assert shown.getvalue() == ""


def test_fast_jobs_show_no_bar(files, monkeypatch):
    shown = Terminal()
    monkeypatch.setattr("sys.stderr", shown)
    bar = RowProgress(files)
    bar(2)
    bar.close()
    assert shown.getvalue() == ""


def test_a_long_reading_shows_rows_and_share(files, monkeypatch):
    shown = Terminal()
    monkeypatch.setattr("sys.stderr", shown)
    monkeypatch.setattr(progress, "PROGRESS_DELAY", 0.0)
    bar = RowProgress(files)
    for chunk in files.chunks():
        bar(chunk.n_rows)
    bar.close()
    assert "4 rows" in shown.getvalue()
    assert "%" in shown.getvalue()


def test_a_watched_source_is_the_source_and_counts_what_was_dealt_with(files, monkeypatch):
    shown = Terminal()
    monkeypatch.setattr("sys.stderr", shown)
    monkeypatch.setattr(progress, "PROGRESS_DELAY", 0.0)
    with show_row_progress(files) as source:
        assert (source.names, source.label, source.width) == (files.names, files.label, files.width)
        assert source.prefix(1).n_rows == 1
        assert shown.getvalue() == ""
        assert [c.n_rows for c in source.chunks()] == [c.n_rows for c in files.chunks()]
        assert source.with_label("x").names == ("y",)
    assert "4 rows" in shown.getvalue()


@pytest.mark.parametrize(
    ("command", "is_shown"),
    [
        (("evaluate", "m.weigh", "a.csv"), True),
        (("verify", "m.weigh", "a.csv"), True),
        (("predict", "m.weigh", "a.csv", "-o", "out.csv"), True),
        (("predict", "m.weigh", "a.csv"), False),  # the rows themselves run over the terminal
    ],
)
def test_long_commands_show_a_bar_on_a_terminal(files, tmp_path, monkeypatch, command, is_shown):
    monkeypatch.chdir(tmp_path)
    weigh.NaiveBayes().fit(weigh.open("a.csv", "y")).model_.save("m.weigh")
    shown = Terminal()
    monkeypatch.setattr("sys.stderr", shown)
    monkeypatch.setattr("sys.stdout", Terminal())
    monkeypatch.setattr(progress, "PROGRESS_DELAY", 0.0)
    app.main(command, prog_name="weigh", standalone_mode=False)
    assert ("2 rows" in shown.getvalue()) == is_shown


def test_a_watched_source_stays_watched_however_it_is_to_be_read(files, monkeypatch):
    shown = Terminal()
    monkeypatch.setattr("sys.stderr", shown)
    monkeypatch.setattr(progress, "PROGRESS_DELAY", 0.0)
    with show_row_progress(files) as source:
        other = source.with_missing(["1"]).with_storage({"x": "string"})
        assert [v for chunk in other.chunks() for v in chunk.columns["x"].to_pylist()] == [None, "2"] * 2
    assert "4 rows" in shown.getvalue()


def test_stages_are_shown_on_a_terminal_after_a_delay(monkeypatch, capsys):
    with output.show_stages() as say:
        say("Judging the model")
    assert capsys.readouterr().err == ""
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr(output, "PROGRESS_DELAY", 0.0)
    with output.show_stages() as say:
        say("Judging the model")
    assert terminal.getvalue() == "\r\033[KJudging the model …\r\033[K"


def plain_stderr(monkeypatch):
    """Replace standard error by one that is no terminal, with notes every hundredth of a second."""
    shown = io.StringIO()
    monkeypatch.setattr("sys.stderr", shown)
    monkeypatch.setattr(heartbeat, "NOTE_INTERVAL", 0.01)
    return shown


def wait_for_notes(shown, wanted=2):
    for _ in range(500):
        if shown.getvalue().count("\n") >= wanted:
            return
        time.sleep(0.01)
    raise AssertionError(shown.getvalue())


def test_jobs_without_a_terminal_note_how_many_are_done(monkeypatch):
    plain = plain_stderr(monkeypatch)
    with progress.show_job_progress("fits") as show:
        show(34, 120)
        wait_for_notes(plain)
    lines = plain.getvalue().splitlines()
    assert all(
        re.fullmatch(r"weigh: note: still working: 34 of 120 fits, about \d+ s left", line)
        for line in lines[1:]
    )
    time.sleep(0.05)
    assert plain.getvalue().splitlines() == lines, "notes after the end"


def test_the_first_job_of_unknown_number_notes_the_time(monkeypatch):
    plain = plain_stderr(monkeypatch)
    with progress.show_job_progress():
        wait_for_notes(plain)
    assert plain.getvalue().startswith("weigh: note: still working: 0 s so far\n")


def test_reading_without_a_terminal_notes_the_rows(files, monkeypatch):
    plain = plain_stderr(monkeypatch)
    bar = RowProgress(files)
    list(files.chunks())
    bar(4)
    plain.truncate(0)
    plain.seek(0)
    wait_for_notes(plain)
    bar.close()
    assert "weigh: note: still working: 4 rows are read, 0 s so far\n" in plain.getvalue()


def test_stages_without_a_terminal_are_noted_as_plain_text(monkeypatch):
    plain = plain_stderr(monkeypatch)
    with output.show_stages() as show:
        show("Evaluating\x1b[31m")
        plain.truncate(0)
        plain.seek(0)
        wait_for_notes(plain)
    assert "\x1b" not in plain.getvalue()
    assert "weigh: note: still working: Evaluating" in plain.getvalue()


def test_a_bar_makes_notes_superfluous(files, monkeypatch):
    shown = Terminal()
    monkeypatch.setattr("sys.stderr", shown)
    monkeypatch.setattr(progress, "PROGRESS_DELAY", 0.0)
    monkeypatch.setattr(heartbeat, "NOTE_INTERVAL", 0.05)
    bar = RowProgress(files)
    bar(2)
    time.sleep(0.2)
    bar.close()
    assert "Note" not in shown.getvalue()


def test_hidden_progress_notes_nothing(files, monkeypatch):
    plain = plain_stderr(monkeypatch)
    bar = RowProgress(files, is_shown=False)
    bar(2)
    time.sleep(0.05)
    bar.close()
    assert plain.getvalue() == ""


def test_closed_standard_error_is_no_problem(monkeypatch):
    plain = plain_stderr(monkeypatch)
    plain.close()
    heartbeat.note_progress("1 of 2 fits")


def test_the_time_left_is_an_estimate():
    assert heartbeat.format_time_left(10.0, 20, 60) == ", about 20 s left"
    assert heartbeat.format_time_left(60.0, 1, 11) == ", about 10 min left"
    assert heartbeat.format_time_left(60.0, 0, 11) == heartbeat.format_time_left(6.0, 11, 11) == ""
    assert heartbeat.format_time_left(60.0, 5, None) == ""


def test_tune_split_and_held_out_rows_report_their_progress(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{'ab'[k % 2]},{'uv'[k % 2]}\n" for k in range(40)))
    jobs, rows = [], []
    monkeypatch.setattr(
        progress.JobProgress, "__call__", lambda self, done, total: jobs.append((self._what, done, total))
    )
    monkeypatch.setattr(RowProgress, "__call__", lambda self, n: rows.append(n))
    call = CliRunner().invoke
    call(app, ["tune", "t.csv", "--label", "y", "--grid", "prior=1,2"])
    assert jobs == [("settings", 0, 2), ("settings", 1, 2), ("settings", 2, 2)]
    jobs.clear()
    call(app, ["split", "t.csv", "--label", "y", "--train", "a.csv", "--test", "b.csv"])
    assert (jobs, rows) == ([("rows", 40, 40)], [40])
    rows.clear()
    call(app, ["fit", "t.csv", "--label", "y", "--hold-out", "0.25"])
    assert (rows[0], rows[-1]) == (40, 10), "labels first, and the held-out rows last"
