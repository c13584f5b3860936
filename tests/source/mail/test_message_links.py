"""Tests of links: their hosts, origins and traits."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.source.mail import Link, read

LABELS = st.from_regex(r"[a-zA-Z0-9]([a-zA-Z0-9-]{0,8}[a-zA-Z0-9])?", fullmatch=True)


def in_html(source: str) -> tuple[Link, ...]:
    """Return the links of an HTML part."""
    return read(b"Content-Type: text/html; charset=utf-8\n\n" + source.encode()).links


def in_text(text: str) -> tuple[Link, ...]:
    """Return the links of a plain-text part."""
    return read(b"Content-Type: text/plain; charset=utf-8\n\n" + text.encode()).links


@st.composite
def urls(draw: st.DrawFn) -> str:
    """Strategy for URLs with optional components."""
    host = ".".join(draw(st.lists(LABELS, min_size=1, max_size=4)))
    user = draw(st.sampled_from(["", "me@", "me:secret@", "a.b@"]))
    port = draw(st.sampled_from(["", ":80", ":8080"]))
    path = draw(st.sampled_from(["", "/", "/a/b.html", "/x?y=1&z=2", "?q", "#f", "/a@b:c"]))
    return draw(st.sampled_from(["http", "HTTPS", "ftp"])) + "://" + user + host + port + path


@given(urls())
def test_hosts_are_those_of_urlsplit(url: str) -> None:
    parts = urlsplit(url)
    links = (*in_html(f'<a href="{url}">x</a>'), *in_text(f"see <{url}> there"))
    assert len(links) == 2
    for link in links:
        assert link.url == url
        assert link.host == parts.hostname
        assert ("userinfo" in link.traits) == (parts.username is not None)
        assert ("port" in link.traits) == (parts.port is not None)


@pytest.mark.parametrize(
    ("url", "host", "traits"),
    [
        ("http://10.0.0.1/x", "10.0.0.1", ("numeric-host",)),
        ("http://3232235777/", "3232235777", ("numeric-host",)),
        ("http://0x7f.1/", "0x7f.1", ("numeric-host",)),
        ("http://0x7F000001/", "0x7f000001", ("numeric-host",)),
        ("http://0x0.st/", "0x0.st", ()),
        ("http://0xygen.com/", "0xygen.com", ()),
        ("http://0x/", "0x", ()),
        ("http://1.example/", "1.example", ()),
        ("http://[::1]:80/", "[::1]", ("numeric-host", "port")),
        ("http://bank.example@evil.example/", "evil.example", ("userinfo",)),
        ("http://xn--bcher-kva.example/", "xn--bcher-kva.example", ("punycode",)),
        ("http://%65vil.example/", "evil.example", ("escaped-host",)),
        ("http://BÜCHER.example/", "bücher.example", ("unicode-host",)),
        ("http:\\\\example.com\\x", "example.com", ()),
        ("//example.com/x", "example.com", ()),
        ("mailto:me@Example.com?subject=x@y", "example.com", ()),
        (" http://example.com./\n", "example.com", ()),
        ("ht\ntp://exam\tple.com", "example.com", ()),
        ("http://example.com/?a=1&amp;b&copy=2", "example.com", ()),
    ],
)
def test_hosts_and_traits(url: str, host: str, traits: tuple[str, ...]) -> None:
    (link,) = in_html(f'<img src="{url}">')
    assert (link.host, link.traits, link.origin) == (host, traits, "src")


def test_character_references_in_urls_need_a_semicolon() -> None:
    (link,) = in_html('<a href="http://x.example/?a=1&amp;b=2&copy=3&reg;x&lt">x</a>')
    assert link.url == "http://x.example/?a=1&b=2&copy=3®x<"


@pytest.mark.parametrize(
    "url", ["", "#top", "page.html", "/x", "cid:1", "mailto:nobody", "http://", "http:///", "tel:1"]
)
def test_links_without_an_external_target_are_omitted(url: str) -> None:
    assert in_html(f'<a href="{url}">x</a>') == ()


def test_origins_are_reported() -> None:
    source = "".join(f'<{tag}="http://{tag[-3:]}.example/">' for tag in ["a href", "img src", "form action"])
    assert [link.origin for link in in_html(source + '<td background="http://x.y/"> www.z.example')] == [
        *["href", "src", "action", "background", "text"]
    ]


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("go to www.example.com, now", ["www.example.com"]),
        ("(http://example.com/a.b).", ["http://example.com/a.b"]),
        ('"https://example.com/x?y=1", ftp://f.example!', ["https://example.com/x?y=1", "ftp://f.example"]),
        ("mailto:me@example.com", ["mailto:me@example.com"]),
        ("awww.example http:/x http:// ://y www. xhttp://z", []),
        ("http://a.example http://b.example\nhttp://c.example", ["http://" + c + ".example" for c in "abc"]),
        ("中http://a.example中", ["http://a.example"]),
    ],
)
def test_urls_in_text_are_found(text: str, urls: list[str]) -> None:
    assert [link.url for link in in_text(text)] == urls


@pytest.mark.parametrize(
    ("href", "shown", "is_disguised"),
    [
        ("http://evil.example/", "http://www.bank.com/login", True),
        ("http://evil.example/", "www.bank.com", True),
        ("http://evil.example/", "<b>bank</b>.com", True),
        ("http://evil.example/", "paypal.co.uk/login", True),
        ("http://www.bank.com/", "https://bank.com", False),
        ("http://click.bank.com/", "www.bank.com", False),
        ("http://evil.example/", "click here", False),
        ("http://evil.example/", "see notes.txt", False),
        ("http://a.co.uk/", "http://b.co.uk/", True),
        ("mailto:me@evil.example", "www.bank.com", False),
        *(
            ("http://edition.cnn.com/", shown, False)
            for shown in ("www.cnn.com", "cnn.com", "http://cnn.com")
        ),
        *(("http://click.ups.com/", "http://www.ups.com/", False), ("http://mail.hp.com/", "hp.com", False)),
        *(("http://click.ups.de/", "http://www.ups.de/", False), ("http://a.b.co.uk/", "www.b.co.uk", False)),
        *(("http://evil.hp.com/", "www.ups.com", True), ("http://cnn.de/", "www.cnn.com", True)),
        *(
            ("http://evil.example/", shown, False)
            for shown in ("node.js", "README.md", "file.sh", "co.uk", ".com")
        ),
        *(
            ("http://evil.example/", shown, True)
            for shown in ("www.node.js", "https://file.sh", "Bank.Co.UK")
        ),
    ],
)
def test_a_link_is_disguised_if_its_text_shows_another_host(
    href: str, shown: str, is_disguised: bool
) -> None:
    raw = f'Content-Type: text/html\n\n<a href="{href}">{shown}</a>'.encode()
    parsed = read(raw)
    assert ("disguised" in parsed.links[0].traits) is is_disguised
    assert ("disguised-link" in parsed.flags) is is_disguised


def test_the_number_of_links_is_limited() -> None:
    parsed = read(b"\n" + b"http://x.example/ " * 2000)
    assert len(parsed.links) == 1000
    assert "cut-links" in parsed.flags
