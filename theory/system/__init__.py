"""What every package needs of the machine and of Python: files, processes, messages, errors, code of a user's own.

It lives in the lowest package, since all others import it.
"""
