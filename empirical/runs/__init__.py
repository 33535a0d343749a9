"""Runs: what is to be trained (profiles, protocols, data), and the store of what was."""
