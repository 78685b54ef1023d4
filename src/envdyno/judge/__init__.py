"""From measured runs to verdicts: pure functions, which read no file and start no process.

The way through is short: :mod:`evidence` says what was measured, :mod:`pairing` puts runs into pairs,
:mod:`paired_ratio` gives the ratio with its interval, :mod:`gate` the verdicts, :mod:`reasons` their meaning.
``docs/statistics.md`` tells why each method was chosen, and shows how often it errs.
"""
