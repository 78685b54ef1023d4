"""Reference motions that tracking tasks follow, and the script that makes them."""
