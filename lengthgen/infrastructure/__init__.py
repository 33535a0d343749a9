"""Code that every package needs for the machine and for Python: files, processes, messages, errors, user-defined code.

It is the lowest layer: all other packages import it.
"""
