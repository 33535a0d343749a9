"""Museum of known position bugs in published versions: `python -m bench.museum`."""
