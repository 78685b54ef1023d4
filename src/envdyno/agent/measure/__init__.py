"""Stepping, windows, latency, warm-up, phases and work: what is measured inside a worker."""
