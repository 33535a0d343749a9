"""Entry point of `python -m lengthgen`, the same as the command `lengthgen`."""

from lengthgen.cli import main

if __name__ == "__main__":
    main()
