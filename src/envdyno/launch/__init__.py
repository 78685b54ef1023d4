"""Starting agents, the common window, deadlines, counters and teardown."""
