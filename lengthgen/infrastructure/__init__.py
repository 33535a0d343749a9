"""Code that every package needs for the machine and for Python: files, processes, messages, errors, user-defined code.

It is in the package theory, the lowest layer, because all other packages import it.
"""
