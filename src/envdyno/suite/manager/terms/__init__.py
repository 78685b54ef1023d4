"""Terms: small functions of a manager environment, one kind a file."""
