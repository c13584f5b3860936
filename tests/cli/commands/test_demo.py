"""`weigh demo`: it shows the worked table, and what it suggests works."""

from __future__ import annotations

import shlex


def test_the_demo_works_and_so_does_what_it_suggests(run):
    result = run("demo")
    assert result.exit_code == 0, result.output
    for figure in ("24/750", "12/400", "16/31 = 0.516129"):
        assert figure in result.output
    assert "Evaluation on 143 rows, 2 classes" in result.output
    assert "accuracy                       0.9441  0.8927  0.9755" in result.output
    assert "The model is in breast-cancer.weigh" in result.output
    assert max(map(len, result.output.splitlines())) <= 80
    suggested = [line.strip() for line in result.output.splitlines() if line.startswith("  weigh ")]
    assert len(suggested) == 5
    for line in suggested:
        again = run(*shlex.split(line)[1:])
        assert again.exit_code == 0, (line, again.output)


def test_the_demo_writes_to_the_output_folder(run, tmp_path):
    (tmp_path / "there").mkdir()
    assert run("demo", "--output", "there").exit_code == 0
    assert {path.name for path in (tmp_path / "there").iterdir()} == {
        "breast-cancer.weigh",
        "breast-cancer-train.csv",
        "breast-cancer-test.csv",
    }


def test_a_missing_folder_is_created(run, tmp_path):
    assert run("demo", "--output", "new/folder").exit_code == 0
    assert (tmp_path / "new" / "folder" / "breast-cancer.weigh").exists()
