"""Physics engines behind one small contract, one file each."""
