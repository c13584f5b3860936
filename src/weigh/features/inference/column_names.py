"""What the name of a column says about its integers: quantities, codes or identifiers."""

from __future__ import annotations

import re

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

ID_WORDS = frozenset(_WORDS.findall("id ids uid uuid guid key code no nr number serial phone ssn isbn ean"))

CODE_WORDS = frozenset(
    _WORDS.findall(
        """
        id ids code key no nr type kind class category cat group grp cluster batch label status
        region area zone zip postcode postal district county state country city town site location loc
        block plot dept department branch division sector industry occupation occ job
        subject patient person respondent student teacher school prof doctor hospital clinic center centre
        customer client user player team store shop product item brand model species
        race ethnicity religion gender sex marital language treatment trt arm color colour
        """
    )
)

TIME_WORDS = frozenset(
    _WORDS.findall(
        """
        ts time timestamp datetime date epoch unixtime created updated modified at when since until expires
        zeit zeitpunkt zeitstempel datum heure horodatage fecha hora data tijd tid
        """
    )
)

QUANTITY_WORDS = frozenset(
    _WORDS.findall(
        """
        age year years yr yrs month months week weeks day days hour hours hr hrs minute minutes min time date
        count counts num number n freq frequency total sum score scores rating rank grade points level
        size length len width height weight wt distance dist depth dose temp temperature speed
        price cost amount salary income wage wages earnings value rate percent pct share ratio
        duration tenure experience exper educ education kids children rooms beds baths population pop
        votes hits goals
        """
    )
)


def name_words(name: str) -> list[str]:
    """Return the words of a column's name in lower case; "CustomerID" and "customer_id" have the same."""
    return [word.lower() for word in _WORDS.findall(name)]


def is_id_name(name: str) -> bool:
    """Whether the name begins with "id" or ends with a word for identifiers, such as "order number"."""
    words = name_words(name)
    return bool(words) and (words[0] == "id" or words[-1] in ID_WORDS)


def is_time_name(name: str) -> bool:
    """Whether the name has a word for a point in time, such as "created_at"."""
    return not TIME_WORDS.isdisjoint(name_words(name))


def is_quantity_name(name: str) -> bool:
    """Whether the name has a word for a quantity, such as "age", and does not end with one for a code."""
    words = name_words(name)
    return not QUANTITY_WORDS.isdisjoint(words) and words[-1] not in CODE_WORDS


def is_code_name(name: str) -> bool:
    """Whether the name has a word for a code, such as "type", and none for a quantity."""
    return not CODE_WORDS.isdisjoint(name_words(name)) and not is_quantity_name(name)
