"""Entry point of the command `lengthgen`, which is also `python -m lengthgen`.

It imports as little as possible before it heeds interrupts, since Python itself ends at one with a traceback.
"""

import atexit
import os
import signal


def main() -> None:
    """Run the command line; an interrupt before and after its work ends it at once, with one line."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        # At a signal while it takes its modules down, Python would end by it, without the command's status.
        atexit.register(signal.signal, number, signal.SIG_IGN)
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _end)
    from lengthgen import cli

    cli.main()


def _end(number: int, frame: object) -> None:
    """Handle a signal while the command is imported, or after its answer: there is nothing to tidy up."""
    os.write(2, b"error: interrupted\n")
    os._exit(128 + number)


if __name__ == "__main__":
    main()
