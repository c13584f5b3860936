"""Tests of visible and hidden HTML text, compared with Python's parser and by example."""

from __future__ import annotations

import html
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.source.mail import Message, read

HEAD = b"From: f\nTo: t\nSubject: s\nDate: d\nMessage-ID: m\nContent-Type: text/html; charset=utf-8\n\n"
BLOCK_TAGS = {"p", "div", "br", "td", "tr", "table", "li", "ul", "h1"}
INLINE = ["b", "i", "span", "font", "a"]


def page(source: str) -> Message:
    """Parse a message with one HTML part."""
    return read(HEAD + source.encode("utf-8", "surrogatepass"))


class Plain(HTMLParser):
    """Reference implementation with Python's parser: words, separated at block elements."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.text += " " * (tag in BLOCK_TAGS)

    def handle_endtag(self, tag: str) -> None:
        self.text += " " * (tag in BLOCK_TAGS)

    def handle_data(self, data: str) -> None:
        self.text += data * (self.cdata_elem is None)


NAMED = "&amp; &lt; &gt &eacute; &euro; &copy &notit; &unknown; & &; &Eacute; &apos; &thetasym; &ampx"
NUMBERED = "&#65; &#x20AC; &#8364 &#150; &#0; &#; &#x; &#55296; &#9999999999;"
ENTITIES = st.sampled_from([*NAMED.split(), *NUMBERED.split()])
TEXTS = st.one_of(ENTITIES, st.text("ab é中<>&;\n\t", max_size=8))


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Strategy for HTML of texts, nested elements, comments, scripts and styles."""
    inner = st.lists(TEXTS.map(lambda text: text.replace("<", "< ")), max_size=4).map(" ".join)
    source = draw(inner)
    for tag in draw(st.lists(st.sampled_from([*BLOCK_TAGS - {"br"}, *INLINE]), max_size=6)):
        extra = draw(st.sampled_from(["", ' class="a>b"', " x='1' y", " / z=1"]))
        source = f"{draw(inner)} <{tag}{extra}>{source}</{tag.upper()}>{draw(inner)}"
        source += draw(
            st.sampled_from(["", "<br>", "<br/>", "<!-- a > b -->", "<style>p>b</style>", "<!DOCTYPE x>"])
        )
    return source


@given(documents())
def test_words_are_those_of_pythons_parser(source: str) -> None:
    expected = Plain()
    expected.feed(source)
    expected.close()
    assert page(source).text.split() == expected.text.split()


@given(st.lists(TEXTS, max_size=10).map(lambda texts: "".join(texts).replace("<", "")))
def test_characters_are_those_of_pythons_unescape(source: str) -> None:
    assert page(source).text.split() == html.unescape(source).split()


@pytest.mark.parametrize("name", sorted(name for name in html.entities.html5 if not name.endswith(";")))
def test_legacy_entities_need_no_semicolon(name: str) -> None:
    assert page(f"x&{name}").text == html.unescape(f"x&{name}")


def test_block_elements_start_new_lines() -> None:
    parsed = page(
        "<p>one\n two<p>three</p>four<br>five<ul><li>six</ul><table><tr><td>a<td>b<tr><td>c</table>end"
    )
    assert parsed.text == "one two\nthree\nfour\nfive\nsix\na b\nc\nend"
    assert parsed.tags == ("p", "br", "ul", "li", "table", "tr", "td")


def test_scripts_styles_and_comments_are_not_text() -> None:
    parsed = page(
        "a<script>if (1<2) x</script>b<style>c {}</style><!-- d -->e<title>f &amp; g</title><![if x]>h"
    )
    assert (parsed.text, parsed.hidden) == ("abeh", "f & g")
    assert "script" in parsed.flags
    assert "hidden-text" not in parsed.flags


def test_an_unclosed_comment_hides_nothing() -> None:
    assert page("a<!-- b>c<!-- d>e").text == "ace"


