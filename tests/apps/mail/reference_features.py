"""Reference implementation of the names of a message's features, from the parsed message."""

from __future__ import annotations

import re
from collections.abc import Iterator

from weigh.source.mail import Message

HEADER_FLAGS = {f"missing-{name}" for name in ("date", "from", "message-id", "subject", "to")}
HEADER_FLAGS |= {"repeated-header", "8bit-header", "broken-header", "cut-headers"}
IGNORED_HEADERS = {
    "status",
    "x-status",
    "x-keywords",
    "x-uid",
    "x-uidl",
    "content-length",
    "lines",
    "x-gmail-labels",
}
IGNORED_PREFIXES = ("x-weigh", "x-bogosity", "x-spam", "x-dspam", "x-crm114", "x-rspamd", "x-mozilla-")
IGNORED_PREFIXES += ("x-evolution", "x-gm-", "x-imap", "x-antispam")
SIGNATURES = ("domainkey-signature", "arc-message-signature", "arc-seal")
MAX_DISTANCE = {"none": 0, "pairs": 1, "sparse": 4}


def truncate_bytes(text: str, size: int) -> str:
    """Cut a text to at most `size` bytes, between two characters."""
    return text.encode()[:size].decode("utf-8", "ignore")


def words(text: str) -> list[str]:
    runs = (run.strip(".-'") for run in re.findall(r"[^\s<>()\[\]{}\"`,;:=|*#&?/\\~^_]+", text))
    return [run if len(run) <= 30 else f"long:{len(run) // 10}" for run in runs if run]


def word_pairs(tokens: list[str], kind: str) -> Iterator[str]:
    for i, word in enumerate(tokens):
        for distance in range(1, min(MAX_DISTANCE[kind], i) + 1):
            yield " ".join([tokens[i - distance], *["_"] * (distance - 1), word])


def domains(host: str) -> list[str]:
    labels = host.split(".")
    return [host, *(".".join(labels[-count:]) for count in range(2, 6) if count < len(labels))]


def networks(address: str) -> list[str]:
    numbers = address.split(".")
    return [address, *(".".join(numbers[:count]) for count in (2, 3) if count < len(numbers))]


def lower(text: str) -> str:
    """Lower the case of ASCII letters only."""
    return text.encode().lower().decode()


def character_ngrams(text: str, size: int) -> set[str]:
    raw = re.sub(rb"[ \t-\r]+", b" ", text.encode()[:16000]).removeprefix(b" ")[:4000]
    starts = range(len(raw) - size + 1) if size else ()
    return {"chars:" + raw[i : i + size].decode("utf-8", "backslashreplace") for i in starts}


def visible_headers(message: Message) -> list[tuple[str, str]]:
    return [
        (name, value)
        for name, value in message.headers
        if name not in IGNORED_HEADERS and not name.startswith(IGNORED_PREFIXES)
    ]


def without_dates(name: str, value: str) -> str:
    if name == "date" or name.endswith("-date") or name == "x-originalarrivaltime":
        return ""
    if name in ("received", "x-received"):
        depth = 0
        for i, char in enumerate(value):
            depth = max(0, depth + (char == "(") - (char == ")"))
            if char == ";" and not depth:
                return value[:i]
    if name.endswith("dkim-signature") or name in SIGNATURES:
        return "".join(
            f"{tag};" for tag in value.split(";") if tag.split("=")[0].strip(" \t\n\v\f\r") in ("d", "s")
        )
    return value


def header_names(message: Message, kind: str, size: int) -> set[str]:
    names = {f"flag:{flag}" for flag in message.flags if flag in HEADER_FLAGS}
    previous = ""
    for full, value in visible_headers(message):
        name = truncate_bytes(full, 40)
        names.add(f"has:{name}")
        names |= {f"order:{previous} {name}"} if previous and name != previous else set()
        previous = name
        if full in ("from", "reply-to", "return-path"):
            hosts = (lower(host.rstrip(".")) for host in re.findall(r"@([A-Za-z0-9.\-]*)", value))
            names |= {f"domain:{each}" for host in hosts if host for each in domains(host)}
        tokens = words(without_dates(full, value))
        names |= {f"{name}:{each}" for each in [*tokens, *word_pairs(tokens, kind)]}
        addresses = (word for word in tokens if re.fullmatch(r"[0-9.]{1,15}", word) and word.count(".") == 3)
        names |= {f"{name}:{each}" for word in addresses for each in networks(word)}
    text = "".join(f"{name}: {without_dates(name, value)}\n" for name, value in visible_headers(message))
    return names | character_ngrams(text, size)


def text_names(text: str, kind: str) -> set[str]:
    tokens = words(text)
    names = {*tokens, *word_pairs([word.lower() for word in tokens], kind)}
    if any(word.endswith("!!") for word in tokens):
        names.add("flag:exclaiming")
    numbers = [word for word in tokens if re.search("[0-9]", word)]
    if any(word.endswith("%") for word in numbers):
        names.add("flag:percent")
    if any(re.search("^[$£€]|[$£€]$", word) and not word.endswith("%") for word in numbers):
        names.add("flag:money")
    return names


def body_names(message: Message, kind: str, size: int) -> set[str]:
    names = {f"flag:{flag}" for flag in message.flags if flag not in HEADER_FLAGS}
    letters = re.findall("[A-Za-z]", message.text)
    if len(letters) > 20 and 2 * sum(map(str.isupper, letters)) > len(letters):
        names.add("flag:shouting")
    names |= {f"part:{truncate_bytes(part.type, 40)}" for part in message.parts}
    names |= {f"tag:{tag}" for tag in message.tags}
    names |= {re.split("[ \t\r\n]", f"attr:{name}={value}")[0] for name, value in message.attributes}
    for link in message.links:
        hosts = networks(link.host) if "numeric-host" in link.traits else domains(link.host)
        path = re.fullmatch(r"(?:.*?//)?[^/\\?#]*(.*)", link.url, re.DOTALL)
        assert path is not None
        names |= {f"url:{host}" for host in hosts} | {f"path:{word}" for word in words(path[1])}
        names |= {f"link:{trait}" for trait in link.traits}
    for text in [message.text, *(value for name, value in message.headers if name == "subject")]:
        names |= text_names(text, kind)
    return names | {f"hidden:{word}" for word in words(message.hidden)} | character_ngrams(message.text, size)
