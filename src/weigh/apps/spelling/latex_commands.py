"""What the commands and environments of LaTeX hold: prose, keys, code or mathematics."""

from __future__ import annotations

from weigh.apps.spelling.masking import Filler, blank, code, end, seam

_CODE = b"""
    verbatim verbatim* Verbatim BVerbatim LVerbatim lstlisting minted alltt comment filecontents
    filecontents* tikzpicture pgfpicture tikzcd pspicture picture algorithmic algpseudocode forest luacode
    sageblock asy pycode pyconsole
"""
_MATHEMATICS = b"""
    equation align aligned alignat gather gathered multline eqnarray flalign displaymath math split cases
    array matrix pmatrix bmatrix Bmatrix vmatrix Vmatrix smallmatrix dcases alignedat IEEEeqnarray dmath
    empheq subequations
"""
# Commands of which every argument is hidden: definitions and settings.
_ALL = b"""
    newcommand renewcommand providecommand DeclareRobustCommand NewDocumentCommand RenewDocumentCommand
    def gdef edef xdef let newenvironment renewenvironment DeclareMathOperator DeclarePairedDelimiter
    newtheorem hypersetup lstset lstdefinestyle lstdefinelanguage tikzset pgfplotsset sisetup captionsetup
    geometry definecolor colorlet setlength addtolength setcounter addtocounter newcounter newlength newif
    usetikzlibrary titleformat titlespacing bibitem graphicspath hyphenation DeclareUnicodeCharacter
    PassOptionsToPackage newacronym tikz pgfmathsetmacro
"""
# Commands whose first arguments are keys, files, sizes or formulae.
_ONE = b"""
    label input include includeonly includegraphics bibliography bibliographystyle addbibresource
    usepackage RequirePackage documentclass LoadClass ProvidesPackage ProvidesClass NeedsTeXFormat url
    nolinkurl path href hyperlink hypertarget hspace vspace color textcolor colorbox pagecolor pagestyle
    thispagestyle pagenumbering gls Gls glspl Glspl acrshort acrlong acrfull ac acp index si num unit ang
    ce ensuremath tag cline cmidrule scalebox lstinputlisting verbatiminput fontsize
    selectlanguage foreignlanguage enlargethispage doi orcid email texttt code lstinline
    minipage parbox raisebox rotatebox theoremstyle bstctlcite usefonttheme usetheme usecolortheme
    includepdf subfile stepcounter refstepcounter
"""
_TWO = b"""
    SI qty multicolumn multirow rule resizebox fcolorbox addcontentsline setmainfont mintinline
    inputminted import subimport
"""
# Commands whose argument is a paragraph by itself, commands that end one, and what looks like a blank.
_PROSE = b"""
    part chapter section subsection subsubsection paragraph subparagraph title subtitle author date caption
    footnote footnotetext thanks marginpar frametitle framesubtitle
"""
_ENDS = b"""
    begin end item par newpage clearpage cleardoublepage pagebreak maketitle tableofcontents hline toprule
    midrule bottomrule cline cmidrule bigskip medskip smallskip vfill appendix
"""
_BLANKS = b"""
    hspace quad qquad enspace thinspace space nobreakspace newline linebreak hfill hfil
"""
# Commands of which a reader sees no more than how the text looks; others with a text in braces are such, too.
_UNSEEN = b"""
    em it bf sc sf rm sl tt bfseries itshape scshape slshape upshape mdseries sffamily rmfamily ttfamily
    normalfont normalsize tiny scriptsize footnotesize small large Large LARGE huge Huge centering
    raggedright raggedleft noindent indent protect xspace relax label index vspace color textcolor colorbox
    fcolorbox pagestyle thispagestyle pagenumbering selectlanguage foreignlanguage fontsize hypertarget
    hyperlink href enlargethispage stepcounter refstepcounter null leavevmode ignorespaces parbox raisebox
    scalebox resizebox rotatebox multicolumn multirow
"""
TITLES = frozenset(_PROSE.split())
# Commands whose option is prose.
LABELLED = frozenset([b"item"])
CODE = frozenset(_CODE.split())
ALL_HIDDEN = frozenset(_ALL.split())
_FORMULAE = frozenset(_MATHEMATICS.split())
_FILLERS: dict[bytes, Filler] = {
    **dict.fromkeys(TITLES | frozenset(_ENDS.split()), end),
    **dict.fromkeys(_BLANKS.split(), blank),
    **dict.fromkeys(_UNSEEN.split(), seam),
}
_HIDDEN = dict.fromkeys(_ONE.split(), 1) | dict.fromkeys(_TWO.split(), 2)


def is_mathematics(environment: bytes) -> bool:
    """Whether an environment is a formula, numbered or not."""
    return environment.removesuffix(b"*") in _FORMULAE


def arguments_hidden(command: bytes) -> int:
    """How many arguments of a command are no prose; citations and references have a key."""
    if b"cite" in command.lower() or (command.endswith(b"ref") and command != b"hyperref"):
        return 1
    return _HIDDEN.get(command, 0)


def filler_of_command(command: bytes, takes_text: bool) -> Filler:
    """How a command is hidden; one that takes no text is seen as something that is no prose."""
    known = _FILLERS.get(command)
    if known is not None:
        return known
    return seam if takes_text and command not in ALL_HIDDEN and not arguments_hidden(command) else code
