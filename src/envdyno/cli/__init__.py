"""The command line: one module a verb. Parse, call, print, exit code; no logic."""
