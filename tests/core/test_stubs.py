"""The stub of the native module is up to date; `make stubs` rewrites it."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import weigh
from weigh import _core

ROOT = Path(__file__).parents[2]
STUB = Path(weigh.__file__).parent / "_core.pyi"


def generate_stub(path: Path) -> str:
    """Return the stub as `make stubs` would write it."""
    command = ["nanobind.stubgen", "--quiet", "--exclude-docstrings", "--module", "weigh._core"]
    run(*command, "--pattern-file", str(ROOT / "bindings" / "stubs.pat"), "--output-file", str(path))
    settings = ["--config", str(ROOT / "pyproject.toml"), str(path)]
    run("ruff", "format", "--quiet", *settings)
    run("ruff", "check", "--silent", "--fix", "--unsafe-fixes", "--exit-zero", *settings)
    run("ruff", "format", "--quiet", *settings)
    return path.read_text()


def run(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", *arguments], check=True, timeout=60)


def test_the_stub_equals_the_generated_one(tmp_path: Path) -> None:
    pytest.importorskip("nanobind")
    pytest.importorskip("ruff")
    assert STUB.read_text() == generate_stub(tmp_path / "_core.pyi")


def test_the_stub_declares_all_exports() -> None:
    exports = {name for name in dir(_core) if not name.startswith("_")}
    declared = set()
    for node in ast.parse(STUB.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            declared.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            declared.add(node.target.id)
    assert declared == exports


def test_the_package_is_marked_as_typed() -> None:
    assert (STUB.parent / "py.typed").exists()
