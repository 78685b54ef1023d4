"""Print, behind a marker, what workloads an interpreter knows by entry points, or what one of them is.

Run as a script by the interpreter in question. Arguments: the marker, the folder that holds envdyno's package
alone, and the name of an entry point where its factory is to be imported.
"""

from __future__ import annotations

import sys


def main(argv: list[str]) -> None:
    """Print one JSON line."""
    import json

    marker, agent_path, *names = argv
    sys.path[0] = agent_path
    from envdyno.agent.workloads.entry_points import installed

    body: object = [[entry.name, entry.factory, entry.summary] for entry in installed()]
    if names:
        from envdyno.agent.workloads.named_factory import inspect_entry_point

        naming, broken = inspect_entry_point(names[0])
        body = [naming.value, broken]
    sys.stdout.write("\n" + marker + json.dumps(body) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
