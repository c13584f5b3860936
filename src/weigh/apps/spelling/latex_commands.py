"""What the commands and environments of LaTeX hold: prose, keys, code or mathematics."""

from __future__ import annotations

_CODE = b"""
    verbatim verbatim* Verbatim BVerbatim LVerbatim lstlisting minted alltt comment filecontents
    filecontents* tikzpicture pgfpicture tikzcd pspicture picture algorithmic algpseudocode forest luacode
    sageblock
"""
_MATHEMATICS = b"""
    equation align aligned alignat gather gathered multline eqnarray flalign displaymath math split cases
    array matrix pmatrix bmatrix vmatrix IEEEeqnarray dmath empheq subequations
"""
# Commands of which every argument is hidden: definitions and settings.
_ALL = b"""
    newcommand renewcommand providecommand DeclareRobustCommand NewDocumentCommand RenewDocumentCommand
    def gdef edef xdef let newenvironment renewenvironment DeclareMathOperator DeclarePairedDelimiter
    newtheorem hypersetup lstset lstdefinestyle lstdefinelanguage tikzset pgfplotsset sisetup captionsetup
    geometry definecolor colorlet setlength addtolength setcounter addtocounter newcounter newlength newif
    usetikzlibrary titleformat titlespacing bibitem graphicspath hyphenation DeclareUnicodeCharacter
    PassOptionsToPackage newacronym
"""
# Commands whose first arguments are keys, files, sizes or formulae.
_ONE = b"""
    label input include includeonly includegraphics bibliography bibliographystyle addbibresource
    usepackage RequirePackage documentclass LoadClass ProvidesPackage ProvidesClass NeedsTeXFormat url
    nolinkurl path href hyperlink hypertarget hspace vspace color textcolor colorbox pagecolor pagestyle
    thispagestyle pagenumbering gls Gls glspl Glspl acrshort acrlong acrfull ac acp index si num unit ang
    ce ensuremath tag cline cmidrule scalebox lstinputlisting verbatiminput inputminted fontsize
    selectlanguage foreignlanguage enlargethispage doi orcid email texttt code lstinline mintinline
    minipage parbox raisebox rotatebox theoremstyle bstctlcite usefonttheme usetheme usecolortheme
    includepdf subfile import subimport stepcounter refstepcounter
"""
_TWO = b"""
    SI qty multicolumn multirow rule resizebox fcolorbox addcontentsline setmainfont
"""
# Commands whose option is prose.
LABELLED = frozenset([b"item"])
CODE = frozenset(_CODE.split())
ALL_HIDDEN = frozenset(_ALL.split())
_FORMULAE = frozenset(_MATHEMATICS.split())
_HIDDEN = dict.fromkeys(_ONE.split(), 1) | dict.fromkeys(_TWO.split(), 2)


def is_mathematics(environment: bytes) -> bool:
    """Whether an environment is a formula, numbered or not."""
    return environment.removesuffix(b"*") in _FORMULAE


def arguments_hidden(command: bytes) -> int:
    """How many arguments of a command are no prose; citations and references have a key."""
    if b"cite" in command.lower() or (command.endswith(b"ref") and command != b"hyperref"):
        return 1
    return _HIDDEN.get(command, 0)