@pytest.mark.parametrize(
    "start",
    [
        '<div style="display:none">',
        '<span style="color: red; DISPLAY : NONE">',
        '<div style="visibility:hidden">',
        '<font style="font-size:0px">',
        "<font style='font-size: 1pt'>",
        '<span style="font-size:0.1em">',
        '<font color="white">',
        "<font color=#FFFFFF>",
        '<span style="color:#fff">',
        '<span style="color:rgb(255, 254, 253)">',
        '<table bgcolor=red><td><font color="#f00000">',
        "<body bgcolor=black text=black>",
        '<div style="background:#000">',
        '<div style="max-height:0;overflow:hidden">',
        '<div style="opacity:0">',
        '<div style="opacity:.0">',
        *(
            f'<p style="color:white;background:{value}">'
            for value in ("transparent", "none", "inherit", "initial")
        ),
        '<p style="color:white;background:rgb(250 250 250 / 100%)">',
        '<p style="color:white!important">',
        *(f'<p style="font-size:{size}">' for size in ("0", "0cm", "1PX", "10%", "0.1rem", "1px !important")),
        "<div hidden>",
        '<div style="display&#58;none">',
        '<div style="display:none"><p><b>',
        '<ul><li style="display:none"><ul><li></ul>',
        '<table><tr style="display:none"><td><table><tr><td></table>',
        '<div style="visibility:hidden"><b style="visibility:hidden">',
    ],
)
def test_hidden_text_is_separate_from_visible_text(start: str) -> None:
    parsed = page(f"seen {start}secret")
    assert (parsed.text, parsed.hidden) == ("seen", "secret")
    assert "hidden-text" in parsed.flags


@pytest.mark.parametrize(
    "start",
    [
        '<div style="display:block">',
        '<body background="x.gif" text="white">',
        '<body style="background:url(x.gif) white" text="white">',
        "<table bgcolor=navy><td><font color=white>",
        '<td style="font-size:0"><span style="font-size:14px">',
        '<div style="visibility:hidden"><b style="visibility:visible">',
        '<div style="display:none"></div>',
        '<ul><li style="display:none"><li>',
        '<p style="display:none"><p>',
        '<table><tr style="display:none"><td>x<tr><td>',
        "<img hidden><br hidden>",
        '<font style="font-size:90%">',
        '<font color="#eeeedd">',
        *(
            f'<p style="color:white;background{part}:{value}">'
            for part in ("", "-color")
            for value in (
                *("royalblue", "tomato !important", "hsl(220, 80%, 50%)", "#4285f4ff", "var(--x)"),
                *("none repeat scroll 0 0 black", "rgba(0, 0, 0, 0.5)", "black!important"),
            )
        ),
        '<p style="background:rgba(0,0,0,0)">',
        *(f'<p style="font-size:{size}">' for size in ("1cm", "1vw", "1ex", "0.2em")),
        *('<p style="opacity:.">', '<p style="opacity:.5">', '<p style="font-size:.">'),
    ],
)
def test_styles_that_only_resemble_hiding_hide_nothing(start: str) -> None:
    assert page(f"{start}seen").text.split()[-1] == "seen"


def test_hiding_ends_with_its_element() -> None:
    parsed = page('<div style="display:none">a<div>b</div>c</b>d</div>e<font color=white>f</font>g')
    assert (parsed.text, parsed.hidden.split()) == ("eg", ["a", "b", "cd", "f"])


def test_hidden_text_does_not_affect_visible_text() -> None:
    parsed = page('one <span style="display:none">x</span>two th<span style="display:none"> y </span>ree')
    assert (parsed.text, parsed.hidden) == ("one two three", "x y")


@pytest.mark.parametrize(
    ("source", "flag"),
    [
        ("vi<!-- x -->agra", "comment-in-word"),
        ("vi<xyz>agra", "unknown-tag"),
        ("<form action=x>", "form"),
        ("<script>x</script>", "script"),
        ("<body onload=x()>", "event-handler"),
        ("<iframe src=x>", "iframe"),
        ("<object data=x>", "iframe"),
        ('<img src="http://example.com/x.gif">', "remote-image"),
        ("<img src=cid:1>a few words", "image-without-text"),
        ('<META HTTP-EQUIV="Refresh" content=x>', "meta-refresh"),
        ('<a href="javascript:x()">', "javascript-link"),
        ('<a href="java\nscript:x()">', "javascript-link"),
        ('<img src="data:image/png;base64,x">', "data-link"),
    ],
)
def test_suspicious_html_is_flagged(source: str, flag: str) -> None:
    assert flag in page(source).flags
    assert flag not in page("<p>Words that are <!-- not --> like <b>that</b>.</p>").flags


def test_flags_of_media_types() -> None:
    assert page("<p>words").flags == ("html", "html-only")
    raw = b"Content-Type: multipart/alternative; boundary=b\n\n--b\n\nx\n--b\nContent-Type: text/html\n\n<p>x"
    assert {"html", "html-only"} & set(read(raw).flags) == {"html"}
    assert "nul-bytes" in read(b"\n\0").flags


@pytest.mark.parametrize("tell", ['<meta charset="koi8-r">', '<meta content="text/html; charset=koi8-r">'])
def test_html_may_declare_its_charset(tell: str) -> None:
    raw = b"Content-Type: text/html\n\n" + tell.encode() + "Привет".encode("koi8-r")
    assert read(raw).text == "Привет"
