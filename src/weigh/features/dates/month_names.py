"""The names of months and weekdays in several languages, in ASCII letters: "marz" stands for "März"."""

from __future__ import annotations

import unicodedata

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

# German, French, Spanish, Italian, Portuguese and Dutch, with usual abbreviations.
_OTHER_MONTHS = """
    januar janner jaenner janvier janv enero ene gennaio gen janeiro januari
    februar fevrier fevr fev febrero febbraio fevereiro februari
    marz maerz mrz mars marzo marco maart mrt
    avril avr abril abr aprile
    mai mayo maggio mag maio mei
    juni juin junio giugno giu junho
    juli juillet juil julio luglio lug julho
    aout agosto ago augustus
    septembre septiembre settembre setembro sett set
    oktober okt octobre octubre ottobre ott outubro out
    novembre noviembre novembro
    dezember dez decembre diciembre dicembre dic dezembro
"""
_OTHER_WEEKDAYS = """
    montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag mo di mi do fr sa so
    lundi mardi mercredi jeudi vendredi samedi dimanche lun mar mer jeu ven sam dim
    lunes martes miercoles jueves viernes sabado domingo
    lunedi martedi mercoledi giovedi venerdi domenica
    maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
"""

MONTH_NUMBERS = {
    word.lower(): number for number, name in enumerate(MONTHS, 1) for word in (name, name[:3], name[:4])
} | {
    word: number for number, line in enumerate(_OTHER_MONTHS.strip().splitlines(), 1) for word in line.split()
}
WEEKDAY_WORDS = [
    *(word for name in WEEKDAYS for word in (name, name[:4], name[:3])),
    *sorted(_OTHER_WEEKDAYS.split(), key=len, reverse=True),
]


def strip_accents(text: str) -> str:
    """Return a text with plain letters and blanks instead of accented letters and no-break spaces."""
    letters = unicodedata.normalize("NFD", text.replace("\u00a0", " ").replace("\u202f", " "))
    return "".join(char for char in letters if not unicodedata.combining(char))
