"""A dynamometer for simulation environments.

Importing this package imports nothing outside the standard library and changes nothing in the process.
"""

from envdyno._version import __version__

__all__ = ["__version__"]
