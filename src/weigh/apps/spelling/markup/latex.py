"""LaTeX: the prose of it; commands, mathematics, comments, code and keys are hidden."""

from __future__ import annotations

import re
from collections.abc import Iterator

from weigh.apps.spelling.markup.masking import (
    SAME_PARAGRAPH,
    Filler,
    MaskResult,
    find_word_start,
    mask_addresses,
    mask_code,
    mask_markup,
    mask_paragraph_end,
    mask_space,
    mask_spans,
)

_DOLLARS = SAME_PARAGRAPH % (rb"$\x1a", b"")
# Comments and what holds its text as it stands; an escaped sign is passed over.
_VERBATIM = re.compile(
    rb"[%\\](?:(?P<unseen>(?<=%)[^\n]*+|(?<=\\)href\{[^{}\n]*+\})"
    rb"|(?<=\\)(?:(?P<hidden>(?:url|nolinkurl|path)\{[^{}\n]*+\}"
    rb"|(?:[vV]erb|lstinline|mintinline)\b\*?(?:\[[^\[\]\n]*+\])?(?:\{[\w+-]++\}(?=[^\sA-Za-z{]))?"
    rb"(?P<mark>[^\sA-Za-z{*\\\x80-\xff])[^\n]*?(?P=mark))"
    rb"|begin\{(?P<code>[A-Za-z]+\*?)\}|(?P<last>end\{document\})|(?P<false>iffalse)(?![A-Za-z])|[^A-Za-z]))"
)
_CONDITIONAL = re.compile(rb"\\(?:(?P<end>fi)(?![A-Za-z])|if(?!f(?![A-Za-z])))")
_COMMAND = re.compile(
    rb"[\\${}~&](?:(?<=\$)(?:(?P<dollars>\$" + _DOLLARS + rb"\$\$)|(?P<dollar>(?!\$)" + _DOLLARS + rb"\$))"
    rb"|(?<=\\)(?:(?P<name>[A-Za-z@]++)\*?"
    rb"|(?P<formula>\(" + SAME_PARAGRAPH % (b"", b"()") + rb"\\\))"
    rb"|(?P<display>\[" + SAME_PARAGRAPH % (b"", b"\\[\\]") + rb"\\\])"
    rb"|(?P<row>\\\*?(?:\[[^\[\]\s]*+\])?)|(?P<space>[ \t])|(?P<sign>[%&$#_{}])"
    rb"|(?P<other>[^A-Za-z\s\x1a\x80-\xff]))"
    rb"|(?<=[{}])(?P<brace>)|(?<=~)(?P<tie>)|(?<=&)(?P<cell>))"
)
_FILLERS: dict[str | None, Filler] = {
    **dict.fromkeys(["dollar", "formula"], mask_code),
    **dict.fromkeys(["dollars", "display", "row", "cell"], mask_paragraph_end),
    **dict.fromkeys(["space", "tie"], mask_space),
    **dict.fromkeys(["sign", "other", "brace"], mask_markup),
}
# A word from its first accent on, such as Ni\~no from there: its parts are not words.
_ACCENTED = re.compile(
    rb"(?:\\(?:['`^\"~=.]|[cvuHkrdb](?=\{))(?:\{\\?[A-Za-z]?+\}|\\[ij](?![A-Za-z])(?:\{\})?|[A-Za-z])"
    rb"[A-Za-z\x80-\xff]*+)++"
)
_ENVIRONMENT = re.compile(rb"\{([A-Za-z]+\*?)\}")
_OPTION = rb"\[(?:[^\[\]\n]|\n(?![ \t\r]*\n))*+\]"
_OPTIONS = re.compile(rb"(?:" + _OPTION + rb")*+")
# The arguments of an environment that are no title: column types, widths, counts.
_ENVIRONMENT_ARGUMENTS = re.compile(rb"(?:" + _OPTION + rb"|\{(?:[^{}\s]|\{[^{}\s]*+\})*+\})*+")
_BRACED_KEY = re.compile(rb"[ \t]*+\{[^{}\n]*+\}")
_DEFINITION_HEAD = re.compile(rb"(?:[ \t]*+(?:\\[A-Za-z@]++|#[0-9]|=|\*|\[[^\[\]\n]*+\]))*+[ \t]*+")
_BRACE = re.compile(rb"[{}\\](?:(?<=\\)[^\n])?")


def mask_latex(text: bytes) -> MaskResult:
    """Hide everything but the prose of a LaTeX text."""
    verbatim = list(_verbatim_spans(text))
    opener = b""
    if verbatim and verbatim[-1][1] > len(text):
        left = _VERBATIM.match(text, verbatim[-1][0])
        # A blank, lest it be one word with what follows.
        opener = left[0] + b" " if left else b""
    text = mask_spans(text, verbatim)
    return mask_addresses(mask_spans(text, _CommandScanner(text).spans())), opener


