"""The machine that is measured on: what it is, what it is doing, and what a run used of it."""
