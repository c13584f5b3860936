"""Tests of the shell script in docs/mail-serve.md: it filters messages and never loses one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.apps.mail.serving.fake_store import server

PAGE = Path(__file__).resolve().parents[4] / "docs" / "mail-serve.md"
SPAM = b"Subject: prize\n\nYou won.\n"

SOCAT = """
import socket, sys
assert sys.argv[1:4] == ["-t", "30", "-"]
with socket.socket(socket.AF_UNIX) as line:
    line.connect(sys.argv[4].removeprefix("UNIX-CONNECT:"))
    line.sendall(sys.stdin.buffer.read())
    line.shutdown(socket.SHUT_WR)
    while block := line.recv(65536):
        sys.stdout.buffer.write(block)
"""


@pytest.fixture
def run_script(tmp_path):
    """Return a function that runs the script on a message, with a fake socat."""
    script = re.search(r"```sh\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL).group(1)
    (tmp_path / "filter").write_text(script)
    (tmp_path / "socat").write_text(f"#!{sys.executable}\n{SOCAT}")
    (tmp_path / "socat").chmod(0o700)

    def run(path, content):
        environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "WEIGH_SOCKET": str(path)}
        return subprocess.run(
            ["sh", str(tmp_path / "filter")], env=environment, input=content, capture_output=True, check=True
        ).stdout

    return run


def test_the_script_adds_the_verdict_to_a_message(tmp_path, run_script):
    with server(tmp_path / "s"):
        assert run_script(tmp_path / "s", SPAM) == (
            b'X-Weigh: spam, probability 0.999500; "prize" +2.50\n' + SPAM
        )


def test_the_script_passes_a_message_on_without_a_verdict(tmp_path, run_script):
    assert run_script(tmp_path / "nobody", SPAM) == SPAM
    with server(tmp_path / "s"):
        assert run_script(tmp_path / "s", b"Subject: fail\n\n") == b"Subject: fail\n\n"
