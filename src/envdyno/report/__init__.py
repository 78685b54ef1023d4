"""What people read: the terminal."""
