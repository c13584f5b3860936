"""The commands, the client, the unit and the container file of docs/serve.md work as the page says."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.test_docs import commands

PAGE = Path(__file__).resolve().parents[2] / "docs" / "serve.md"
TEXT = PAGE.read_text("utf-8")
TIMEOUT = 60


def block(language: str, n: int = 0) -> str:
    """Return the nth code block of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)[n]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@contextlib.contextmanager
def background(command: str, folder: Path) -> Iterator[list[str]]:
    """Run a server, and yield the lines that it prints first."""
    process = subprocess.Popen(
        ["sh", "-c", f"exec {command}"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    )
    assert process.stdout is not None
    lines = []
    try:
        while not lines or not lines[-1].startswith("Ctrl-C"):
            lines.append(process.stdout.readline().rstrip("\n"))
            assert lines[-1], lines
        yield lines
    finally:
        process.terminate()
        process.wait(TIMEOUT)
        process.stdout.close()


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a command `weigh` that runs this code."""
    folder = tmp_path_factory.mktemp("bin")
    script = folder / "weigh"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m weigh.cli.main "$@"\n')
    script.chmod(0o755)
    return folder


@pytest.mark.skipif(
    shutil.which("curl") is None, reason="NO CURL: the commands of docs/serve.md are not tested"
)
def test_the_commands_and_the_client_do_what_the_page_says(
    tmp_path: Path, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{program}:{os.environ['PATH']}")
    port = free_port()
    with contextlib.ExitStack() as stack:
        for command, expected in commands(PAGE):
            command, expected = (text.replace("8000", str(port)) for text in (command, expected))
            if command.startswith("weigh serve"):
                lines = stack.enter_context(background(f"{command} --port {port}", tmp_path))
                assert "\n".join(lines) == expected.rstrip("\n")
                continue
            done = subprocess.run(
                ["sh", "-c", command], cwd=tmp_path, capture_output=True, encoding="utf-8", timeout=TIMEOUT
            )
            assert done.stdout.rstrip("\n") == expected.rstrip("\n"), command
            assert not done.returncode, done.stderr
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block("python").replace("8000", str(port)), str(PAGE), "exec"), {})
        assert printed.getvalue() == block("text", 1)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="NO SYSTEMD: the unit is not verified")
def test_systemd_accepts_the_unit(tmp_path: Path, program: Path) -> None:
    unit = tmp_path / "weigh-serve.service"
    unit.write_text(block("ini").replace("/opt/weigh/bin", str(program)))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit)],
        capture_output=True,
        encoding="utf-8",
        timeout=TIMEOUT,
    )
    assert "weigh-serve" not in done.stderr, done.stderr


@pytest.mark.parametrize("source", ["ini", "dockerfile"])
def test_the_options_of_the_unit_and_the_container_exist(program: Path, source: str) -> None:
    if source == "ini":
        line = next(line for line in block("ini").splitlines() if line.startswith("ExecStart="))
        words = line.split()[1:]
    else:
        line = next(line for line in block("dockerfile").splitlines() if line.startswith("CMD "))
        words = json.loads(line.removeprefix("CMD "))[1:]
    done = subprocess.run(
        [program / "weigh", *words, "--help"], capture_output=True, encoding="utf-8", timeout=TIMEOUT
    )
    assert done.returncode == 0, done.stderr
    listed = set(re.findall(r"--[a-z-]+", done.stdout))
    assert {word for word in words if word.startswith("--")} <= listed
