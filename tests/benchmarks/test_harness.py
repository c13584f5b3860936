from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.harness import Outcome, Skipped, run_job, run_quality
from benchmarks.job import Job, Quality, select_rows
from benchmarks.results import check_goals, format_outcome, format_summary, merge_row

from benchmarks import __main__ as command
from tests.benchmarks.fake_jobs import JOBS

PAGE = """# Results

## Tables

<!-- begin tables.a -->
old a
<!-- end tables.a -->

<!-- begin tables.b.str -->
old b
<!-- end tables.b.str -->

## Text

<!-- begin text.a -->
old text
<!-- end text.a -->
"""


def run(name: str, **options: bool) -> Outcome:
    [job] = [row for row in JOBS if row.name == f"fake.{name}"]
    assert isinstance(job, Job)
    return run_job(job, **options)


def failures(outcome: Outcome) -> dict[str, str]:
    return {m.contender.name: m.failure for m in outcome.measured if m.failure}


def test_contenders_take_turns_and_ratios_are_formed_round_by_round() -> None:
    outcome = run("turns")
    assert [len(m.seconds) for m in outcome.measured] == [2, 2, 2]
    peer = outcome.best("peer")
    assert peer is not None
    assert peer.contender.name == "slow"
    lead = outcome.lead()
    assert lead is not None
    assert lead > 1.5
    assert outcome.ratios(peer) == sorted(
        b / a for a, b in zip(outcome.ours.seconds, peer.seconds, strict=True)
    )
    assert "floor" in format_summary(outcome)


def test_growth_multiplies_one_size_by_ten() -> None:
    outcome = run("turns")
    assert outcome.growth_base is not None
    assert outcome.growth_base.size == {"rows": 10}
    assert outcome.growth["rows"].size == {"rows": 100}
    assert min(outcome.growth["rows"].ours.seconds) > 4 * min(outcome.growth_base.ours.seconds)
    assert "rows 10 → 100: ours" in format_outcome(outcome)


def test_a_contender_that_did_other_work_is_no_peer() -> None:
    outcome = run("other-work", quick=True, grows=False)
    assert failures(outcome) == {"worse": "did other work: accuracy 0.5"}
    peer = outcome.best("peer")
    assert peer is not None
    assert peer.contender.name == "slow"
    assert "worse: did other work" in format_outcome(outcome)


def test_failures_and_missing_packages_do_not_stop_the_others() -> None:
    outcome = run("failures")
    assert failures(outcome) == {
        "failing": "ValueError: no luck",
        "missing": "no-such-package is not installed",
        "too slow": "cut off after 4 s",
    }
    assert len(outcome.ours.seconds) == 2


def test_the_loosest_tolerance_that_passes_is_timed() -> None:
    outcome = run("tolerances")
    assert outcome.ours.tolerance == 1e-2
    assert failures(outcome) == {"never there": "reaches accuracy 1 only"}


def test_processes_have_a_peak_of_memory() -> None:
    outcome = run("processes")
    assert min(outcome.ours.memory) > 1e6
    assert "peak memory" in format_outcome(outcome)


def test_a_row_without_its_real_data_is_skipped() -> None:
    with pytest.raises(Skipped, match="has no no/such/file"):
        run("no-data")


def test_quality_rows_return_their_tables() -> None:
    [row] = [row for row in JOBS if isinstance(row, Quality)]
    assert run_quality(row, quick=True)[0] == "quick: True"


def test_merging_a_row_keeps_the_others() -> None:
    page = merge_row(PAGE, "tables.a", "new a")
    assert page == PAGE.replace("old a", "new a")


def test_a_new_row_follows_its_siblings() -> None:
    page = merge_row(PAGE, "tables.b.object", "new")
    assert page.index("old b") < page.index("### tables.b.object") < page.index("## Text")
    assert merge_row(page, "tables.b.object", "newer") == page.replace("new", "newer")
    assert "## Mail\n\n### mail.q\n\n<!-- begin mail.q -->" in merge_row(PAGE, "mail.q", "new")


def test_a_goal_that_is_missed_fails_and_a_row_that_did_not_run_does_not() -> None:
    table, passes = check_goals({"a": 2.0, "b": 2.0, "c": 2.0}, {"a": 2.5, "b": None})
    assert passes
    assert table.splitlines()[2:] == [
        "| a | 2.00 | 2.50 | ok |",
        "| b | 2.00 | - | SKIPPED |",
        "| c | 2.00 | - | SKIPPED |",
    ]
    table, passes = check_goals({"a": 2.0}, {"a": 1.9})
    assert not passes
    assert table.endswith("| a | 2.00 | 1.90 | BELOW ITS GOAL |")


def test_the_smoke_run_fails_below_a_goal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "select_rows", lambda names: [row for row in JOBS if row.name in names])
    goals = tmp_path / "goals.toml"
    goals.write_text(
        '["fake.turns"]\npeer = "slow"\nratio = 0.5\n["fake.no-data"]\npeer = "slow"\nratio = 1\n'
    )
    assert command.main(["--goals", str(goals), "--repeats", "1"]) == 0
    assert "SKIPPED fake.no-data" in capsys.readouterr().out
    goals.write_text('["fake.turns"]\npeer = "slow"\nratio = 500\n')
    assert command.main(["--goals", str(goals), "--repeats", "1"]) == 1
    assert "BELOW ITS GOAL" in capsys.readouterr().out


def test_rows_are_selected_by_the_beginning_of_their_name() -> None:
    names = [row.name for row in select_rows(["tables.b", "mail.q"])]
    assert names == ["tables.b.str", "tables.b.object", "tables.b.str-10", "tables.b.object-10", "mail.q"]
    with pytest.raises(SystemExit, match=r"unknown row text\.z"):
        select_rows(["text.z"])


def test_every_row_has_one_name_and_one_of_ours() -> None:
    rows = select_rows([])
    assert len({row.name for row in rows}) == len(rows)
    for row in rows:
        if isinstance(row, Job):
            assert [c.role for c in row.contenders].count("ours") == 1
            assert len({c.name for c in row.contenders}) == len(row.contenders)
            assert set(row.grow) <= set(row.size)