def _verbatim_spans(text: bytes) -> Iterator[tuple[int, int, Filler]]:
    """Comments, code, and what is left out of the print; what has no end goes beyond the text."""
    done, beyond = 0, len(text) + 1
    while found := _VERBATIM.search(text, done):
        begin, done = found.span()
        name = found["code"]
        if found["unseen"] is not None:
            yield begin, done, mask_markup
        elif found["hidden"] is not None:
            yield begin, done, mask_code
        elif found["last"]:
            done = beyond
            yield begin, done, mask_code
        elif found["false"]:
            done = _find_fi(text, done) or beyond
            yield begin, done, mask_markup
        elif name is not None and (name in VERBATIM_ENVIRONMENTS or is_math_environment(name)):
            closing = b"\\end{" + name + b"}"
            at = text.find(closing, done)
            done = at + len(closing) if at >= 0 else beyond
            yield begin, done, mask_code if name in VERBATIM_ENVIRONMENTS else mask_paragraph_end


def _find_fi(text: bytes, at: int) -> int:
    """Where a condition that was opened ends, with those within it; 0 if it does not."""
    depth = 1
    for found in _CONDITIONAL.finditer(text, at):
        depth += -1 if found["end"] else 1
        if depth == 0:
            return found.end()
    return 0


class _CommandScanner:
    """The commands and formulae of a text without comments and code."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._brace_ends: dict[int, int] | None = None
        self._title_ends: set[int] = set()

    def spans(self) -> Iterator[tuple[int, int, Filler]]:
        """What is hidden: formulae, words with accents, commands with those arguments that are no prose."""
        done = 0
        while found := _COMMAND.search(self._text, done):
            (begin, stop), kind = found.span(), found.lastgroup
            accented = _ACCENTED.match(self._text, begin) if kind in {"name", "other"} else None
            if accented:
                begin, done = find_word_start(self._text, begin, done), accented.end()
                yield begin, done, mask_code
            elif kind == "name":
                done = self._find_arguments_end(found["name"], stop)
                yield begin, done, self._command_filler(found["name"], done)
            else:
                done = stop
                filler = mask_paragraph_end if begin in self._title_ends else _FILLERS[kind]
                yield begin, begin + 1 if kind == "sign" else stop, filler

    def _command_filler(self, name: bytes, at: int) -> Filler:
        takes_text = self._text.startswith(b"{", at) and not self._text.startswith(b"{}", at)
        return command_filler(name, takes_text)

    def _find_arguments_end(self, name: bytes, at: int) -> int:
        """Where a command's hidden arguments end."""
        if name in {b"begin", b"end"}:
            environment = _ENVIRONMENT.match(self._text, at)
            at = environment.end() if environment else at
            return self._match_end(_ENVIRONMENT_ARGUMENTS, at) if name == b"begin" else at
        if name in DEFINITION_COMMANDS:
            return self._find_definition_end(at)
        if name in COMMANDS_WITH_PROSE_OPTION:
            return at
        at = self._match_end(_OPTIONS, at)
        if name in TITLE_COMMANDS and self._text.startswith(b"{", at):
            self._title_ends.add(self._find_braces_end(at) - 1)
        for _ in range(count_masked_arguments(name)):
            at = self._match_end(_OPTIONS, self._find_argument_end(at))
        return at

    def _find_definition_end(self, at: int) -> int:
        while True:
            begin = self._match_end(_DEFINITION_HEAD, at)
            at = self._find_argument_end(begin)
            if at == begin:
                return begin

    def _find_argument_end(self, at: int) -> int:
        key = _BRACED_KEY.match(self._text, at)
        if key:
            return key.end()
        return self._find_braces_end(at)

    def _find_braces_end(self, at: int) -> int:
        if not self._text.startswith(b"{", at):
            return at
        if self._brace_ends is None:
            self._brace_ends = _match_braces(self._text)
        return self._brace_ends.get(at, at)

    def _match_end(self, pattern: re.Pattern[bytes], at: int) -> int:
        found = pattern.match(self._text, at)
        return found.end() if found else at


def _match_braces(text: bytes) -> dict[int, int]:
    """The end of every brace that closes."""
    ends, opened = {}, []
    for found in _BRACE.finditer(text):
        if found[0] == b"{":
            opened.append(found.start())
        elif found[0] == b"}" and opened:
            ends[opened.pop()] = found.end()
    return ends


