"""The guest as its kernel accounts for it, and the ways to change it; nothing of envdyno is used here."""
