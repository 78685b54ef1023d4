"""What other tools read: one format a file."""
