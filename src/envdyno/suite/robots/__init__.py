"""Robots: a primitive-geometry MJCF each, and the facts that tasks need beside it."""
