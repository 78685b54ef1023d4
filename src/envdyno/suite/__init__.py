"""envdyno's own reference load: real robots and tasks, so that a fresh machine has something to step.

Only :mod:`envdyno.suite.catalogue` is imported to list what there is; it needs the standard library alone.
Everything else needs NumPy and a physics engine, and is imported when a case is built.
"""
