"""Masking of LaTeX: commands, mathematics, comments, code and keys."""

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
# Comments and verbatim text; escaped characters are skipped.
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
# A word from its first accent on, such as \~no in Ni\~no: its parts are not words.
_ACCENTED = re.compile(
    rb"(?:\\(?:['`^\"~=.]|[cvuHkrdb](?=\{))(?:\{\\?[A-Za-z]?+\}|\\[ij](?![A-Za-z])(?:\{\})?|[A-Za-z])"
    rb"[A-Za-z\x80-\xff]*+)++"
)
_ENVIRONMENT = re.compile(rb"\{([A-Za-z]+\*?)\}")
_OPTION = rb"\[(?:[^\[\]\n]|\n(?![ \t\r]*\n))*+\]"
_OPTIONS = re.compile(rb"(?:" + _OPTION + rb")*+")
# Arguments of environments that are not prose: column types, widths, counts.
_ENVIRONMENT_ARGUMENTS = re.compile(rb"(?:" + _OPTION + rb"|\{(?:[^{}\s]|\{[^{}\s]*+\})*+\})*+")
_BRACED_KEY = re.compile(rb"[ \t]*+\{[^{}\n]*+\}")
_DEFINITION_HEAD = re.compile(rb"(?:[ \t]*+(?:\\[A-Za-z@]++|#[0-9]|=|\*|\[[^\[\]\n]*+\]))*+[ \t]*+")
_BRACE = re.compile(rb"[{}\\](?:(?<=\\)[^\n])?")


def mask_latex(text: bytes) -> MaskResult:
    """Mask everything but the prose of a LaTeX text."""
    verbatim = list(_verbatim_spans(text))
    opener = b""
    if verbatim and verbatim[-1][1] > len(text):
        unclosed = _VERBATIM.match(text, verbatim[-1][0])
        # The space separates the command from the following text.
        opener = unclosed[0] + b" " if unclosed else b""
    text = mask_spans(text, verbatim)
    return mask_addresses(mask_spans(text, _CommandScanner(text).spans())), opener


def _verbatim_spans(text: bytes) -> Iterator[tuple[int, int, Filler]]:
    """Yield comments, code and text that is not printed; the end of an unclosed one is after the text."""
    end, after_text = 0, len(text) + 1
    while match := _VERBATIM.search(text, end):
        begin, end = match.span()
        name = match["code"]
        if match["unseen"] is not None:
            yield begin, end, mask_markup
        elif match["hidden"] is not None:
            yield begin, end, mask_code
        elif match["last"]:
            end = after_text
            yield begin, end, mask_code
        elif match["false"]:
            end = _find_fi(text, end) or after_text
            yield begin, end, mask_markup
        elif name is not None and (name in VERBATIM_ENVIRONMENTS or is_math_environment(name)):
            closing = b"\\end{" + name + b"}"
            index = text.find(closing, end)
            end = index + len(closing) if index >= 0 else after_text
            yield begin, end, mask_code if name in VERBATIM_ENVIRONMENTS else mask_paragraph_end


def _find_fi(text: bytes, start: int) -> int:
    r"""Return the end of the \fi that closes an open conditional, or 0; nested ones are skipped."""
    depth = 1
    for match in _CONDITIONAL.finditer(text, start):
        depth += -1 if match["end"] else 1
        if depth == 0:
            return match.end()
    return 0


class _CommandScanner:
    """Finds the commands and formulae of a text whose comments and code are masked."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._brace_ends: dict[int, int] | None = None
        self._title_ends: set[int] = set()

    def spans(self) -> Iterator[tuple[int, int, Filler]]:
        """Yield formulae, words with accents, and commands with their arguments that are not prose."""
        end = 0
        while match := _COMMAND.search(self._text, end):
            (begin, stop), kind = match.span(), match.lastgroup
            accented = _ACCENTED.match(self._text, begin) if kind in {"name", "other"} else None
            if accented:
                begin, end = find_word_start(self._text, begin, end), accented.end()
                yield begin, end, mask_code
            elif kind == "name":
                end = self._find_arguments_end(match["name"], stop)
                yield begin, end, self._command_filler(match["name"], end)
            else:
                end = stop
                filler = mask_paragraph_end if begin in self._title_ends else _FILLERS[kind]
                yield begin, begin + 1 if kind == "sign" else stop, filler

    def _command_filler(self, name: bytes, at: int) -> Filler:
        takes_text = self._text.startswith(b"{", at) and not self._text.startswith(b"{}", at)
        return command_filler(name, takes_text)

    def _find_arguments_end(self, name: bytes, at: int) -> int:
        """Return the end of the arguments of a command that are masked."""
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
        match = pattern.match(self._text, at)
        return match.end() if match else at


def _match_braces(text: bytes) -> dict[int, int]:
    """Map the offset of every closed opening brace to the end of its closing brace."""
    ends, open_braces = {}, []
    for match in _BRACE.finditer(text):
        if match[0] == b"{":
            open_braces.append(match.start())
        elif match[0] == b"}" and open_braces:
            ends[open_braces.pop()] = match.end()
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
# Commands whose arguments are all masked: definitions and settings.
_DEFINITION_NAMES = b"""
    newcommand renewcommand providecommand DeclareRobustCommand NewDocumentCommand RenewDocumentCommand
    def gdef edef xdef let newenvironment renewenvironment DeclareMathOperator DeclarePairedDelimiter
    newtheorem hypersetup lstset lstdefinestyle lstdefinelanguage tikzset pgfplotsset sisetup captionsetup
    geometry definecolor colorlet setlength addtolength setcounter addtocounter newcounter newlength newif
    usetikzlibrary titleformat titlespacing bibitem graphicspath hyphenation DeclareUnicodeCharacter
    PassOptionsToPackage newacronym tikz pgfmathsetmacro
"""
# Commands whose first argument, or first two, are keys, files, sizes or formulae.
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
# Commands whose argument is a paragraph of its own, that end a paragraph, or that are displayed as a space.
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
# Formatting commands, invisible in the output. Unknown commands with a text argument are treated alike.
_FORMATTING_NAMES = b"""
    em it bf sc sf rm sl tt bfseries itshape scshape slshape upshape mdseries sffamily rmfamily ttfamily
    normalfont normalsize tiny scriptsize footnotesize small large Large LARGE huge Huge centering
    raggedright raggedleft noindent indent protect xspace relax label index vspace color textcolor colorbox
    fcolorbox pagestyle thispagestyle pagenumbering selectlanguage foreignlanguage fontsize hypertarget
    hyperlink href enlargethispage stepcounter refstepcounter null leavevmode ignorespaces parbox raisebox
    scalebox resizebox rotatebox multicolumn multirow
"""
TITLE_COMMANDS = frozenset(_TITLE_NAMES.split())
# Commands whose optional argument is prose.
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
    """Return whether an environment contains mathematics, numbered or not."""
    return environment.removesuffix(b"*") in _MATH_ENVIRONMENTS


def count_masked_arguments(command: bytes) -> int:
    """Return the number of leading arguments that are not prose; citations and references have a key."""
    if b"cite" in command.lower() or (command.endswith(b"ref") and command != b"hyperref"):
        return 1
    return _MASKED_ARGUMENT_COUNTS.get(command, 0)


def command_filler(command: bytes, takes_text: bool) -> Filler:
    """Return the filler of a command; an unknown one is invisible if it takes text, else it masks code."""
    filler = _COMMAND_FILLERS.get(command)
    if filler is not None:
        return filler
    is_formatting = takes_text and command not in DEFINITION_COMMANDS and not count_masked_arguments(command)
    return mask_markup if is_formatting else mask_code