_VERBATIM_NAMES = b"""
    verbatim verbatim* Verbatim BVerbatim LVerbatim lstlisting minted alltt comment filecontents
    filecontents* tikzpicture pgfpicture tikzcd pspicture picture algorithmic algpseudocode forest luacode
    sageblock asy pycode pyconsole
"""
_MATH_NAMES = b"""
    equation align aligned alignat gather gathered multline eqnarray flalign displaymath math split cases
    array matrix pmatrix bmatrix Bmatrix vmatrix Vmatrix smallmatrix dcases alignedat IEEEeqnarray dmath
    empheq subequations
"""
# Commands of which every argument is hidden: definitions and settings.
_DEFINITION_NAMES = b"""
    newcommand renewcommand providecommand DeclareRobustCommand NewDocumentCommand RenewDocumentCommand
    def gdef edef xdef let newenvironment renewenvironment DeclareMathOperator DeclarePairedDelimiter
    newtheorem hypersetup lstset lstdefinestyle lstdefinelanguage tikzset pgfplotsset sisetup captionsetup
    geometry definecolor colorlet setlength addtolength setcounter addtocounter newcounter newlength newif
    usetikzlibrary titleformat titlespacing bibitem graphicspath hyphenation DeclareUnicodeCharacter
    PassOptionsToPackage newacronym tikz pgfmathsetmacro
"""
# Commands whose first arguments are keys, files, sizes or formulae.
_ONE_ARGUMENT_NAMES = b"""
    label input include includeonly includegraphics bibliography bibliographystyle addbibresource
    usepackage RequirePackage documentclass LoadClass ProvidesPackage ProvidesClass NeedsTeXFormat url
    nolinkurl path href hyperlink hypertarget hspace vspace color textcolor colorbox pagecolor pagestyle
    thispagestyle pagenumbering gls Gls glspl Glspl acrshort acrlong acrfull ac acp index si num unit ang
    ce ensuremath tag cline cmidrule scalebox lstinputlisting verbatiminput fontsize
    selectlanguage foreignlanguage enlargethispage doi orcid email texttt code lstinline
    minipage parbox raisebox rotatebox theoremstyle bstctlcite usefonttheme usetheme usecolortheme
    includepdf subfile stepcounter refstepcounter
"""
_TWO_ARGUMENT_NAMES = b"""
    SI qty multicolumn multirow rule resizebox fcolorbox addcontentsline setmainfont mintinline
    inputminted import subimport
"""
# Commands whose argument is a paragraph by itself, commands that end one, and what looks like a blank.
_TITLE_NAMES = b"""
    part chapter section subsection subsubsection paragraph subparagraph title subtitle author date caption
    footnote footnotetext thanks marginpar frametitle framesubtitle
"""
_PARAGRAPH_END_NAMES = b"""
    begin end item par newpage clearpage cleardoublepage pagebreak maketitle tableofcontents hline toprule
    midrule bottomrule cline cmidrule bigskip medskip smallskip vfill appendix
"""
_SPACE_NAMES = b"""
    hspace quad qquad enspace thinspace space nobreakspace newline linebreak hfill hfil
"""
# Commands of which a reader sees no more than how the text looks; others with a text in braces are such, too.
_FORMATTING_NAMES = b"""
    em it bf sc sf rm sl tt bfseries itshape scshape slshape upshape mdseries sffamily rmfamily ttfamily
    normalfont normalsize tiny scriptsize footnotesize small large Large LARGE huge Huge centering
    raggedright raggedleft noindent indent protect xspace relax label index vspace color textcolor colorbox
    fcolorbox pagestyle thispagestyle pagenumbering selectlanguage foreignlanguage fontsize hypertarget
    hyperlink href enlargethispage stepcounter refstepcounter null leavevmode ignorespaces parbox raisebox
    scalebox resizebox rotatebox multicolumn multirow
"""
TITLE_COMMANDS = frozenset(_TITLE_NAMES.split())
# Commands whose option is prose.
COMMANDS_WITH_PROSE_OPTION = frozenset([b"item"])
VERBATIM_ENVIRONMENTS = frozenset(_VERBATIM_NAMES.split())
DEFINITION_COMMANDS = frozenset(_DEFINITION_NAMES.split())
_MATH_ENVIRONMENTS = frozenset(_MATH_NAMES.split())
_COMMAND_FILLERS: dict[bytes, Filler] = {
    **dict.fromkeys(TITLE_COMMANDS | frozenset(_PARAGRAPH_END_NAMES.split()), mask_paragraph_end),
    **dict.fromkeys(_SPACE_NAMES.split(), mask_space),
    **dict.fromkeys(_FORMATTING_NAMES.split(), mask_markup),
}
_MASKED_ARGUMENT_COUNTS = dict.fromkeys(_ONE_ARGUMENT_NAMES.split(), 1) | dict.fromkeys(
    _TWO_ARGUMENT_NAMES.split(), 2
)


def is_math_environment(environment: bytes) -> bool:
    """Whether an environment is a formula, numbered or not."""
    return environment.removesuffix(b"*") in _MATH_ENVIRONMENTS


def count_masked_arguments(command: bytes) -> int:
    """How many arguments of a command are no prose; citations and references have a key."""
    if b"cite" in command.lower() or (command.endswith(b"ref") and command != b"hyperref"):
        return 1
    return _MASKED_ARGUMENT_COUNTS.get(command, 0)


def command_filler(command: bytes, takes_text: bool) -> Filler:
    """How a command is hidden; one that takes no text is seen as something that is no prose."""
    known = _COMMAND_FILLERS.get(command)
    if known is not None:
        return known
    return (
        mask_markup
        if takes_text and command not in DEFINITION_COMMANDS and not count_masked_arguments(command)
        else mask_code
    )
