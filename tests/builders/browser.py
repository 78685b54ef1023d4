"""A real browser without a window, for pages that the tests look at."""

from __future__ import annotations

import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
MISSING = "needs Chromium: apt-get install chromium"
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--enable-logging=stderr",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)
SCHEMES = {
    "dark": "--blink-settings=preferredColorScheme=0",
    "light": "--blink-settings=preferredColorScheme=1",
}


def browse(page: Path, *flags: str, profile: Path) -> tuple[str, str]:
    """Open a file; return the DOM afterwards and what the browser logged."""
    assert CHROMIUM is not None
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={profile}", *flags, page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def with_script(page: Path, script: str) -> None:
    """Add a script to a page, whose content policy would forbid it."""
    text = re.sub(r"<meta http-equiv[^>]*>", "", page.read_text(encoding="utf-8"))
    page.write_text(text.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")


def told_by(dom: str) -> str | None:
    """Return what a script left in ``data-found`` of the document."""
    found = re.search(r'data-found="([^"]*)"', dom)
    return unescape(found.group(1)) if found else None
