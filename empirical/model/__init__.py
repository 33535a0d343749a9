"""Decoder of one or many models at once, its optimiser, and the setup of a run."""
