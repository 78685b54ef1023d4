"""The half of envdyno that runs inside the process under test.

Nothing here imports anything outside the standard library before the process is placed. It runs on
Python 3.10 and newer, in the interpreter of the side under test, without envdyno being installed there.
"""
