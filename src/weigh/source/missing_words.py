"""Words that mean missing in a column of numbers."""

from __future__ import annotations

MAX_WORD_LENGTH = 24
_BRACKETS = "()[]<>{}"

MISSING_WORDS = frozenset(
    word.strip()
    for line in """
    - ; -- ; --- ; – ; — ; . ; .. ; ... ; ? ; ?? ; * ; / ; n/a ; n.a. ; n.a ; na ; nan ; null ; none ; nil
    missing ; unknown ; unk ; undefined ; not available ; not applicable ; not known ; not measured ; no data
    not recorded ; not reported ; not tested ; not stated ; not given ; n/k ; nr ; n.r. ; n/r
    refused ; declined ; tbd ; tba ; tbc ; pending ; blank ; empty ; no value ; no answer ; no reading
    invalid ; error ; err ; fault ; abs ; abs.
    #n/a ; #na ; #value! ; #div/0! ; #ref! ; #null! ; #name? ; #num!
    nd ; n.d. ; n.d ; n/d ; nc ; n.c. ; n.c ; n/c ; s/d ; s.d. ; s.o. ; s/o ; np ; n.p.
    unbekannt ; keine angabe ; keine angaben ; k.a. ; k. a. ; ka ; k.a ; fehlt ; fehlend ; n.v.
    nicht bekannt ; nicht verfügbar ; nicht vorhanden ; nicht angegeben ; nicht gemessen ; entfällt ; leer
    offen
    inconnu ; inconnue ; non communiqué ; non renseigné ; non renseignée ; non disponible ; manquant
    sans objet ; refus ; refusé ; absent ; vide
    desconocido ; desconocida ; sin datos ; sin dato ; no disponible ; no aplica ; falta
    sconosciuto ; sconosciuta ; non disponibile ; non noto ; mancante ; assente
    desconhecido ; não disponível ; não informado ; sem dados ; ausente
    onbekend ; niet bekend ; niet beschikbaar ; n.v.t. ; nvt ; geen gegevens
    okänd ; ukendt ; ukjent ; saknas ; mangler ; brak ; brak danych ; b.d. ; bd ; nieznany
    """.splitlines()
    for word in line.split(";")
) - {""}


def means_missing(value: object) -> bool:
    """Whether a cell is a word for a missing value, in any case and with or without brackets."""
    if not isinstance(value, str) or len(value) > MAX_WORD_LENGTH:
        return False
    word = " ".join(value.split()).casefold()
    return word in MISSING_WORDS or word.strip(_BRACKETS) in MISSING_WORDS


def to_lower_ascii(word: str) -> str:
    """Return a word as the native parser compares it: without outer blanks, ASCII letters in lower case."""
    return "".join(char.lower() if char.isascii() else char for char in word.strip())
