"""Charts as files: a page that needs no network, or an image."""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.resources import files
from string import Template
from typing import Any

from weigh import errors
from weigh.atomic_files import atomic_write, error_reason
from weigh.pictures.chart_data import MAX_TITLE_LENGTH
from weigh.pictures.style import import_altair
from weigh.text import truncate

IMAGE_EXTENSIONS = (".png", ".svg", ".html")
# Words of an SVG are set in the reader's font, which may be wider than the one that was measured.
SVG_PADDING = {"left": 20, "right": 24, "top": 5, "bottom": 5}
SIDE_MARGIN = 170  # pixels of names and legends beside a chart
# Signs that no SVG can hold; on most of them the renderer ends the whole process.
INVALID_SVG_CHARACTERS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def charts_page(charts: Sequence[Any], title: str, body_html: str = "") -> str:
    """Return a page with charts above `body_html`; all it needs is in it.

    The body is taken as it is: whoever writes it has escaped what came from the data.
    """
    home = files("weigh.pictures")
    shown = "".join(
        f'<div class="chart"><script type="application/json">{_embeddable_json(make_responsive(chart))}</script></div>'
        for chart in charts
    )
    scripts = [_vega_bundle(), home.joinpath("page.js").read_text("utf-8")] if charts else []
    return Template(home.joinpath("page.html").read_text("utf-8")).substitute(
        title=html.escape(truncate(title, MAX_TITLE_LENGTH)),
        charts=shown,
        body=body_html,
        scripts="".join(f"<script>{script}</script>" for script in scripts),
    )


def make_responsive(chart: Any) -> Any:
    """Return a chart that in a page is as wide as its place, and at most about as wide as it was.

    Charts of several panels and planes in equal units are returned as they are.
    """
    shape = chart.to_dict(validate=False)
    width = shape.get("width")
    if not isinstance(width, int | float) or shape.get("usermeta", {}).get("rigid"):
        return chart
    fit = {"type": "fit-x", "contains": "padding"}
    return chart.properties(width="container", autosize=fit, usermeta={"widest": width + SIDE_MARGIN})


def _embeddable_json(chart: Any) -> str:
    """Return a chart as JSON that no word of the data can break out of."""
    spec = _replace_invalid(chart.to_dict(validate=False))
    # A name to look up on the network, which nothing here needs.
    spec.pop("$schema", None)
    return json.dumps(spec, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


@cache
def _vega_bundle() -> str:
    import_altair()
    bundle: str = import_module("vl_convert").javascript_bundle()
    return bundle.replace("</script", "<\\/script")


def image(chart: Any, path: str | os.PathLike[str]) -> None:
    """Write a chart by the ending of the path: PNG on white, SVG on a clear ground, or a page."""
    name = os.fspath(path)
    if not name.lower().endswith(IMAGE_EXTENSIONS):
        raise errors.parameter_error("image", "path", "a name that ends in .png, .svg or .html", name)
    import_altair()
    make = ENCODERS[name.lower()[name.rindex(".") :]]
    made = make(chart)
    try:
        with atomic_write(name) as file:
            file.write(made)
    except OSError as cause:
        raise errors.FileError(
            f"{name} cannot be written: {error_reason(cause)}. Check its folder."
        ) from cause


def render_svg(spec: dict[str, Any]) -> str:
    """Return the SVG of a specification, for whoever puts it into a page of their own."""
    import_altair()
    drawn: str = import_module("vl_convert").vegalite_to_svg(_replace_invalid(spec))
    return drawn


def _replace_invalid(part: Any) -> Any:
    """A part of a specification, its words without signs that no SVG can hold."""
    if isinstance(part, str):
        return INVALID_SVG_CHARACTERS.sub("�", part)
    if isinstance(part, dict):
        return {_replace_invalid(name): _replace_invalid(value) for name, value in part.items()}
    return [_replace_invalid(each) for each in part] if isinstance(part, list) else part


def _encode_png(chart: Any) -> bytes:
    # On a clear ground the renderer spoils translucent colours.
    spec = chart.properties(background="white").to_dict(validate=False)
    drawn: bytes = import_module("vl_convert").vegalite_to_png(_replace_invalid(spec), scale=2)
    return drawn


def _encode_svg(chart: Any) -> bytes:
    """A chart as SVG that tells a screen reader what it shows."""
    spec = chart.properties(padding=SVG_PADDING).to_dict(validate=False)
    told = html.escape(_replace_invalid(spec.get("description", "")))
    named = render_svg(spec).replace("<svg", f'<svg role="img" aria-label="{told}"', 1)
    return named.encode("utf-8", "replace")


def _encode_page(chart: Any) -> bytes:
    """A page of one chart, whose title is the chart's own."""
    title = chart.to_dict(validate=False).get("title", "A picture")
    words = title["text"] if isinstance(title, dict) else title
    made = charts_page([chart], words if isinstance(words, str) else " ".join(words))
    return made.encode("utf-8", "replace")


ENCODERS = {".png": _encode_png, ".svg": _encode_svg, ".html": _encode_page}
