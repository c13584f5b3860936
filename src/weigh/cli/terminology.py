"""Translation of Python parameters in library messages to command-line options."""

from __future__ import annotations

import re
from typing import Any

_REPLACEMENTS: tuple[tuple[re.Pattern[str], Any], ...] = (
    (re.compile(r"columns=\{'([^']*)': '(\w+)'\}"), r"--kind '\1=\2'"),
    (
        re.compile(r"columns=\{'([^']*)': weigh\.Number\((\w+)='?([\w.]+)'?\)\}"),
        r"--kind '\1=number:\2=\3'",
    ),
    (re.compile(r"missing=\[('[^']*')\]"), r"--missing \1"),
    (re.compile(r"missing=('[^']*') to open\(\)"), r"--missing \1"),
    (re.compile(r"\bquotes=False\b"), "--no-quotes"),
    (re.compile(r"\b(delimiter|encoding)=('[^']*')"), r"--\1 \2"),
    (
        re.compile(r"\bformat=('\w+'(?:(?:, '\w+')* or '\w+')?)"),
        lambda found: "--format " + found[1].replace("'", ""),
    ),
    (re.compile(r"; give block= more bytes than the longest row has"), "; divide it"),
    (re.compile(r", or give block= more bytes than the longest row has"), ""),
    (re.compile(r"Use None for missing values\."), "Leave fields of missing values empty."),
    (re.compile(r"\bprior=(\d+|None)\b"), r"--set prior=\1"),
    (re.compile(r"\b(Normal|Laplace)\('?([\w.]+)'?\)"), lambda found: f"{found[1].lower()}:{found[2]}"),
    (
        re.compile(r"\bPenalty\(l1=([\w.]+)(?:, l2=([\w.]+))?\)"),
        lambda found: _penalty_option(*found.groups()),
    ),
    (re.compile(r"\b(noise|method|scale)='(normal|laplace|exact|online|unit)'"), r"--set \1=\2"),
    (re.compile(r"\b(prior|noise)=((?:normal|laplace|penalty):)"), r"--set \1=\2"),
    (re.compile(r"\bscale='(cv|evidence)'"), r"--set prior=normal:\1"),
    (re.compile(r"\bmax_iter=([\d,]+\d)"), r"--set max_iter=\1"),
    (re.compile(r"\bfolds=(\d+)\b"), r"--folds \1"),
    (re.compile(r"\buse LogisticRegression\b"), "use --learner logistic"),
    (re.compile(r"\bclass_prior='uniform'"), "--set class_prior=uniform"),
    (re.compile(r"\bcomplement=(True|False)\b"), r"--set complement=\1"),
    (re.compile(r"Use model\.uncalibrated\.(?!\w)"), "Use the model that was calibrated."),
    (re.compile(r"Use model\.keep\('averaged'\)\."), "Train with --set keep=averaged."),
    (
        re.compile(r"How sure it is of them: model\.predict\(rows, return_std=True\)\."),
        "`weigh predict --std` tells how sure it is of them.",
    ),
    (
        re.compile(r"See the rows with the largest errors: weigh\.evaluate\(model, data\)\.largest\."),
        "`weigh evaluate` lists the rows with the largest errors.",
    ),
    (re.compile(r", or MailStore\.open\(folder, create=True\)"), ""),
    (
        re.compile(r"MailStore\.open\(folder, create=True, words=True\), and learn all mail there\."),
        "weigh mail learn --words --store DIR --spam PATH... --ham PATH...",
    ),
    (re.compile(r"\ba smaller at_least\b"), "a smaller --at-least"),
    (re.compile(r"^measure_learning_curve: sizes must\b"), "--sizes must"),
    (re.compile(r"\ba smaller one_in\b"), "a smaller --swap"),
    (re.compile(r"\bgive test documents\b"), "give test documents with --on"),
    (re.compile(r"\bseen=(True|False)\b"), lambda found: "--seen" if found[1] == "True" else "--unseen"),
)


def _penalty_option(l1: str, l2: str | None) -> str:
    return f"penalty:l1={l1}" + ("" if l2 is None else f",l2={l2}")


def to_command_line_terms(text: str) -> str:
    """Replace Python terms in a library message by command-line options."""
    for pattern, option in _REPLACEMENTS:
        text = pattern.sub(option, text)
    return text
