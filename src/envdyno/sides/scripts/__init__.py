"""Scripts that run in the interpreter of a side. Standard library only; they import nothing of envdyno."""
