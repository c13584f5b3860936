"""A command that a signal ends leaves no draft and the old output; after SIGKILL the next write cleans up."""

from __future__ import annotations

import os
import random
import signal
import subprocess
from pathlib import Path

import pytest

from tests.killing import WEIGH, find_drafts, run_and_kill, write_mailbox

FIT = ("fit", "rows.csv", "--label", "y", "--learner", "naive-bayes", "-o", "m.weigh")
PREDICT = ("predict", "m.weigh", "rows.csv", "-o", "out.csv")
LEARN = ("mail", "learn", "--store", "store", "--spam", "spam.mbox")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with rows, a model and predictions, whose files the killed commands would replace."""
    folder = tmp_path_factory.mktemp("killed")
    rows = (f"{i},{i % 13}.5,{'ab'[i % 2]}\n" for i in range(300_000))
    (folder / "rows.csv").write_text("x,z,y\n" + "".join(rows))
    write_mailbox(folder / "spam.mbox")
    subprocess.run([*WEIGH, *FIT], cwd=folder, check=True, capture_output=True)
    (folder / "out.csv").write_text("old")
    return folder


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGTERM, -signal.SIGTERM), (signal.SIGHUP, -signal.SIGHUP), (signal.SIGINT, 130)],
)
def test_a_signal_ends_a_command_without_a_draft_and_with_the_old_output(
    folder: Path, number: int, code: int
) -> None:
    ending = run_and_kill(PREDICT, number, 0.01, watched=folder, cwd=folder)
    assert (ending.code, ending.errors.strip()) == (code, "")
    assert find_drafts(folder) == []
    assert (folder / "out.csv").read_text() == "old"


def test_repeated_interrupts_leave_no_draft(folder: Path) -> None:
    run_and_kill(PREDICT, signal.SIGINT, 0.01, watched=folder, cwd=folder, count=3)
    assert find_drafts(folder) == []
    assert (folder / "out.csv").read_text() == "old"


def test_after_kills_at_random_moments_outputs_are_complete_and_no_draft_stays(folder: Path) -> None:
    rng = random.Random(6)
    old = (folder / "m.weigh").read_bytes()
    for command in (FIT, LEARN):
        number = rng.choice([signal.SIGTERM, signal.SIGINT])
        ending = run_and_kill(command, number, rng.uniform(0, 0.001), watched=folder, cwd=folder)
        assert ending.code in (0, -number, 130)
        assert find_drafts(folder) == []
        assert (folder / "m.weigh").read_bytes() == old


def test_the_draft_of_a_killed_command_is_removed_by_the_next_command(folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.csv"
    command = ("predict", "m.weigh", "rows.csv", "-o", output)
    assert run_and_kill(command, signal.SIGKILL, 0.01, watched=tmp_path, cwd=folder).code == -signal.SIGKILL
    assert len(find_drafts(tmp_path)) == 1
    subprocess.run([*WEIGH, *command], cwd=folder, check=True)
    assert os.listdir(tmp_path) == ["out.csv"]


def test_an_ignored_hangup_stays_ignored(folder: Path, tmp_path: Path) -> None:
    command = ["nohup", *WEIGH, "predict", "m.weigh", "rows.csv", "-o", tmp_path / "out.csv"]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        while process.poll() is None:
            if find_drafts(tmp_path):
                process.send_signal(signal.SIGHUP)
    assert process.returncode == 0
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 300_001


def test_output_through_a_link_replaces_its_target_and_says_so(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to("real.csv")
    command = [*WEIGH, "predict", folder / "m.weigh", folder / "rows.csv", "-o", "link.csv"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert run.stderr == (
        f"weigh: note: link.csv is a link to {tmp_path}/real.csv; that file was replaced, the link stays.\n"
        "300,000 rows -> link.csv: 150,000 a, 150,000 b\n"
    )
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text().startswith("prediction")
