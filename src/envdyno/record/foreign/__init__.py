"""Files of other benchmark tools, read as data: parsed JSON in, independent rates out.

One module a format. Nothing is measured anew, nothing is guessed: a file that holds only a summary gives a
series without rates and says which option of its tool would have kept them.
"""
