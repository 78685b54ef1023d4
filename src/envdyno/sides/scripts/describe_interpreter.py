"""Print, as one JSON line behind a marker, what an interpreter is and which packages it sees.

Run as a script by the interpreter in question. Arguments: the marker, then folders that a run would have
first on its import path.
"""

from __future__ import annotations

import sys


def interpreter() -> dict[str, object]:
    """Return facts about the running interpreter."""
    import platform
    import sysconfig

    return {
        "version": ".".join(str(part) for part in sys.version_info[:3]),
        "implementation": sys.implementation.name,
        "soabi": str(sysconfig.get_config_var("SOABI") or sys.implementation.cache_tag),
        "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
        "prefix": sys.prefix,
        "base_prefix": sys.base_prefix,
        "executable": sys.executable,
        "platform": sysconfig.get_platform(),
        "libc": "-".join(part for part in platform.libc_ver() if part),
    }


def marker_environment() -> dict[str, str]:
    """Return the environment that requirement markers are evaluated in (PEP 508)."""
    import os
    import platform

    version = sys.implementation.version
    release = {"alpha": "a", "beta": "b", "candidate": "rc"}.get(version.releaselevel)
    number = "{}.{}.{}".format(*version[:3]) + (release + str(version.serial) if release else "")
    return {
        "implementation_name": sys.implementation.name,
        "implementation_version": number,
        "os_name": os.name,
        "platform_machine": platform.machine(),
        "platform_release": platform.release(),
        "platform_system": platform.system(),
        "platform_version": platform.version(),
        "python_full_version": platform.python_version(),
        "platform_python_implementation": platform.python_implementation(),
        "python_version": ".".join(platform.python_version_tuple()[:2]),
        "sys_platform": sys.platform,
    }


def distributions() -> list[dict[str, object]]:
    """Return what importlib.metadata knows of every installed distribution, in import path order."""
    import json

    try:
        from importlib import metadata
    except ImportError:
        return []  # before Python 3.8; the control refuses the version

    found: list[dict[str, object]] = []
    for distribution in metadata.distributions():
        name = distribution.metadata["Name"]
        if not name:
            continue  # a folder left by a broken installation
        try:
            direct = json.loads(distribution.read_text("direct_url.json") or "null")
        except ValueError:
            direct = None
        found.append(
            {
                "name": name,
                "version": distribution.metadata["Version"] or "",
                "requires": distribution.requires or [],
                "location": str(distribution.locate_file("")),
                "direct_url": direct,
            }
        )
    return found


def main(argv: list[str]) -> None:
    """Print the description."""
    import json
    import site
    from pathlib import Path

    own = Path(__file__).resolve().parent
    sys.path[:] = argv[1:] + [entry for entry in sys.path if Path(entry).resolve() != own]
    body = {
        "interpreter": interpreter(),
        "markers": marker_environment(),
        "distributions": distributions(),
        "user_site": site.getusersitepackages() if site.ENABLE_USER_SITE else None,
    }
    sys.stdout.write("\n" + argv[0] + json.dumps(body) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
