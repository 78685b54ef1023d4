"""From a template to one file: every value escaped, the style and the script inside, nothing fetched."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from envdyno.plan.usage_error import UsageError
from envdyno.report.figures.svg import MISSING

FOLDER = "envdyno.report.html"


def rendered(template: str, title: str, page: Mapping[str, Any]) -> str:
    """Return the page.

    Args:
        template: file of this package.
        title: of the window, plain text.
        page: what the template shows; text in it is escaped.

    Raises:
        UsageError: Jinja2 is not installed.
    """
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
        from markupsafe import Markup
    except ImportError as error:
        raise UsageError(MISSING) from error
    environment = Environment(loader=PackageLoader(FOLDER, ""), autoescape=True, undefined=StrictUndefined)
    script = _own("sort.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    own = {
        "css": Markup(_own("page.css")),  # noqa: S704 (a file of this package)
        "script": Markup(script),  # noqa: S704
        "script_hash": f"sha256-{digest}",
    }
    text: str = environment.get_template(template).render(page=page, title=title, **own)
    return text


def _own(name: str) -> str:
    return files(FOLDER).joinpath(name).read_text(encoding="utf-8")
