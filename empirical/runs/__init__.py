"""Runs: descriptions of what to train (profiles, protocols, data), and the store of finished runs."""
