"""How to make the report again: files with their digests, commands, versions."""

from __future__ import annotations

import hashlib
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata

from weigh.report.facts import NamedFact
from weigh.text import format_count

REPORTED_PACKAGES = (
    "weigh",
    "numpy",
    "scipy",
    "scikit-learn",
    "pyarrow",
    "altair",
    "vl-convert-python",
    "jinja2",
)
IN_MEMORY = "rows in memory"
DEFAULT_PAGE = "report.html"


@dataclass(frozen=True)
class ReportOptions:
    """What the commands of a report repeat: options that say how files are read, and those of the report."""

    reading: tuple[str, ...] = ()
    label: str | None = None
    title: str | None = None
    most: int | None = None
    output: str = DEFAULT_PAGE


@dataclass(frozen=True)
class FileFact:
    """A file by name, size and digest (SHA-256); no size and digest for rows in memory."""

    role: str
    name: str
    size: str
    digest: str


@dataclass(frozen=True)
class ReproducibilityFacts:
    """Files, commands and versions."""

    files: tuple[FileFact, ...]
    commands: tuple[str, ...]
    versions: tuple[NamedFact, ...]


def file_facts(given: Sequence[tuple[str, str | None]]) -> tuple[FileFact, ...]:
    """Describe files by role; folders are named only where two files have the same name."""
    ends = [os.path.basename(os.path.normpath(path)) for _, path in given if path is not None]
    return tuple(_file_fact(role, path, ends) for role, path in given)


def _file_fact(role: str, path: str | None, ends: list[str]) -> FileFact:
    if path is None:
        return FileFact(role, IN_MEMORY, "", "")
    folder, name = os.path.split(os.path.normpath(path))
    if ends.count(name) > 1:
        name = os.path.join(os.path.basename(folder), name)
    if not os.path.isfile(path):
        return FileFact(role, name, "", "")
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return FileFact(role, name, f"{format_count(os.path.getsize(path))} bytes", digest)


def reproducibility_facts(files: tuple[FileFact, ...], asked: ReportOptions) -> ReproducibilityFacts:
    """Collect what one needs to make the report again."""
    versions = [NamedFact("Python", ".".join(map(str, sys.version_info[:3])))]
    for package in REPORTED_PACKAGES:
        try:
            versions.append(NamedFact(package, metadata.version(package)))
        except metadata.PackageNotFoundError:
            continue
    return ReproducibilityFacts(files, tuple(_commands(_names_by_role(files), asked)), tuple(versions))


def compare_command(files: tuple[FileFact, ...], label: str | None, asked: ReportOptions) -> str:
    """The command that tries other learners on the training rows; nothing where there is no file of them."""
    train = _names_by_role(files).get("training")
    return (
        shlex.join(["weigh", "compare", train, "--label", label, *asked.reading]) if train and label else ""
    )


def _names_by_role(files: tuple[FileFact, ...]) -> dict[str, str]:
    return {each.role: each.name for each in files if each.digest}


def _commands(named: dict[str, str], asked: ReportOptions) -> list[str]:
    if not {"model", "data"} <= named.keys():
        return []
    label = ["--label", asked.label] if asked.label else []
    judged = [named["model"], named["data"], *label]
    train = ["--train", named["training"]] if "training" in named else []
    own = ["--title", asked.title] if asked.title else []
    own += ["--most", str(asked.most)] if asked.most is not None else []
    lines = [
        ["report", *judged, *train, *asked.reading, *own, "-o", os.path.basename(asked.output)],
        ["evaluate", *judged, *asked.reading],
    ]
    if train:
        lines.append(["verify", named["model"], named["training"], *asked.reading])
    return [shlex.join(["weigh", *line]) for line in lines]
