"""What is kept of a run: schema, fingerprint, strict JSON, journal and bundle."""
