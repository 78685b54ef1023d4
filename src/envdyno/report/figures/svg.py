"""From a Vega-Lite specification to SVG, by ``vl-convert`` in this process: no browser, no network."""

from __future__ import annotations

import re

from envdyno.plan.usage_error import UsageError
from envdyno.report.figures.style import Spec

MISSING = "An HTML report needs Jinja2 and vl-convert: pip install 'envdyno[report]'. Markdown needs neither."
_OPENING = re.compile(r"<svg [^>]*?width=\"([\d.]+)\" height=\"([\d.]+)\"[^>]*>")


def svg_of(spec: Spec, label: str) -> str:
    """Return a figure as an SVG element for a page.

    Args:
        spec: the figure; it may name no file or address, and none would be fetched.
        label: what it shows, for whoever cannot see it; plain text.

    Raises:
        UsageError: ``vl-convert`` is not installed.
    """
    try:
        import vl_convert
    except ImportError as error:
        raise UsageError(MISSING) from error
    text: str = vl_convert.vegalite_to_svg(spec, vl_version="5.21", allowed_base_urls=[])
    opening = _OPENING.search(text)
    if opening is None:
        raise ValueError("vl-convert returned no SVG.")
    width, height = opening.groups()
    # The page scales figures by their view box, and is no place for a link to a name space.
    attributes = f'viewBox="0 0 {width} {height}" width="{width}" role="img" aria-label="{_attribute(label)}"'
    return f'<svg class="figure" {attributes}>{text[opening.end() :]}'


def _attribute(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")
