"""How to make the report again: files with their digests, commands, versions."""

from __future__ import annotations

import hashlib
import os
import shlex
import sys
from dataclasses import dataclass
from importlib import metadata

from weigh.report.facts import Fact
from weigh.text import amount

PACKAGES = ("weigh", "numpy", "scipy", "scikit-learn", "pyarrow", "altair", "vl-convert-python", "jinja2")
IN_MEMORY = "rows in memory"


@dataclass(frozen=True)
class FileFact:
    """A file by name, size and digest (SHA-256); no size and digest for rows in memory."""

    role: str
    name: str
    size: str
    digest: str


@dataclass(frozen=True)
class ReproduceFacts:
    """Files, commands and versions."""

    files: tuple[FileFact, ...]
    commands: tuple[str, ...]
    versions: tuple[Fact, ...]


def file_fact(role: str, path: str | None) -> FileFact:
    """Describe a file; a folder or rows in memory have no digest."""
    if path is None or not os.path.isfile(path):
        return FileFact(role, path or IN_MEMORY, "", "")
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return FileFact(role, path, f"{amount(os.path.getsize(path))} bytes", digest)


def reproduce_facts(files: tuple[FileFact, ...], label: str | None) -> ReproduceFacts:
    """Collect what one needs to make the report again."""
    named = {each.role: each.name for each in files if each.digest}
    versions = [Fact("Python", ".".join(map(str, sys.version_info[:3])))]
    for package in PACKAGES:
        try:
            versions.append(Fact(package, metadata.version(package)))
        except metadata.PackageNotFoundError:
            continue
    return ReproduceFacts(files, tuple(_commands(named, label)), tuple(versions))


def _commands(named: dict[str, str], label: str | None) -> list[str]:
    if not {"model", "data"} <= named.keys():
        return []
    model, data = shlex.quote(named["model"]), shlex.quote(named["data"])
    told = f" --label {shlex.quote(label)}" if label else ""
    train = f" --train {shlex.quote(named['training'])}" if "training" in named else ""
    commands = [
        f"weigh report {model} {data}{told}{train} -o report.html",
        f"weigh evaluate {model} {data}{told}",
    ]
    if train:
        commands.append(f"weigh verify {model} {shlex.quote(named['training'])}")
    return commands
