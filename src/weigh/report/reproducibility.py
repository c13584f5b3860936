"""Facts for reproducing the report: files with their digests, commands and versions."""

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
    """Options that the commands in a report repeat: how files are read, and the options of the report."""

    reading: tuple[str, ...] = ()
    label: str | None = None
    title: str | None = None
    most: int | None = None
    output: str = DEFAULT_PAGE


@dataclass(frozen=True)
class FileFact:
    """A file with its size and SHA-256 digest, which are empty for rows in memory."""

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


def file_facts(paths: Sequence[tuple[str, str | None]]) -> tuple[FileFact, ...]:
    """Describe files by role; their folders are named only if two files have the same name."""
    names = [os.path.basename(os.path.normpath(path)) for _, path in paths if path is not None]
    return tuple(_file_fact(role, path, names) for role, path in paths)


def _file_fact(role: str, path: str | None, names: list[str]) -> FileFact:
    if path is None:
        return FileFact(role, IN_MEMORY, "", "")
    folder, name = os.path.split(os.path.normpath(path))
    if names.count(name) > 1:
        name = os.path.join(os.path.basename(folder), name)
    if not os.path.isfile(path):
        return FileFact(role, name, "", "")
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return FileFact(role, name, f"{format_count(os.path.getsize(path))} bytes", digest)


def reproducibility_facts(files: tuple[FileFact, ...], options: ReportOptions) -> ReproducibilityFacts:
    """Return the files, commands and versions that reproduce the report."""
    versions = [NamedFact("Python", ".".join(map(str, sys.version_info[:3])))]
    for package in REPORTED_PACKAGES:
        try:
            versions.append(NamedFact(package, metadata.version(package)))
        except metadata.PackageNotFoundError:
            continue
    return ReproducibilityFacts(files, tuple(_commands(_names_by_role(files), options)), tuple(versions))


def compare_command(files: tuple[FileFact, ...], label: str | None, options: ReportOptions) -> str:
    """Return the command that compares learners on the training file, or an empty string without one."""
    train = _names_by_role(files).get("training")
    if not train or not label:
        return ""
    return shlex.join(["weigh", "compare", *train, "--label", label, *options.reading])


def _names_by_role(files: tuple[FileFact, ...]) -> dict[str, list[str]]:
    """Return the names of the files of every role, if all of them have digests."""
    names: dict[str, list[str]] = {}
    for each in files:
        names.setdefault(each.role, []).append(each.name)
    unknown = {each.role for each in files if not each.digest}
    return {role: each for role, each in names.items() if role not in unknown}


def _commands(names: dict[str, list[str]], options: ReportOptions) -> list[str]:
    if not {"model", "data"} <= names.keys():
        return []
    label = ["--label", options.label] if options.label else []
    evaluated = [*names["model"], *names["data"], *label]
    train = [word for name in names.get("training", []) for word in ("--train", name)]
    extra = ["--title", options.title] if options.title else []
    extra += ["--most", str(options.most)] if options.most is not None else []
    lines = [
        ["report", *evaluated, *train, *options.reading, *extra, "-o", os.path.basename(options.output)],
        ["evaluate", *evaluated, *options.reading],
    ]
    if "training" in names:
        lines.append(["verify", *names["model"], *names["training"], *options.reading])
    return [shlex.join(["weigh", *line]) for line in lines]
