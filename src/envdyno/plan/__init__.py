"""From what a user asks for to what is run: cases, sides, pairs, order and budget."""
