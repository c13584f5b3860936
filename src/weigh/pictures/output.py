"""Write charts as self-contained HTML pages or as images."""

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
# An SVG uses the reader's font, which may be wider than the font it was laid out with.
SVG_PADDING = {"left": 20, "right": 24, "top": 5, "bottom": 5}
SIDE_MARGIN = 170  # pixels for names and legends beside a chart
# Characters that are invalid in SVG; most of them make the renderer abort the process.
INVALID_SVG_CHARACTERS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def charts_page(charts: Sequence[Any], title: str, body_html: str = "") -> str:
    """Return a self-contained HTML page with the charts above `body_html`.

    The body is inserted unchanged: the caller must have escaped any text from the data.
    """
    package = files("weigh.pictures")
    divs = "".join(
        f'<div class="chart"><script type="application/json">{_embeddable_json(chart)}</script></div>'
        for chart in map(make_responsive, charts)
    )
    scripts = [_vega_bundle(), package.joinpath("page.js").read_text("utf-8")] if charts else []
    return Template(package.joinpath("page.html").read_text("utf-8")).substitute(
        title=html.escape(truncate(title, MAX_TITLE_LENGTH)),
        charts=divs,
        body=body_html,
        scripts="".join(f"<script>{script}</script>" for script in scripts),
    )


def make_responsive(chart: Any) -> Any:
    """Let a chart shrink with its container, up to about its original width.

    Charts with several panels or with a fixed aspect ratio are returned unchanged.
    """
    spec = chart.to_dict(validate=False)
    width = spec.get("width")
    if not isinstance(width, int | float) or spec.get("usermeta", {}).get("rigid"):
        return chart
    fit = {"type": "fit-x", "contains": "padding"}
    return chart.properties(width="container", autosize=fit, usermeta={"widest": width + SIDE_MARGIN})


def _embeddable_json(chart: Any) -> str:
    """Return the chart as JSON that is safe inside a script element."""
    spec = _replace_invalid(chart.to_dict(validate=False))
    # The schema is only a URL; the page must not refer to the network.
    spec.pop("$schema", None)
    return json.dumps(spec, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


@cache
def _vega_bundle() -> str:
    import_altair()
    bundle: str = import_module("vl_convert").javascript_bundle()
    return bundle.replace("</script", "<\\/script")


def image(chart: Any, path: str | os.PathLike[str]) -> None:
    """Write a chart as PNG (white background), SVG (transparent) or HTML, by the extension of the path."""
    name = os.fspath(path)
    if not name.lower().endswith(IMAGE_EXTENSIONS):
        raise errors.parameter_error("image", "path", "a name that ends in .png, .svg or .html", name)
    import_altair()
    content = ENCODERS[name.lower()[name.rindex(".") :]](chart)
    try:
        with atomic_write(name, creates_folders=True) as file:
            file.write(content)
    except OSError as cause:
        raise errors.FileError(
            f"{name} cannot be written: {error_reason(cause)}. Check its folder."
        ) from cause


def render_svg(spec: dict[str, Any]) -> str:
    """Render a Vega-Lite specification as SVG."""
    import_altair()
    svg: str = import_module("vl_convert").vegalite_to_svg(_replace_invalid(spec))
    return svg


def _replace_invalid(part: Any) -> Any:
    """Replace characters that are invalid in SVG in all strings of a specification."""
    if isinstance(part, str):
        return INVALID_SVG_CHARACTERS.sub("�", part)
    if isinstance(part, dict):
        return {_replace_invalid(name): _replace_invalid(value) for name, value in part.items()}
    return [_replace_invalid(item) for item in part] if isinstance(part, list) else part


def _encode_png(chart: Any) -> bytes:
    # On a transparent background the renderer distorts translucent colours.
    spec = chart.properties(background="white").to_dict(validate=False)
    png: bytes = import_module("vl_convert").vegalite_to_png(_replace_invalid(spec), scale=2)
    return png


def _encode_svg(chart: Any) -> bytes:
    """Encode as SVG with the description as its accessible name."""
    spec = chart.properties(padding=SVG_PADDING).to_dict(validate=False)
    description = html.escape(_replace_invalid(spec.get("description", "")))
    labelled = render_svg(spec).replace("<svg", f'<svg role="img" aria-label="{description}"', 1)
    return labelled.encode("utf-8", "replace")


def _encode_page(chart: Any) -> bytes:
    """Encode as a page with the title of the chart."""
    title = chart.to_dict(validate=False).get("title", "A picture")
    lines = title["text"] if isinstance(title, dict) else title
    page = charts_page([chart], lines if isinstance(lines, str) else " ".join(lines))
    return page.encode("utf-8", "replace")


ENCODERS = {".png": _encode_png, ".svg": _encode_svg, ".html": _encode_page}
