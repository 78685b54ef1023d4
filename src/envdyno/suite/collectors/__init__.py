"""Off-policy collectors: the loop around an environment that fills a replay buffer.

Measured is the collector's active window, the part of training that the environment's processes do: choose
actions, step, write to the replay buffer, keep the books. Sampling and learning are another process's work.
"""
