"""The manager runtime: a task is declared as terms, and managers evaluate them.

This is how Isaac Lab, mjlab and UniLab write environments. Each term is a small function of the environment
that allocates its own result, which is what makes tasks easy to compose, and what it costs. The numbers are
those of the direct runtime, so the pair shows the price of the architecture alone.
"""
