"""The claims, one module a paper; each module lists its own in `CLAIMS`."""
