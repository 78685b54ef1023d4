"""The sides of an experiment: prepared from what a plan asks for, compared, and proven.

A side is a state of software: a commit, a working tree, an interpreter, a set of packages, environment
variables, options, or several of these together. :func:`envdyno.sides.prepare.prepared_sides` makes them
ready to run without touching the user's checkouts, :func:`envdyno.sides.comparison.check_sides` compares
them before anything is measured, and :func:`envdyno.sides.proof.require_proof` holds what a process
reports against what the side is.
"""
