"""`-o FILE`: what is replaced, what is written to, and what is refused."""

from __future__ import annotations

import os
import stat
import threading

import pytest

from weigh.cli.options import open_output


def predicted(fitted, target):
    return fitted("predict", "mails.weigh", "new.csv", "-o", target)


def test_a_file_replaced_keeps_its_permissions(fitted, tmp_path):
    out = tmp_path / "out.csv"
    out.write_text("old")
    out.chmod(0o640)
    assert predicted(fitted, str(out)).exit_code == 0
    assert out.read_text().startswith("prediction,")
    assert stat.S_IMODE(out.stat().st_mode) == 0o640


def test_a_new_file_has_the_permissions_of_any_new_file(fitted, tmp_path):
    (tmp_path / "plain").write_text("")
    assert predicted(fitted, "out.csv").exit_code == 0
    assert (tmp_path / "out.csv").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_link_stays_and_the_file_behind_it_is_replaced(fitted, tmp_path):
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to("real.csv")
    assert predicted(fitted, "link.csv").exit_code == 0
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text().startswith("prediction,")


@pytest.mark.parametrize("target", ["nowhere", "link.csv"])
def test_a_link_to_nothing_is_refused_before_any_work(fitted, tmp_path, target):
    (tmp_path / "link.csv").symlink_to(target)
    result = predicted(fitted, "link.csv")
    assert result.exit_code == 1
    assert result.stderr == ("weigh: link.csv is a link to nothing. Remove it, or write to another file.\n")
    assert not (tmp_path / "nowhere").exists()


def test_a_pipe_is_written_to_and_stays_a_pipe(fitted, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    assert predicted(fitted, str(pipe)).exit_code == 0
    reader.join(10)
    assert read[0].startswith("prediction,")
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_device_stays_a_device(fitted):
    assert predicted(fitted, os.devnull).exit_code == 0
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_a_folder_is_refused_in_a_sentence(fitted, tmp_path):
    (tmp_path / "folder").mkdir()
    found = predicted(fitted, "folder")
    assert found.exit_code == 1
    assert "folder is a folder. Give the name of a file in it." in found.output


def test_a_folder_that_does_not_exist_is_created(fitted, tmp_path):
    assert predicted(fitted, "new/folder/out.csv").exit_code == 0
    assert os.listdir(tmp_path / "new" / "folder") == ["out.csv"]


def test_a_folder_below_a_file_is_refused_in_a_sentence(fitted):
    found = predicted(fitted, "new.csv/out.csv")
    assert found.exit_code == 1
    assert "new.csv/out.csv cannot be written: Not a directory. Check its folder." in found.output


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_full_disk_is_reported_in_one_sentence(fitted):
    found = predicted(fitted, "/dev/full")
    assert found.exit_code == 1
    assert "/dev/full cannot be written: No space left on device." in found.output


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path):
    out = tmp_path / "out.csv"
    out.write_text("old")
    with pytest.raises(TypeError), open_output(str(out)) as file:
        file.writelines(["new", None])
    assert out.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


def test_an_output_never_replaces_an_input(fitted, tmp_path):
    model, rows = tmp_path / "mails.weigh", tmp_path / "new.csv"
    before = model.read_bytes(), rows.read_bytes()
    for target in ("mails.weigh", "new.csv"):
        result = predicted(fitted, target)
        assert result.exit_code == 1
        assert f"{target} is also an input of this command. Write to another file." in result.stderr
    assert fitted("fit", "new.csv", "--label", "spam", "-o", "new.csv").exit_code == 1
    assert (model.read_bytes(), rows.read_bytes()) == before
