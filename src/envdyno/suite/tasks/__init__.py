"""What the tasks are: sizes, weights, ranges. The two runtimes compute them, each in its own way."""
